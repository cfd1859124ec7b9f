"""Exact nearest neighbours by brute force, in chunks of bounded memory.

The neighbours of a row depend on that row and the stored rows only. Products of matrices do not
have this property, their rounding depends on the number of rows; hence a product in single
precision only selects candidates, with a bound on its error, and the distances of the candidates
are computed again, pair by pair, in double precision. Very sparse rows are multiplied as they
are; such a product adds up pair by pair from the start.

Squared distances are rounded to 40 bits before they are compared, so that distances that are
equal but for rounding count as ties; ties go to the row with the smaller number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

_CHUNK_CELLS = 2**22  # 32 MB of float64
_KEPT_BITS = 40
# A product of sparse matrices pays for each pair of non-zeros that meet, a dense one for all
# cells; about this many cells of a dense product cost as much as one such pair.
_CELLS_PER_PAIR = 300
_LARGEST_SINGLE = 1e15  # its square is far from the overflow of single precision
_UNDERFLOW = 1e-35
_UNIT_SINGLE = float(np.finfo(np.float32).eps)
_UNIT_DOUBLE = float(np.finfo(np.float64).eps)


def nearest_neighbours(
    stored: Any, queries: Any, n_neighbours: int, *, queries_are_stored: bool = False
) -> np.ndarray:
    """Positions of the nearest stored rows, nearest first, by Euclidean distance.

    Parameters
    ----------
    stored : ndarray or CSR of shape (n_stored, n_features)
    queries : ndarray or CSR of shape (n_queries, n_features)
    n_neighbours : int
        At most ``n_stored``, one less if rows are not to find themselves.
    queries_are_stored : bool, default=False
        Whether query i is the stored row i, which is then left out of its neighbours; other
        rows with the same features are not.

    Returns
    -------
    ndarray of shape (n_queries, n_neighbours)

    Examples
    --------
    >>> import numpy as np
    >>> nearest_neighbours(np.array([[0.0], [1.0], [5.0]]), np.array([[0.9]]), 2).tolist()
    [[1, 0]]
    """
    if sp.issparse(stored):
        queries = sp.csr_array(queries)
    elif sp.issparse(queries):
        queries = queries.toarray()
    stored, queries = _as_float64(stored), _as_float64(queries)
    n_queries = queries.shape[0]
    found = np.empty((n_queries, n_neighbours), dtype=np.int64)
    if n_neighbours == 0:
        return found
    search = _DenseSearch(stored) if _dense_is_faster(stored, queries) else _SparseSearch(stored)
    step = max(1, _CHUNK_CELLS // max(*stored.shape, 1))
    for top in range(0, n_queries, step):
        rows = np.arange(top, min(top + step, n_queries))
        own = rows if queries_are_stored else None
        found[rows] = search.nearest(queries[rows], n_neighbours, own)
    return found


class _DenseSearch:
    """Candidates from a product in single precision, their distances from pairs of rows."""

    def __init__(self, stored: Any) -> None:
        self.stored = stored
        self.squares = _squared_norms(stored)
        # Distances do not change; what is subtracted need not be exact.
        self.centre = np.zeros(stored.shape[1]) if sp.issparse(stored) else stored.mean(axis=0)
        self.norms = np.sqrt(
            self.squares if sp.issparse(stored) else _squared_norms(stored - self.centre)
        )
        largest = self.norms.max(initial=0.0)
        self.scale = 2.0 ** -np.ceil(np.log2(largest)) if largest > 0 else 1.0
        self.norms *= self.scale
        self.slack = float(np.linalg.norm(self.centre)) * self.scale * _UNIT_DOUBLE
        self.block = max(1, 4 * _CHUNK_CELLS // max(stored.shape[1], 1))
        # Kept when it fits into one block, else made again for every chunk of queries.
        self.only_block = self._operand(0) if stored.shape[0] <= self.block else None

    def nearest(self, queries: Any, n_neighbours: int, own: np.ndarray | None) -> np.ndarray:
        """Neighbours of one chunk of queries."""
        centred = (_dense(queries) - self.centre) * self.scale
        norms = np.sqrt(_squared_norms(centred))
        dtype = np.float32 if norms.max(initial=0.0) < _LARGEST_SINGLE else np.float64
        rough = self._rough_distances(centred.astype(dtype))
        if own is not None:
            rough[np.arange(len(own)), own] = np.inf
        limits = self._limits(rough, norms, n_neighbours)
        row, column = np.nonzero(rough <= limits[:, None])
        squares = _pair_squares(queries, self.stored, self.squares, row, column)
        return _first_of_each_row(row, column, squares, n_neighbours)

    def _rough_distances(self, queries: np.ndarray) -> np.ndarray:
        """Squared distances less the squared norm of the query, with rounding errors."""
        operand = np.hstack([queries, np.ones((len(queries), 1), dtype=queries.dtype)])
        rough = np.empty((len(queries), len(self.norms)), dtype=queries.dtype)
        for start in range(0, len(self.norms), self.block):
            stored = self._operand(start) if self.only_block is None else self.only_block
            part = rough[:, start : start + self.block]
            np.matmul(operand, stored.astype(queries.dtype, copy=False).T, out=part)
        return rough

    def _operand(self, start: int) -> np.ndarray:
        """Stored rows times -2 with their squared norms as a last column."""
        part = slice(start, start + self.block)
        rows = (_dense(self.stored[part]) - self.centre) * (-2 * self.scale)
        return np.hstack([rows, self.norms[part, None] ** 2]).astype(np.float32)

    def _limits(self, rough: np.ndarray, norms: np.ndarray, k: int) -> np.ndarray:
        """Rough distance of each query that none of its k nearest rows exceeds."""
        nearest = np.argpartition(rough, k - 1, axis=1)[:, :k]
        values = np.take_along_axis(rough, nearest, axis=1).astype(np.float64)
        upper = (values + self._error(norms[:, None] + self.norms[nearest])).max(axis=1)
        # A row this near has a norm, and hence an error, bounded by the triangle inequality.
        squared_radius = np.maximum(upper + norms**2, 0.0)
        upper += self._error(2 * norms + np.sqrt(squared_radius))
        upper += squared_radius * 2.0 ** (1 - _KEPT_BITS)
        return np.asarray(np.nextafter(upper.astype(rough.dtype), np.inf, dtype=rough.dtype))

    def _error(self, norms: np.ndarray) -> np.ndarray:
        """Bound on the error of a rough distance by the sum of the norms of its two rows."""
        # The stored operand is rounded to single precision even where the queries are not.
        unit = (self.stored.shape[1] + 8) * _UNIT_SINGLE
        return np.asarray(unit * norms**2 + 8 * self.slack * (norms + self.slack) + _UNDERFLOW)


class _SparseSearch:
    """Distances from a sparse product, whose sums run pair by pair."""

    def __init__(self, stored: sp.csr_array) -> None:
        self.transpose = stored.T.tocsr()
        self.squares = _squared_norms(stored)

    def nearest(self, queries: sp.csr_array, n_neighbours: int, own: np.ndarray | None) -> Any:
        """Neighbours of one chunk of queries."""
        distances = (queries @ self.transpose).toarray()
        distances *= -2
        distances += _squared_norms(queries)[:, None] + self.squares
        np.maximum(distances, 0.0, out=distances)
        if own is not None:
            distances[np.arange(len(own)), own] = np.inf
        limits = np.partition(distances, n_neighbours - 1, axis=1)[:, n_neighbours - 1]
        limits = limits * (1 + 2.0 ** (1 - _KEPT_BITS))
        row, column = np.nonzero(distances <= limits[:, None])
        return _first_of_each_row(row, column, distances[row, column], n_neighbours)


def _pair_squares(
    queries: Any,
    stored: Any,
    stored_squares: np.ndarray,
    query_of: np.ndarray,
    stored_of: np.ndarray,
) -> np.ndarray:
    """Squared distance of each pair of rows; it depends on these two rows only."""
    squares = np.empty(len(query_of))
    sparse = sp.issparse(stored)
    query_squares = _squared_norms(queries)
    cells_per_pair = stored.nnz // stored.shape[0] if sparse else stored.shape[1]
    step = max(1, _CHUNK_CELLS // max(cells_per_pair, 1))
    for start in range(0, len(query_of), step):
        part = slice(start, start + step)
        left, right = queries[query_of[part]], stored[stored_of[part]]
        if sparse:
            products = left.multiply(right).tocsr()
            row_of = np.repeat(np.arange(products.shape[0]), np.diff(products.indptr))
            inner = np.bincount(row_of, weights=products.data, minlength=products.shape[0])
            norms = query_squares[query_of[part]] + stored_squares[stored_of[part]]
            squares[part] = norms - 2 * inner
        else:
            difference = left - right
            squares[part] = np.square(difference, out=difference).sum(axis=1)
    return np.maximum(squares, 0.0)


def _first_of_each_row(
    row: np.ndarray, column: np.ndarray, squares: np.ndarray, k: int
) -> np.ndarray:
    """First k columns of each row by (rounded distance, column); row must be sorted."""
    order = np.lexsort((column, _rounded(squares), row))
    counts = np.bincount(row)
    starts = np.concatenate([[0], counts.cumsum()[:-1]])
    return np.asarray(column[order][starts[:, None] + np.arange(k)])


def _rounded(values: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, _KEPT_BITS)), exponent - _KEPT_BITS))


def _dense_is_faster(stored: Any, queries: Any) -> bool:
    if not sp.issparse(stored):
        return True
    n_features = stored.shape[1]
    meetings = np.bincount(stored.indices, minlength=n_features).astype(np.float64) @ np.bincount(
        queries.indices, minlength=n_features
    )
    cells = float(stored.shape[0]) * queries.shape[0] * n_features
    return bool(meetings * _CELLS_PER_PAIR > cells)


def _as_float64(X: Any) -> Any:
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    X = sp.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _squared_norms(X: Any) -> np.ndarray:
    if not sp.issparse(X):
        return np.asarray(np.einsum("ij,ij->i", X, X))
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.bincount(row_of, weights=X.data**2, minlength=X.shape[0])
