"""Folders and files that appear only once they are whole, and are exchanged whole."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from protolabel.safefiles.places import replaceable_file

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def publish_folder(folder: Path, *, force: bool, replaceable: Collection[str]) -> Iterator[Path]:
    """Give an empty folder to write to, and move it into place when the block succeeds.

    All files are flushed to the disk before the move. Where something is replaced, Linux
    exchanges the two folders in one step; elsewhere the place is empty for a moment. A process
    that is killed leaves the old folder, the new one or, elsewhere than on Linux, none; it may
    also leave a hidden ``.<name>.<token>.tmp`` beside it, which can be deleted.

    Parameters
    ----------
    folder : Path
        Final place; the folder that holds it has to exist.
    force : bool
        Replace an existing folder.
    replaceable : collection of str
        Names of the files that a folder may hold to be replaced.

    Yields
    ------
    Path
        Folder to write to.
    """
    folder = folder.resolve()
    check_place(folder, force=force, replaceable=replaceable)
    partial = folder.parent / f".{folder.name}.{uuid.uuid4().hex}.tmp"
    partial.mkdir()
    try:
        yield partial
        for path in partial.iterdir():
            _flush(path)
        _flush(partial)
        # Another process may have put something there meanwhile.
        check_place(folder, force=force, replaceable=replaceable)
        _move(partial, folder)
        _flush(folder.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def publish_file(path: Path, data: bytes, *, force: bool) -> None:
    """Write a file that is there as a whole or not at all.

    Parameters
    ----------
    path : Path
        The folder that holds it has to exist.
    data : bytes
    force : bool
        Replace an existing file.
    """
    path = replaceable_file(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {path.parent} does not exist; create it before writing {path.name}."
        )
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists; use force=True to replace a file.")
    partial = path.parent / f".{path.name}.{uuid.uuid4().hex}.tmp"
    try:
        partial.write_bytes(data)
        _flush(partial)
        partial.replace(path)
        _flush(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def check_place(folder: Path, *, force: bool, replaceable: Collection[str]) -> None:
    """Refuse a place that a folder must not be written to.

    Parameters
    ----------
    folder : Path
    force : bool
    replaceable : collection of str
        As in :func:`publish_folder`.
    """
    if not folder.parent.is_dir():
        raise FileNotFoundError(
            f"The folder {folder.parent} does not exist; create it before writing {folder.name}."
        )
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise FileExistsError(f"{folder} exists and is not a folder; choose another name.")
    if not force:
        raise FileExistsError(f"{folder} exists; use force=True to replace it.")
    foreign = sorted({path.name for path in folder.iterdir()} - set(replaceable))
    if foreign:
        raise FileExistsError(
            f"{folder} also holds {foreign[0]!r}, and only {', '.join(replaceable)} may be "
            "replaced, so the folder is kept; choose another name."
        )


def _move(partial: Path, folder: Path) -> None:
    if not folder.exists():
        partial.rename(folder)
    elif not _exchange(partial, folder):
        old = partial.with_suffix(".old")
        folder.rename(old)
        partial.rename(folder)
        shutil.rmtree(old)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one step; False where system or file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return False
    code: int = libc.renameat2(
        _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE
    )
    return code == 0


def _flush(path: Path) -> None:
    """Bring a file or the entries of a folder to the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
