"""Data that come through a pipe, which can be read only once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

_STANDARD_INPUT = ("-", "/dev/stdin")
# Copies, and what they are copies of.
_SOURCES: dict[str, str] = {}


def readable_twice(context: typer.Context, source: str | None) -> str | None:
    """The source itself, or for a pipe a copy that is there until the command ends.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    source : str or None
        A file, a pipe, ``-`` for the standard input, or the name of a dataset; None where an
        option was not given.
    """
    if source is None:
        return None
    path = Path(source)
    is_pipe = source in _STANDARD_INPUT or path.is_fifo() or path.is_socket()
    if not is_pipe or context.resilient_parsing:
        return source
    return context.with_resource(_spooled(source))


@contextmanager
def _spooled(source: str) -> Iterator[str]:
    is_input = source in _STANDARD_INPUT
    with tempfile.TemporaryDirectory(prefix="protolabel-") as folder:
        # By its name a table of a single column is known as one.
        copy = Path(folder) / ("stdin.csv" if is_input else "pipe.csv")
        _SOURCES[str(copy)] = "standard input" if is_input else source
        with copy.open("wb") as file:
            if is_input:
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with Path(source).open("rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        yield str(copy)


def as_given(message: str) -> str:
    """A message in which copies are called what the user has called them."""
    for copy, source in _SOURCES.items():
        message = message.replace(copy, source)
    return message
