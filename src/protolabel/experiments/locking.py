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


class LockFolder:
    """The locks of a run: one for each of its files, and one for each unit being computed.

    The folder is of no use to anybody but running processes, and tells Git so.

    Parameters
    ----------
    path : Path
        Created with the first lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def exclusive(self, name: str) -> Iterator[None]:
        """Wait for the lock of a file and hold it."""
        self._create()
        file = _open(self.path / name)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)

    def claim(self, key: str) -> Claim | None:
        """Take the claim on a unit, or return None where a live process holds it."""
        self._create()
        return Claim.take(self._claim_path(key))

    def is_held(self, key: str) -> bool:
        """Tell whether a live process holds the claim on a unit."""
        try:
            file = os.open(self._claim_path(key), os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False

    def is_left_behind(self, key: str) -> bool:
        """Tell whether a process died while it held the claim on a unit."""
        return self._claim_path(key).exists() and not self.is_held(key)

    def _claim_path(self, key: str) -> Path:
        return self.path / "units" / key

    def _create(self) -> None:
        (self.path / "units").mkdir(parents=True, exist_ok=True)
        ignore = self.path / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")


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
        while True:
            file = _open(path)
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


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)


def _is_file_at(path: Path, file: int) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(file)
    return (found.st_ino, found.st_dev) == (held.st_ino, held.st_dev)
