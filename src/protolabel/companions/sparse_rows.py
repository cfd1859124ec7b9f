"""Products of sparse rows: of few, where building matrices takes longest, and of filled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Rows with a larger share of stored entries, and no more cells, take less time as an array.
_FILLED_SHARE = 1 / 64
_MOST_FILLED_CELLS = 2**24


def dense_product(rows: sp.csr_array, matrix: sp.csr_array) -> np.ndarray:
    """Rows times a sparse matrix as an array; a row gets the same digits in any company.

    Examples
    --------
    >>> matrix = sp.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
    >>> dense_product(sp.csr_array(np.array([[2.0, 1.0]])), matrix).tolist()
    [[4.0, 3.0]]
    """
    if rows.shape[0] != 1:
        return np.asarray((rows @ matrix).toarray())
    columns, values = weighted_entries(matrix, rows.indices, rows.data)
    return _sums(columns, values, matrix.shape[1])[None]


def are_filled(rows: sp.csr_array) -> bool:
    """Whether products with many vectors take less time as those of an array.

    Examples
    --------
    >>> are_filled(sp.csr_array(np.eye(10))), are_filled(sp.csr_array(np.eye(100)))
    (True, False)
    """
    n_cells = rows.shape[0] * rows.shape[1]
    return bool(rows.nnz > _FILLED_SHARE * n_cells and n_cells <= _MOST_FILLED_CELLS)


def row_product(row: Matrix, matrix: np.ndarray) -> np.ndarray:
    """A single row times an array, (n_columns,).

    Examples
    --------
    >>> row_product(sp.csr_array(np.array([[0.0, 2.0]])), np.array([[1.0], [3.0]])).tolist()
    [6.0]
    """
    if not sp.issparse(row):
        return np.asarray(row[0] @ matrix)
    return np.asarray(row.data @ matrix.take(row.indices, axis=0))


def weighted_entries(
    matrix: sp.csr_array, rows: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of all entries of some rows, times the weights of the rows, if any."""
    starts = matrix.indptr[rows]
    sizes = matrix.indptr[rows + 1] - starts
    ends = sizes.cumsum()
    n_entries = ends[-1] if len(ends) else 0
    places = np.arange(n_entries) + (starts - ends + sizes).repeat(sizes)
    columns, values = matrix.indices[places], matrix.data[places]
    return columns, values if weights is None else values * weights.repeat(sizes)


def row_squares(rows: Matrix, weights: np.ndarray | None = None) -> np.ndarray:
    """Squared length of each row, its columns weighted or as they are."""
    if not sp.issparse(rows):
        rows = rows if weights is None else rows * weights
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    values = rows.data if weights is None else rows.data * weights[rows.indices]
    return _sums(row_of_entries(rows), np.square(values), rows.shape[0])


def row_of_entries(rows: sp.csr_array) -> np.ndarray:
    """Row that each stored entry is in."""
    if rows.shape[0] == 1:
        return np.zeros(len(rows.indices), dtype=np.intp)
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def _sums(places: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """Sums of the values of each place."""
    # Of no values at all NumPy counts in whole numbers.
    return np.bincount(places, values, minlength=size).astype(np.float64, copy=False)


def part_of(rows: Matrix, part: slice) -> Matrix:
    """Some rows; all of them as they are."""
    return rows if part.start == 0 and part.stop >= rows.shape[0] else rows[part]
