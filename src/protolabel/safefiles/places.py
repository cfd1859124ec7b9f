"""What is at the place that a file is to be written to, and what may be done to it."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TextIO

_STANDARD_STREAMS = ("/dev/stdin", "/dev/stdout", "/dev/stderr")


def replaceable_file(path: Path) -> Path:
    """The place behind all links, which holds a regular file or nothing.

    Parameters
    ----------
    path : Path
        File to write, or a link to it.

    Returns
    -------
    Path
        What may be replaced; a link that led to it stays.

    Raises
    ------
    FileExistsError
        A folder, device, pipe or socket is there.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp()).resolve()
    >>> (folder / "newest.csv").symlink_to("march.csv")
    >>> replaceable_file(folder / "newest.csv").name
    'march.csv'
    """
    kind = _kind(path)
    if kind is not None:
        raise FileExistsError(
            f"{path} is a {kind}, which is never replaced; give the name of a regular file."
        )
    return Path(os.path.realpath(path))


def check_writable(path: Path, folder: Path) -> None:
    """Refuse to write where a folder takes no files, by a file that vanishes at once.

    Parameters
    ----------
    path : Path
        What is to be written, as it was called.
    folder : Path
        Folder that is to take it, or is to be made.

    Raises
    ------
    OSError
        Neither the folder nor, where it does not exist, the next one above takes files.

    Examples
    --------
    >>> check_writable(Path("new/rows.csv"), Path("new"))
    """
    place = folder
    try:
        place = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        with tempfile.TemporaryFile(dir=place):
            return
    except OSError as error:
        raise OSError(
            f"{path} cannot be written to: {place} takes no files ({error.strerror}); choose "
            "another place."
        ) from error


def check_can_grow(folder: Path) -> None:
    """Refuse a place for a folder that files are added to.

    Parameters
    ----------
    folder : Path
        One that is there, or that is to be made together with those above it.

    Raises
    ------
    OSError
        Something else is there, or no file can be.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} exists and is not a folder; choose another name.")
    check_writable(folder, folder)


def is_stream(path: Path) -> bool:
    """Whether a path is a pipe, a device or an open file that text can be written into.

    Examples
    --------
    >>> is_stream(Path("no such file"))
    False
    """
    mode = _mode(path)
    return _is_descriptor(path) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def open_stream(path: Path) -> TextIO:
    """Open what is there for text; nothing is created, replaced or cut off.

    Parameters
    ----------
    path : Path
        One that :func:`is_stream` is true of.
    """
    return open(os.open(path, os.O_WRONLY | os.O_APPEND), "w", encoding="utf-8", newline="")


def _kind(path: Path) -> str | None:
    """Name of what is there, None for a regular file and for nothing."""
    if _is_descriptor(path):
        return "stream of this process"
    kinds = {
        stat.S_IFDIR: "folder",
        stat.S_IFCHR: "device",
        stat.S_IFBLK: "device",
        stat.S_IFIFO: "pipe",
        stat.S_IFSOCK: "socket",
        stat.S_IFLNK: "link in a circle",
    }
    return kinds.get(stat.S_IFMT(_mode(path)))


def _mode(path: Path) -> int:
    """Mode of what a path leads to, or of a link in a circle; 0 for nothing."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return 0
    except OSError:
        with suppress(OSError):
            return os.lstat(path).st_mode
        return 0


def _is_descriptor(path: Path) -> bool:
    """Whether a path names an open file, as /dev/stdout and /dev/fd/3 do, whatever it is."""
    path = path.absolute()
    if str(path) in _STANDARD_STREAMS:
        return True
    folder = Path(os.path.realpath(path.parent)).parts
    return folder[1:2] == ("proc",) and folder[-1] == "fd"
