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


def order_entries(rows: NDArray[Any], columns: NDArray[Any]) -> tuple[NDArray[Any] | None, int]:
    """Find the order of the entries of a block by row and column, and a repeated cell.

    Parameters
    ----------
    rows, columns : ndarray of int
        Place of every entry; the rows do not decrease.

    Returns
    -------
    order : ndarray of int or None
        Positions in sorted order; None when they are sorted already.
    repeated : int
        Position of an entry whose cell occurred before, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.datasets.growing import order_entries
    >>> order_entries(np.array([0, 0, 1]), np.array([1, 2, 1]))
    (None, -1)
    >>> order_entries(np.array([0, 0, 0]), np.array([2, 1, 2]))[1]
    2
    """
    same_row = np.diff(rows) == 0
    if not (same_row & (np.diff(columns) <= 0)).any():
        return None, -1
    order = np.lexsort((columns, rows))
    repeated = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    if not repeated.any():
        return order, -1
    return order, int(order[int(np.flatnonzero(repeated)[0]) + 1])
