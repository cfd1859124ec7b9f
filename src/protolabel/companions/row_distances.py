"""Distances of rows, squared or absolute, and the kernels of them.

Sums of squared differences give the Gaussian kernel, by matrix products for dense and sparse rows.
Sums of absolute differences give the Laplacian kernel, for dense rows only: no product gives them,
but a regression on them can follow single columns and their steps, as trees do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from protolabel.companions.sparse_rows import are_filled, dense_product, part_of, row_squares
from protolabel.companions.uneven_matrix import UnevenMatrix

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)
Distance = Literal["squared", "absolute"]

# Entries of a kernel in double precision at a time.
_CHUNK_CELLS = 2_000_000
# The same for a core's own cache; products of fewer rows are slow.
_CACHED_CELLS, _MIN_CHUNK_ROWS = 2**16, 128
# Distances this small beside the lengths of rows are rounding: they would tell equal rows apart.
_SMALLEST_DISTANCE = 1e-4
# Longer rows, in the exponent of a kernel, lose digits of it in single precision.
_LARGEST_SQUARE_OF_SINGLE_PRECISION = 16.0


def row_kernel(
    X: Matrix,
    landmarks: Matrix,
    precision: float,
    dtype: type[np.floating] = np.float64,
    distance: Distance = "squared",
) -> np.ndarray:
    """exp(-precision * distance) of every row to every landmark."""
    kernel = np.empty((X.shape[0], landmarks.shape[0]), dtype)
    # In single precision the difference of large squares loses what is small.
    distances = distances_to(landmarks, distance)
    for part in parts_of(X.shape[0], landmarks.shape[0]):
        found = distances(part_of(X, part))
        kernel[part] = np.exp(np.multiply(found, -precision, out=found), out=found)
    return kernel


def own_distances(X: Matrix, distance: Distance = "squared") -> np.ndarray:
    """Distances of all pairs of rows, each computed once."""
    distances = np.empty((X.shape[0], X.shape[0]))
    for part, found in _to_rows_from_here(X, distance):
        distances[part, part.start :] = found
        distances[part.start :, part] = found.T
    return distances


def own_kernel(
    X: Matrix,
    precision: float,
    dtype: type[np.floating] = np.float64,
    distance: Distance = "squared",
) -> np.ndarray:
    """exp(-precision * distance) of all pairs of rows, as the upper triangle of a matrix.

    What is below the diagonal has no meaning.
    """
    kernel = np.zeros((X.shape[0], X.shape[0]), dtype)
    found_parts = _to_rows_from_here(X, distance)
    if dtype is np.float32 and sp.issparse(X) and are_filled(X):
        rows = X.astype(np.float32).toarray()
        longest = float(row_squares(rows).max(initial=0.0))
        if precision * longest <= _LARGEST_SQUARE_OF_SINGLE_PRECISION:
            found_parts = _in_single_precision(rows)
    for part, found in found_parts:
        np.multiply(found, -precision, out=found)
        np.exp(found, out=kernel[part, part.start :], casting="same_kind")
    return kernel


def _in_single_precision(rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """What :func:`_to_rows_from_here` gives, squared, by products of arrays."""
    squares = row_squares(rows)
    for part in parts_of(len(rows), len(rows)):
        found = rows[part] @ rows[part.start :].T
        found *= -2
        found += squares[part.start :]
        found += squares[part, None]
        yield part, np.maximum(found, 0.0, out=found)


def _to_rows_from_here(X: Matrix, distance: Distance) -> Iterator[tuple[slice, np.ndarray]]:
    """Distances of some rows to themselves and to all rows behind them, part by part."""
    for part in parts_of(X.shape[0], X.shape[0]):
        yield part, distances_to(X[part.start :], distance)(part_of(X, part))


def distances_to(
    landmarks: Matrix,
    distance: Distance = "squared",
    weights: np.ndarray | None = None,
    *,
    for_many: bool = False,
) -> Callable[[Matrix], np.ndarray]:
    """What tells the distances of rows to these landmarks, with columns times their weights.

    Sparse landmarks may be prepared for many calls, which then differ in their last digits.

    Examples
    --------
    >>> to_landmarks = distances_to(np.array([[1.0, 2.0]]), "absolute")
    >>> to_landmarks(np.array([[4.0, 0.0]])).tolist()
    [[5.0]]
    """
    if distance == "absolute":
        landmarks = _in_double(landmarks, weights)
        return partial(_absolute_distances, landmarks=landmarks, weights=weights)
    turned, squares = as_columns(landmarks, weights)
    if for_many and sp.issparse(turned):
        turned = UnevenMatrix.of(turned)
    return partial(distances_by_products, turned=turned, squares=squares, weights=weights)


def unit_of_precision(X: Matrix, distances: np.ndarray, distance: Distance = "squared") -> float:
    """One over the mean distance d of two rows, or 1 / (2 d^2) by squared distances."""
    if len(distances) < 2:
        return 1.0
    n_pairs = distances.size - len(distances)
    if distance == "absolute":
        mean = float(distances.sum(dtype=np.float64) / n_pairs)
        mean = max(mean, _SMALLEST_DISTANCE * float(np.abs(X).sum(axis=1).mean()))
        return 1 / mean if mean > np.finfo(np.float64).tiny else 1.0
    mean = float(np.sqrt(distances).sum() / n_pairs)
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


def _absolute_distances(X: Matrix, landmarks: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Sums of absolute differences to weighted landmarks."""
    X = _in_double(X.toarray() if sp.issparse(X) else X, weights)
    return np.asarray(cdist(X, landmarks, "cityblock"))


def _in_double(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    rows = rows.astype(np.float64, copy=False)
    return rows if weights is None else np.asarray(weighted_rows(rows, weights))
