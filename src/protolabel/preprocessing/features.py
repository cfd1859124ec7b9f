"""Input scaling chosen from the data: standardised columns, or weighted and normalised counts."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp

from protolabel.preprocessing.column_statistics import ColumnStatistics
from protolabel.preprocessing.row_sample import RowSample
from protolabel.preprocessing.table_columns import TableColumns

Matrix = Any  # ndarray of shape (n_samples, n_features) or CSR
Scaling = Literal["auto", "tabular", "standard", "text", "unit", "none"]
SCALINGS = ("auto", "tabular", "standard", "text", "unit", "none")

# Rules that look at the values to choose another one.
_CHOOSING = ("auto", "tabular")
# Rules that leave the length of a row as it comes.
_BY_COLUMN = ("tabular", "standard")
_TEXT_ZERO_SHARE = 0.8
# Words differ in how often a row has them, but not by more than this; ages beside flags do.
_TEXT_RANGE_OF_SIZES = 30.0
# Rows of equal length, up to rounding, are texts that somebody has scaled already.
_EQUAL_LENGTHS = 1e-3
# Lengths of rows whose squares and factors fit into single precision, with room to spare.
_PLAIN_LENGTHS = (1e-15, 1e15)
# A single row of ten thousand that differs gives an even column a variance of 1e-4.
_EVEN_NOISE = 1e-9


class FeatureScaler:
    """Scale features by a rule that is chosen once, on the training rows.

    Parameters
    ----------
    scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        ``"standard"`` subtracts the mean and divides by the standard deviation (columns that
        do not vary are only centred). ``"text"`` weights a column by
        ``log((1 + n) / (1 + df)) + 1``, where df counts the rows in which it is not zero,
        and scales each row to the same length; it keeps sparse data sparse. ``"unit"`` only
        scales the rows. ``"auto"`` takes
        ``"text"`` for sparse input, and for dense input that looks like texts: no negative
        values, at least 80 % zeros, and either whole numbers or rows of equal length. It takes
        ``"standard"`` otherwise, and where the values of a column are more than 30 times those
        of the median column: as a part of the length of a row, such a column would leave
        nothing of the others. ``"tabular"`` does the same, but draws
        outliers of dense input in and takes codes apart before it standardises, see
        ``protolabel.preprocessing.table_columns``. Sparse input is never centred.
    row_norm : float, default=4.0
        Length of the rows after ``"text"`` and ``"unit"``. Rows of length one are too short
        for the start weights of a network; four was measured on text.

    Attributes
    ----------
    scaling_ : str
        The rule in use after ``fit``.
    columns_ : TableColumns or None
        What ``"tabular"`` does before it standardises.
    offset_, weight_ : ndarray of shape (n_columns,)
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
        return self.fit_parts([X])

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
        sample = RowSample()
        found = ColumnStatistics.of(sample.passing(parts) if self.scaling == "tabular" else parts)
        self.scaling_ = self._rule_for(found)
        self.columns_ = None
        if self.scaling_ == "tabular":
            self.columns_ = TableColumns.of(sample.rows)
            found = ColumnStatistics.of([self.columns_.transform(sample.rows)])
        n_columns = len(found.mean)
        self.offset_, self.weight_ = np.zeros(n_columns), np.ones(n_columns)
        if self.is_by_column:
            noise = _variance_of_rounding(found) if self.columns_ is None else _EVEN_NOISE
            is_constant = found.variance <= noise
            self.weight_ = 1 / np.sqrt(np.where(is_constant, 1.0, found.variance))
            self.offset_ = np.zeros(n_columns) if found.is_sparse else found.mean
        elif self.scaling_ == "text":
            self.weight_ = np.log((1 + found.n_rows) / (1 + found.n_nonzero)) + 1
        return self

    @property
    def is_by_column(self) -> bool:
        """Whether a scaled value depends on its column alone, not on the rest of the row."""
        return self.scaling_ in _BY_COLUMN

    @property
    def n_columns(self) -> int:
        """How many columns a scaled row has."""
        return len(self.offset_)

    @property
    def feature_of_column(self) -> np.ndarray:
        """Feature that each scaled column comes from, (n_columns,)."""
        columns = self.columns_
        return np.arange(self.n_columns) if columns is None else columns.feature_of_column

    def transform(self, X: Matrix) -> Matrix:
        """Scale rows with what was measured in ``fit``.

        Sparse rows become dense where dense ones were centred; dense rows are scaled in double
        precision.
        """
        if self.scaling_ == "none":
            return X
        if sp.issparse(X) and (self.columns_ is not None or self.offset_.any()):
            X = X.toarray()
        if not sp.issparse(X):
            columns = X if self.columns_ is None else self.columns_.transform(X)
            # Even columns are a copy already.
            scaled = np.subtract(columns, self.offset_, out=None if columns is X else columns)
            scaled *= self.weight_
        else:
            dtype = np.result_type(X.dtype, np.float32)
            scaled = _with_values(X, X.data * self.weight_[X.indices].astype(dtype, copy=False))
        return scaled if self.is_by_column else _with_row_norm(scaled, self.row_norm)

    def fit_transform(self, X: Matrix) -> Matrix:
        """Fit and transform the same rows."""
        return self.fit(X).transform(X)

    @property
    def middle_and_spread(self) -> tuple[np.ndarray, np.ndarray]:
        """Where values of a feature lie, and how far apart, of a rule by columns."""
        if self.columns_ is not None:
            return self.columns_.middle, self.columns_.spread
        return self.offset_, 1 / self.weight_

    def _rule_for(self, found: ColumnStatistics) -> str:
        if self.scaling not in _CHOOSING:
            return self.scaling
        if _are_texts(found):
            return "text"
        return "standard" if self.scaling == "auto" or found.is_sparse else "tabular"


def compressed_texts(X: Matrix, scaling: Scaling) -> Matrix:
    """Dense rows that a rule takes for texts as CSR, which is what they are; others unchanged.

    A table is then the same to all that follows, in whichever of the two forms it comes.

    Examples
    --------
    >>> import numpy as np
    >>> type(compressed_texts(np.eye(10), "auto")).__name__
    'csr_array'
    >>> type(compressed_texts(np.eye(10) - 1, "auto")).__name__
    'ndarray'
    """
    if not isinstance(X, np.ndarray) or scaling not in _CHOOSING:
        return X
    if np.count_nonzero(X) > (1 - _TEXT_ZERO_SHARE) * X.size:
        return X
    return sp.csr_array(X) if _are_texts(ColumnStatistics.of([X])) else X


def _are_texts(found: ColumnStatistics) -> bool:
    """Whether rows are bags of words, of which their direction tells more than their length."""
    sizes = found.sizes[found.n_nonzero > 0]
    if sizes.size and sizes.max() > _TEXT_RANGE_OF_SIZES * np.median(sizes):
        return False
    if found.is_sparse:
        return True
    shortest, longest = found.length_range
    are_scaled = longest <= (1 + _EQUAL_LENGTHS) * shortest
    is_sparse_like = found.zero_share >= _TEXT_ZERO_SHARE and found.smallest >= 0
    return is_sparse_like and (found.is_whole or are_scaled)


def _variance_of_rounding(found: ColumnStatistics) -> np.ndarray:
    """What a constant column may show: rounded values, and sums of them in double precision."""
    largest = np.maximum(found.mean**2, 1e-300)
    of_values = np.finfo(found.dtype).eps ** 2
    of_sums = found.n_rows * np.finfo(np.float64).eps ** 2
    return np.asarray(64 * max(of_values, of_sums) * largest)


def _with_values(X: Matrix, values: np.ndarray) -> sp.csr_array:
    """Other values in the cells of CSR rows."""
    # A constructor looks through all parts again, longer than a row takes to scale.
    found = copy(X) if type(X) is sp.csr_array else sp.csr_array(X)
    found.data, found.indices, found.indptr = values, X.indices.copy(), X.indptr.copy()
    return found


def _with_row_norm(X: Matrix, length: float) -> Matrix:
    """Rows scaled to a common length; a row of zeros stays zero."""
    if sp.issparse(X):
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        norms = _lengths(X.data, row_of, X.shape[0])
        if _overflows(norms, np.diff(X.indptr) > 0):
            largest = np.zeros(X.shape[0])
            np.maximum.at(largest, row_of, np.abs(X.data))
            values = X.data / _to_be_taken_out(norms, largest)[row_of]
            X.data = values.astype(X.dtype, copy=False)
            norms = _lengths(X.data, row_of, X.shape[0])
        factors = length / np.where(norms > 0, norms, 1.0)
        X.data *= factors.astype(X.dtype)[row_of]
        return X
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(X, axis=1)
    if _overflows(norms, X.any(axis=1)):
        X = X / _to_be_taken_out(norms, np.abs(X).max(axis=1, initial=0.0))[:, None]
        norms = np.linalg.norm(X, axis=1)
    return X * (length / np.where(norms > 0, norms, 1.0))[:, None]


def _lengths(values: np.ndarray, row_of: np.ndarray, n_rows: int) -> np.ndarray:
    with np.errstate(over="ignore"):
        squares = np.bincount(row_of, weights=values.astype(np.float64) ** 2, minlength=n_rows)
    return np.asarray(np.sqrt(squares))


def _overflows(norms: np.ndarray, has_values: np.ndarray) -> bool:
    """Whether squares of some rows, or what they are multiplied by, are out of range."""
    return bool(((norms < _PLAIN_LENGTHS[0]) | (norms > _PLAIN_LENGTHS[1]))[has_values].any())


def _to_be_taken_out(norms: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """What rows are divided by first: 1 but where their lengths are out of range."""
    is_plain = (norms >= _PLAIN_LENGTHS[0]) & (norms <= _PLAIN_LENGTHS[1])
    return np.where(is_plain | (largest == 0), 1.0, largest)
