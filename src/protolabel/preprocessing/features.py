"""Input scaling chosen from the data: standardised columns, or weighted and normalised counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from protolabel.preprocessing.column_statistics import ColumnStatistics

Matrix = Any  # ndarray of shape (n_samples, n_features) or CSR
Scaling = Literal["auto", "standard", "text", "unit", "none"]
SCALINGS = ("auto", "standard", "text", "unit", "none")

_TEXT_ZERO_SHARE = 0.8


class FeatureScaler:
    """Scale features by a rule that is chosen once, on the training rows.

    Parameters
    ----------
    scaling : {"auto", "standard", "text", "unit", "none"}, default="auto"
        ``"standard"`` subtracts the mean and divides by the standard deviation (columns that
        do not vary are only centred). ``"text"`` weights a column by
        ``log((1 + n) / (1 + df)) + 1``, where df counts the rows in which it is not zero,
        and scales each row to the same length; it keeps sparse data sparse. ``"unit"`` only
        scales the rows. ``"auto"`` takes
        ``"text"`` for sparse input and for dense input without negative values of which at
        least 80 % are zero, ``"standard"`` otherwise. Sparse input is never centred.
    row_norm : float, default=4.0
        Length of the rows after ``"text"`` and ``"unit"``. Rows of length one are too short
        for the start weights of a network; four was measured on text.

    Attributes
    ----------
    scaling_ : str
        The rule in use after ``fit``.
    offset_, weight_ : ndarray of shape (n_features,)
        What is subtracted from and multiplied with each column.

    Examples
    --------
    >>> import numpy as np
    >>> FeatureScaler().fit_transform(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, scaling: Scaling = "auto", row_norm: float = 4.0) -> None:
        self.scaling = scaling
        self.row_norm = row_norm

    def fit(self, X: Matrix) -> Self:
        """Choose the rule and measure the columns of X."""
        if self.scaling not in SCALINGS:
            raise ValueError(f"feature_scaling={self.scaling!r} is unknown; use one of {SCALINGS}.")
        self.scaling_ = self._rule_for(X)
        n_samples, n_features = X.shape
        self.offset_ = np.zeros(n_features)
        self.weight_ = np.ones(n_features)
        if self.scaling_ == "standard":
            mean, variance = _column_moments(X)
            self.weight_ = _inverse_deviation(mean, variance, n_samples, X.dtype)
            if not sp.issparse(X):
                self.offset_ = mean
        elif self.scaling_ == "text":
            frequency = (X != 0).sum(axis=0)
            self.weight_ = np.log((1 + n_samples) / (1 + np.asarray(frequency).ravel())) + 1
        return self

    def fit_parts(self, parts: Iterable[Matrix]) -> Self:
        """Choose the rule and measure the columns of rows that come in parts, each seen once.

        The result is that of ``fit`` on all rows, up to rounding.

        Parameters
        ----------
        parts : iterable of ndarray or CSR of shape (n_part, n_features)
            All of one kind and type.

        Examples
        --------
        >>> import numpy as np
        >>> parts = [np.array([[1.0]]), np.array([[3.0]])]
        >>> FeatureScaler().fit_parts(parts).offset_.tolist()
        [2.0]
        """
        if self.scaling not in SCALINGS:
            raise ValueError(f"feature_scaling={self.scaling!r} is unknown; use one of {SCALINGS}.")
        found = ColumnStatistics.of(parts)
        n_features = len(found.mean)
        self.scaling_ = self.scaling
        if self.scaling == "auto":
            is_text = found.is_sparse or (
                found.zero_share >= _TEXT_ZERO_SHARE and found.smallest >= 0
            )
            self.scaling_ = "text" if is_text else "standard"
        self.offset_, self.weight_ = np.zeros(n_features), np.ones(n_features)
        if self.scaling_ == "standard":
            self.weight_ = _inverse_deviation(found.mean, found.variance, found.n_rows, found.dtype)
            self.offset_ = np.zeros(n_features) if found.is_sparse else found.mean
        elif self.scaling_ == "text":
            self.weight_ = np.log((1 + found.n_rows) / (1 + found.n_nonzero)) + 1
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Scale rows with what was measured in ``fit``.

        The type of X is kept, but that sparse rows become dense where dense ones were centred.
        """
        if self.scaling_ == "none":
            return X
        if sp.issparse(X) and self.offset_.any():
            X = X.toarray()
        if not sp.issparse(X):
            scaled = (X - self.offset_) * self.weight_
            return scaled if self.scaling_ == "standard" else _with_row_norm(scaled, self.row_norm)
        scaled = sp.csr_array(X, copy=True).astype(np.result_type(X.dtype, np.float32))
        scaled.data *= self.weight_.astype(scaled.dtype)[scaled.indices]
        return scaled if self.scaling_ == "standard" else _with_row_norm(scaled, self.row_norm)

    def fit_transform(self, X: Matrix) -> Matrix:
        """Fit and transform the same rows."""
        return self.fit(X).transform(X)

    def _rule_for(self, X: Matrix) -> str:
        if self.scaling != "auto":
            return self.scaling
        if sp.issparse(X):
            return "text"
        zeros = 1 - np.count_nonzero(X) / max(X.size, 1)
        return "text" if zeros >= _TEXT_ZERO_SHARE and X.min(initial=0) >= 0 else "standard"


def _inverse_deviation(
    mean: np.ndarray, variance: np.ndarray, n_samples: int, dtype: Any
) -> np.ndarray:
    # A constant column may show a variance of the size of rounding errors.
    noise = 64 * np.finfo(dtype).eps ** 2 * np.maximum(mean**2, 1e-300) * n_samples
    return np.asarray(1 / np.sqrt(np.where(variance <= noise, 1.0, variance)))


def _column_moments(X: Matrix) -> tuple[np.ndarray, np.ndarray]:
    if not sp.issparse(X):
        return X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0, dtype=np.float64)).ravel()
    return mean, np.maximum(squares - mean**2, 0.0)


def _with_row_norm(X: Matrix, length: float) -> Matrix:
    """Rows scaled to a common length; a row of zeros stays zero."""
    if sp.issparse(X):
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        squares = np.bincount(row_of, weights=X.data.astype(np.float64) ** 2, minlength=X.shape[0])
        norms = np.sqrt(squares)
        factors = length / np.where(norms > 0, norms, 1.0)
        X.data *= factors.astype(X.dtype)[row_of]
        return X
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X * (length / np.where(norms > 0, norms, 1.0))
