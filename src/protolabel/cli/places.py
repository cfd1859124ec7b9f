"""Where a command writes: what cannot be used is refused before any work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path

import typer


def check_new_file(path: Path, *, force: bool) -> None:
    """Refuse, before any work, to write where something is."""
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; give the name of a file.")
    check_regular_file(path)
    if path.exists() and not force:
        raise typer.BadParameter(f"{path} exists; pass --force to replace it.")
    if not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"The folder {path.absolute().parent} does not exist; create it.")
    check_can_be_made(path)


def check_can_be_made(path: Path) -> None:
    """Refuse a file or folder in a folder that takes none."""
    from protolabel.safefiles.places import check_writable

    with refused_places():
        check_writable(path, Path(os.path.realpath(path)).parent)


def check_regular_file(path: Path) -> None:
    """Refuse the standard output, pipes and devices where a command writes a file."""
    from protolabel.safefiles.places import replaceable_file

    if path == Path("-"):
        raise typer.BadParameter("- is no file; give the name of a file.")
    with refused_places():
        replaceable_file(path)


def check_new_folder(path: Path, *, force: bool, replaceable: Sequence[str]) -> None:
    """Refuse, before any work, a place that a model cannot be written to."""
    from protolabel.safefiles.folder import check_place

    if path.is_dir() and not force:
        raise typer.BadParameter(f"{path} exists; pass --force to replace it.")
    with refused_places():
        check_place(path.resolve(), force=force, replaceable=replaceable)
    check_can_be_made(path)


def check_growing_folder(path: Path) -> None:
    """Refuse, before any work, a place where its state or results cannot be kept."""
    from protolabel.safefiles.bundle import FILES
    from protolabel.safefiles.places import check_can_grow

    if all((path / name).is_file() for name in FILES):
        raise typer.BadParameter(f"{path} holds a model; give another folder.")
    with refused_places():
        check_can_grow(path)


def check_apart(places: Mapping[str, Path | None], *, shared: str) -> None:
    """Refuse two outputs of a command in one place, or one of them in another.

    But for the shared one, a folder that keeps to files of its own and may have others in it.
    """
    real = {name: Path(os.path.realpath(path)) for name, path in places.items() if path is not None}
    for (first, one), (second, other) in permutations(real.items(), 2):
        if one == other or (one in other.parents and first != shared):
            raise typer.BadParameter(
                f"{first} and {second} would be written into each other, {one} and {other}; give "
                "each a place of its own."
            )


@contextmanager
def refused_places() -> Iterator[None]:
    """Make a place that cannot be written to a mistake of the command line: exit code 2."""
    try:
        yield
    except OSError as error:
        raise typer.BadParameter(str(error)) from error
