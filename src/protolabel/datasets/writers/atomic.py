"""Files that appear only once they are whole."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from protolabel.exceptions import DatasetError
from protolabel.safefiles.places import replaceable_file


@contextmanager
def replace_when_done(path: Path) -> Iterator[Path]:
    """Give a temporary file to write to, and move it into place when the block succeeds.

    Parameters
    ----------
    path : Path
        Final place; its folder has to exist. Of a link, the file that it leads to is replaced.

    Yields
    ------
    Path
        File to write to, in the same folder.
    """
    try:
        path = replaceable_file(path)
    except FileExistsError as error:
        raise DatasetError(str(error)) from error
    if not path.parent.is_dir():
        raise DatasetError(f"folder {path.parent} does not exist; create it before writing {path}")
    handle, partial_name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
    )
    os.close(handle)
    partial = Path(partial_name)
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def write_text_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to that replaces ``path`` when done, compressed if named ``.gz``.

    Parameters
    ----------
    path : Path
        Final place.

    Yields
    ------
    binary file
        Where to write.
    """
    with replace_when_done(path) as partial, partial.open("wb") as file:
        if not path.name.endswith(".gz"):
            yield file
            return
        # neither time stamp nor name in the header, so that equal data give equal files
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as compressed:
            yield cast("IO[bytes]", compressed)
