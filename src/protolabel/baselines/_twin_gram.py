"""Matrices of a twin hyperplane: M = H'H + lambda I, and Gram matrices of weighted rows.

H holds the positive rows of a label. Rows may be dense or CSR; sparse rows stay sparse.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_SPARSE_SHARE = 0.05
_BLOCK_ROWS = 2048


class PositiveGram:
    """The positive definite M = H'H + lambda I of one label, factored once.

    Parameters
    ----------
    positives : ndarray or CSR of shape (n_positive, dim)
        H, with its constant column.
    penalty : float
        lambda, above zero.
    form : {"auto", "direct", "woodbury"}, default="auto"
        ``"direct"`` factors M; ``"woodbury"`` factors ``lambda I + H H'`` instead, which is
        smaller when there are fewer positive rows than columns.
    """

    def __init__(
        self,
        positives: Matrix,
        penalty: float,
        form: Literal["auto", "direct", "woodbury"] = "auto",
    ) -> None:
        n_positive, dim = positives.shape
        self.positives = positives
        self.penalty = penalty
        self.form = ("woodbury" if n_positive < dim else "direct") if form == "auto" else form
        if self.form == "woodbury":
            inner = inner_products(positives)
        else:
            inner = weighted_gram(positives, np.ones(n_positive))
        inner[np.diag_indices_from(inner)] += penalty
        self._factor = cho_factor(inner, lower=True, check_finite=False)

    def solve(self, z: np.ndarray) -> np.ndarray:
        """``M^-1 z`` for a vector or the columns of a matrix."""
        if self.form == "direct":
            return np.asarray(cho_solve(self._factor, z, check_finite=False))
        inner = cho_solve(self._factor, self.positives @ z, check_finite=False)
        return np.asarray((z - self.positives.T @ inner) / self.penalty)

    def multiply(self, v: np.ndarray) -> np.ndarray:
        """``M v``."""
        return np.asarray(self.positives.T @ (self.positives @ v) + self.penalty * v)

    def dense(self) -> np.ndarray:
        """M itself, (dim, dim)."""
        n_positive, dim = self.positives.shape
        gram = weighted_gram(self.positives, np.ones(n_positive))
        gram[np.diag_indices(dim)] += self.penalty
        return gram


def with_constant(X: Matrix) -> Matrix:
    """Add a last column of ones, in double precision; the type of X is kept."""
    ones = np.ones((X.shape[0], 1))
    if sp.issparse(X):
        return sp.csr_array(sp.hstack([X, ones], format="csr", dtype=np.float64))
    return np.hstack([np.asarray(X, dtype=np.float64), ones])


def weighted_gram(X: Matrix, weights: np.ndarray) -> np.ndarray:
    """``X' diag(weights) X`` as a dense matrix, for weights that are not negative.

    Examples
    --------
    >>> weighted_gram(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([1.0, 3.0])).tolist()
    [[1.0, 2.0], [2.0, 7.0]]
    """
    roots = np.sqrt(weights)
    if not sp.issparse(X):
        scaled = X * roots[:, None]
        return np.asarray(scaled.T @ scaled)
    scaled = scale_rows(X, roots)
    n_samples, dim = X.shape
    if X.nnz <= _SPARSE_SHARE * n_samples * dim:
        return _as_dense(scaled.T @ scaled)
    # Dense products of row blocks beat sparse ones unless nearly all entries are zero.
    gram = np.zeros((dim, dim))
    for start in range(0, n_samples, _BLOCK_ROWS):
        block = scaled[start : start + _BLOCK_ROWS].toarray()
        gram += block.T @ block
    return gram


def inner_products(X: Matrix) -> np.ndarray:
    """``X X'`` as a dense matrix."""
    return _as_dense(X @ X.T)


def square_lengths(X: Matrix) -> np.ndarray:
    """Squared Euclidean length of each row."""
    squares = X.multiply(X) if sp.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1)).ravel()


def scale_rows(X: Matrix, factors: np.ndarray) -> Matrix:
    """``diag(factors) X``, of the type of X."""
    if not sp.issparse(X):
        return X * factors[:, None]
    data = X.data * np.repeat(factors, np.diff(X.indptr))
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _as_dense(product: Any) -> np.ndarray:
    return np.asarray(product.toarray() if sp.issparse(product) else product)
