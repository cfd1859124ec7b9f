"""Locks that die with the process that holds them.

A lock is an open file under ``flock``: the kernel releases it when the process ends, however it
ends, so that no lock is ever left behind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

try:
    import fcntl
except ModuleNotFoundError as error:  # pragma: no cover
    raise ModuleNotFoundError(
        "The benchmark locks its files with fcntl, which this system does not have; "
        "run it on Linux or macOS."
    ) from error


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Wait for a lock and hold it.

    Parameters
    ----------
    path : Path
        The lock file; created where missing, and left in place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


class Claim:
    """The right to compute one unit, held by one process at a time.

    The file of a claim is removed when the claim is given back. A file that nobody holds was
    left by a process that died at work.

    Parameters
    ----------
    path : Path
        The claim's file.
    file : int
        Its descriptor, locked.
    """

    def __init__(self, path: Path, file: int) -> None:
        self.path = path
        self._file = file

    @classmethod
    def take(cls, path: Path) -> Self | None:
        """Take a claim, or return None where a live process holds it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                return None
            if _is_file_at(path, file):
                return cls(path, file)
            # Its last holder removed the file between our two calls: this is no longer the lock.
            os.close(file)

    def give_back(self) -> None:
        """Remove the file and let go; in this order, so that nobody finds a free file of ours."""
        self.path.unlink(missing_ok=True)
        os.close(self._file)


def is_held(path: Path) -> bool:
    """Tell whether a live process holds a claim."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _is_file_at(path: Path, file: int) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(file)
    return (found.st_ino, found.st_dev) == (held.st_ino, held.st_dev)
