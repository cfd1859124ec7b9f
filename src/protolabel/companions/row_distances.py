"""Squared distances of rows, dense or sparse, and the Gaussian kernel of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.sparse_rows import dense_product, part_of, row_squares
from protolabel.companions.uneven_matrix import UnevenMatrix

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Entries of a kernel in double precision at a time.
_CHUNK_CELLS = 2_000_000
# The same for a core's own cache; products of fewer rows are slow.
_CACHED_CELLS, _MIN_CHUNK_ROWS = 2**16, 128
# Distances this small beside the lengths of rows are rounding: they would tell equal rows apart.
_SMALLEST_DISTANCE = 1e-4


def gaussian_kernel(
    X: Matrix, landmarks: Matrix, precision: float, dtype: type[np.floating] = np.float64
) -> np.ndarray:
    """exp(-precision * squared distance) of every row to every landmark."""
    kernel = np.empty((X.shape[0], landmarks.shape[0]), dtype)
    # In single precision the difference of large squares loses what is small.
    turned, squares_of_landmarks = as_columns(landmarks)
    for part in parts_of(X.shape[0], landmarks.shape[0]):
        squares = distances_by_products(part_of(X, part), turned, squares_of_landmarks)
        kernel[part] = np.exp(np.multiply(squares, -precision, out=squares), out=squares)
    return kernel


def own_distances(X: Matrix, dtype: type[np.floating] = np.float64) -> np.ndarray:
    """Squared distances of all pairs of rows, each computed once."""
    squares = np.empty((X.shape[0], X.shape[0]), dtype)
    for part in parts_of(X.shape[0], X.shape[0]):
        found = distances_by_products(part_of(X, part), *as_columns(X[part.start :]))
        squares[part, part.start :] = found
        squares[part.start :, part] = found.T
    return squares


def unit_of_precision(X: Matrix, squares: np.ndarray) -> float:
    """1 / (2 d^2) of the mean distance d of two rows, by their squared distances."""
    if len(squares) < 2:
        return 1.0
    mean = float(np.sqrt(squares).sum() / (squares.size - len(squares)))
    length = float(np.sqrt(row_squares(X.astype(np.float64, copy=False)).mean()))
    mean = max(mean, _SMALLEST_DISTANCE * length)
    return 1 / (2 * mean**2) if mean > 0 else 1.0


def parts_of(n_rows: int, n_landmarks: int) -> Iterator[slice]:
    """Rows whose kernel is computed at once."""
    return _slices(n_rows, max(1, _CHUNK_CELLS // max(n_landmarks, 1)))


def small_parts_of(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Rows that pass through several steps while they are in the cache."""
    return _slices(n_rows, max(_MIN_CHUNK_ROWS, _CACHED_CELLS // max(n_columns, 1)))


def _slices(n_rows: int, step: int) -> Iterator[slice]:
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


def distances_by_products(
    X: Matrix, turned: Matrix, squares: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    """Squared distances to the columns of ``turned``, whose squared lengths are known."""
    X = X.astype(np.float64, copy=False)
    if isinstance(turned, UnevenMatrix):
        found = turned.product(X if sp.issparse(X) else sp.csr_array(X))
    elif sp.issparse(X) and sp.issparse(turned):
        found = dense_product(X, turned)
    else:
        found = np.asarray(X @ turned)
    found *= -2
    found += squares
    found += row_squares(X, weights)[:, None]
    return np.asarray(np.maximum(found, 0.0, out=found))


def as_columns(rows: Matrix, weights: np.ndarray | None = None) -> tuple[Matrix, np.ndarray]:
    """Rows as columns in double precision, for unweighted rows, and their squared lengths.

    Weighted distances of x and l are those of wx and wl, whose product is that of x and wwl.
    """
    rows = rows.astype(np.float64)
    squares = row_squares(rows, weights)
    if weights is not None:
        rows = weighted_rows(rows, np.square(weights))
    turned = rows.T.tocsr() if sp.issparse(rows) else rows.T
    return turned, squares


def weighted_rows(X: Matrix, weights: np.ndarray) -> Matrix:
    """Rows with each column times its weight.

    Examples
    --------
    >>> weighted_rows(np.array([[1.0, 2.0]]), np.array([3.0, 0.5])).tolist()
    [[3.0, 1.0]]
    """
    if not sp.issparse(X):
        return X * weights
    values = X.data * weights[X.indices]
    return sp.csr_array((values, X.indices, X.indptr), shape=X.shape)
