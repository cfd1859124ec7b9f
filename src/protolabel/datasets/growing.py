"""Arrays that grow while a file is read, so that memory stays near the size of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse


class GrowingArray:
    """A one-dimensional array that blocks are appended to.

    Parameters
    ----------
    dtype : dtype
        Type of the elements.

    Examples
    --------
    >>> from protolabel.datasets.growing import GrowingArray
    >>> numbers = GrowingArray("i4")
    >>> numbers.append([1, 2])
    >>> numbers.append([3])
    >>> numbers.finish().tolist()
    [1, 2, 3]
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer: NDArray[Any] = np.empty(0, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        """Return the number of elements so far."""
        return self._size

    def append(self, block: Any) -> None:
        """Add the elements of a block at the end."""
        needed = self._size + len(block)
        if needed > self._buffer.size:
            # realloc instead of concatenate: old and new copy need not exist together
            self._buffer.resize(max(needed, self._buffer.size * 5 // 4), refcheck=False)
        self._buffer[self._size : needed] = block
        self._size = needed

    def finish(self) -> NDArray[Any]:
        """Return the array cut to its size; nothing may be appended afterwards."""
        self._buffer.resize(self._size, refcheck=False)
        return self._buffer


class GrowingCsr:
    """A CSR matrix that blocks of rows are appended to.

    Parameters
    ----------
    dtype : dtype
        Type of the values.

    Examples
    --------
    >>> from protolabel.datasets.growing import GrowingCsr
    >>> matrix = GrowingCsr("f8")
    >>> matrix.append(entries_per_row=[2, 0], columns=[0, 2], values=[1.0, 5.0])
    >>> matrix.finish(n_columns=3).toarray().tolist()
    [[1.0, 0.0, 5.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._data = GrowingArray(dtype)
        self._indices = GrowingArray(np.int32)
        self._entries_per_row = GrowingArray(np.int32)

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return len(self._entries_per_row)

    def append(self, entries_per_row: Any, columns: Any, values: Any) -> None:
        """Add rows, given as their number of entries and all entries in row order."""
        self._entries_per_row.append(entries_per_row)
        self._indices.append(columns)
        self._data.append(values)

    def finish(self, n_columns: int) -> Any:
        """Return the matrix, its columns sorted within each row."""
        counts = self._entries_per_row.finish()
        indptr = np.zeros(counts.size + 1, dtype=np.int64)
        np.cumsum(counts, out=indptr[1:])
        index_type = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
        matrix = sparse.csr_matrix(
            (
                self._data.finish(),
                self._indices.finish().astype(index_type, copy=False),
                indptr.astype(index_type),
            ),
            shape=(counts.size, n_columns),
            copy=False,
        )
        matrix.sort_indices()
        return matrix
