"""Rows of files of numbers, read where they lie.

Rows are read with positioned reads and not through a memory map: pages of a map count as memory
of the process until something else wants them, those of the file cache do not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_SHORT = np.iinfo(np.int32)
# What is compared of a map and the file that has its name: places, and numbers at each.
_COMPARED_PLACES, _COMPARED_NUMBERS = 256, 64


class RowFile(FileIO):
    """An open file that is closed with the last reference to it, as it is meant to be."""

    @classmethod
    def of(cls, file: IO[bytes]) -> RowFile:
        """The same file for as long as its rows are read, whenever this one is closed."""
        file.flush()
        return cls(os.dup(file.fileno()))

    def __del__(self) -> None:
        self.close()


@dataclass(frozen=True)
class FileArray:
    """A one-dimensional run of numbers inside of a file.

    Parameters
    ----------
    file : RowFile
    offset : int
        Where the first number is.
    dtype : numpy dtype
    size : int
        How many numbers there are.
    """

    file: RowFile
    offset: int
    dtype: np.dtype[Any]
    size: int

    @classmethod
    def at(cls, path: str | Path, offset: int, dtype: Any, size: int) -> FileArray:
        """Open a file and refuse one that is too short."""
        file = RowFile(path)
        dtype = np.dtype(dtype)
        found = os.fstat(file.fileno()).st_size
        if found < offset + size * dtype.itemsize:
            file.close()
            raise ValueError(
                f"{path} has {found} bytes, but its numbers end at byte "
                f"{offset + size * dtype.itemsize}; the file was cut short, write it again."
            )
        return cls(file, offset, dtype, size)

    def read_into(self, target: NDArray[Any], start: int) -> None:
        """Fill ``target``, contiguous and of this type, with the numbers from ``start`` on."""
        view = target.reshape(-1).view(np.uint8).data
        position = self.offset + start * self.dtype.itemsize
        done = 0
        while done < len(view):
            count = os.preadv(self.file.fileno(), [view[done:]], position + done)
            if count == 0:
                raise ValueError(
                    f"{self.file.name} ended while rows were read; it was changed meanwhile."
                )
            done += count


class DenseFile:
    """Rows of a matrix that lies in a file row after row.

    Parameters
    ----------
    numbers : FileArray
    shape : (int, int)
    """

    is_sparse = False

    def __init__(self, numbers: FileArray, shape: tuple[int, int]) -> None:
        self.numbers = numbers
        self.shape = shape

    def read_rows(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """Rows at these positions."""
        n_features = self.shape[1]
        rows = np.empty((len(positions), n_features), dtype=self.numbers.dtype)
        for first, last in _runs(positions):
            self.numbers.read_into(rows[first:last], int(positions[first]) * n_features)
        return rows


class SparseFile:
    """Rows of a CSR matrix whose values and column numbers lie in files.

    Parameters
    ----------
    data, indices : FileArray
    indptr : ndarray of int, shape (n_rows + 1,)
        Held in memory.
    shape : (int, int)
    """

    is_sparse = True

    def __init__(
        self, data: FileArray, indices: FileArray, indptr: NDArray[Any], shape: tuple[int, int]
    ) -> None:
        ends = np.asarray(indptr, dtype=np.int64)
        n_stored = min(data.size, indices.size)
        if len(ends) != shape[0] + 1 or ends[0] != 0 or (np.diff(ends) < 0).any():
            raise ValueError("indptr does not rise from zero with one entry a row and one more.")
        if ends[-1] > n_stored:
            raise ValueError(f"indptr ends at {ends[-1]}, but only {n_stored} values are stored.")
        self.data = data
        self.indices = indices
        self.indptr = ends
        self.shape = shape

    def read_rows(self, positions: NDArray[np.int64]) -> sp.csr_array:
        """Rows at these positions."""
        lengths = self.indptr[positions + 1] - self.indptr[positions]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        data = np.empty(indptr[-1], dtype=self.data.dtype)
        indices = np.empty(indptr[-1], dtype=self.indices.dtype)
        for first, last in _runs(positions):
            part = slice(indptr[first], indptr[last])
            self.data.read_into(data[part], int(self.indptr[positions[first]]))
            self.indices.read_into(indices[part], int(self.indptr[positions[first]]))
        if len(indices) and not 0 <= indices.min() <= indices.max() < self.shape[1]:
            raise ValueError(
                f"{self.indices.file.name} holds column numbers from {indices.min()} to "
                f"{indices.max()}; expected 0 to {self.shape[1] - 1}."
            )
        if indptr[-1] <= _SHORT.max and self.shape[1] <= _SHORT.max:
            indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
        return sp.csr_array((data, indices, indptr), shape=(len(positions), self.shape[1]))


def mapped_rows(X: Any) -> DenseFile | SparseFile | None:
    """Rows of a memory-mapped matrix as a source, None for what is not in a file, or no longer.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        A ``numpy.memmap`` or a view of one whose rows follow each other, or a CSR matrix of
        which ``data`` and ``indices`` are such.
    """
    if sp.issparse(X) and X.format == "csr":
        data, indices = _mapped_numbers(X.data), _mapped_numbers(X.indices)
        if data is None or indices is None:
            return None
        return SparseFile(data, indices, X.indptr, X.shape)
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return None
    numbers = _mapped_numbers(X)
    return None if numbers is None else DenseFile(numbers, (X.shape[0], X.shape[1]))


def _mapped_numbers(array: NDArray[Any]) -> FileArray | None:
    """Where in a file the numbers of an array lie."""
    origin: Any = array
    while isinstance(origin.base, np.ndarray):
        origin = origin.base
    # A copy-on-write map may differ from its file.
    is_mapped = isinstance(origin, np.memmap) and origin.filename and origin.mode != "c"
    if not is_mapped or not array.flags.c_contiguous or array.dtype.kind not in "fiu":
        return None
    address, start = (values.__array_interface__["data"][0] for values in (array, origin))
    offset = origin.offset + address - start
    try:
        found = FileArray.at(origin.filename, offset, array.dtype, array.size)
    except (OSError, ValueError):
        if origin._mmap.size() < offset + array.nbytes:
            raise
        return None  # Something else has its name; the map is as it was.
    return found if _holds(found, array.view(np.ndarray).reshape(-1)) else None


def _holds(found: FileArray, numbers: NDArray[Any]) -> bool:
    """Whether a file has these numbers, or was replaced by another one since they were mapped.

    Some of them are compared, from the first to the last.
    """
    last = max(0, found.size - _COMPARED_NUMBERS)
    for start in np.unique(np.linspace(0, last, _COMPARED_PLACES).astype(int)).tolist():
        part = numbers[start : start + _COMPARED_NUMBERS]
        read = np.empty_like(part)
        found.read_into(read, start)
        if read.tobytes() != part.tobytes():
            return False
    return True


def _runs(positions: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First and last but one places of rows that follow each other."""
    breaks = np.flatnonzero(np.diff(positions) != 1) + 1
    bounds = [0, *breaks.tolist(), len(positions)]
    return [(a, b) for a, b in pairwise(bounds) if b > a]
