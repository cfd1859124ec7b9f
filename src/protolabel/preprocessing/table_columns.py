"""Columns of a dense table, made even: outliers drawn in, and codes taken apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Values come no farther from the middle than so many spreads.
REACH = 3.0
# Far beyond that reach, and small enough to be squared.
_FARTHEST = 1e6
# A column of so few whole numbers may hold codes: each number gets a column of its own, too.
_MIN_CODES, _MAX_CODES = 3, 12
# A number that fewer rows have says more about them than about others.
_MIN_ROWS_OF_A_CODE = 2
# Where there are more, the whole numbers are counts.
_MAX_INDICATORS = 256
# Values that are made even at once: they stay in the cache.
_BLOCK_CELLS = 2**16


@dataclass(frozen=True)
class TableColumns:
    """How the columns of a table are made even.

    A value is measured from the median in units of the distance of the quartiles, z, and becomes
    ``z / sqrt(1 + (z / 3)**2)``: nearly linear in the middle, never beyond three. Columns of a
    few whole numbers, which may well be codes, are followed by an indicator for each number.

    Parameters
    ----------
    middle, spread : ndarray of shape (n_features,)
    code_feature, code : ndarray of shape (n_indicators,)
        Feature and value that each indicator stands for.

    Examples
    --------
    >>> import numpy as np
    >>> columns = TableColumns.of(np.array([[1.0], [2.0], [3.0], [1000.0]]))
    >>> columns.transform(np.array([[2.5], [1000.0]])).round(2).tolist()
    [[0.0], [2.4]]
    """

    middle: np.ndarray
    spread: np.ndarray
    code_feature: np.ndarray
    code: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> TableColumns:
        """Measure the columns of X."""
        lower, middle, upper = np.quantile(X, (0.25, 0.5, 0.75), axis=0).astype(np.float64)
        spread = upper - lower
        # Sums that should be equal differ in their last digits.
        rounding = 64 * np.finfo(X.dtype).eps * np.abs(middle)
        for feature in np.flatnonzero(spread <= rounding):
            # Most rows have one value: the others tell how far they are from it.
            others = np.abs(X[:, feature] - middle[feature])
            others = others[others > rounding[feature]]
            spread[feature] = np.median(others) if len(others) else 1.0
        whole = np.flatnonzero((np.rint(X) == X).all(axis=0))
        codes = [_codes(column) for column in X.T[whole]]
        if sum(map(len, codes)) > _MAX_INDICATORS:
            codes = [np.zeros(0)] * len(codes)
        code_feature = np.repeat(whole, [len(values) for values in codes])
        return cls(middle, spread, code_feature, np.concatenate([np.zeros(0), *codes]))

    @property
    def feature_of_column(self) -> np.ndarray:
        """Feature that each column of the result comes from, (n_columns,)."""
        return np.concatenate([np.arange(len(self.middle)), self.code_feature])

    def codes_of_features(self) -> list[tuple[int, np.ndarray]]:
        """Each feature that holds codes, and these."""
        features = np.unique(self.code_feature).tolist()
        return [(feature, self.code[self.code_feature == feature]) for feature in features]

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Rows with even columns, followed by the indicators."""
        n_features = X.shape[1]
        result = np.empty((X.shape[0], n_features + len(self.code)))
        step = max(1, _BLOCK_CELLS // n_features)
        for start in range(0, X.shape[0], step):
            rows, block = X[start : start + step], result[start : start + step]
            even = block[:, :n_features]
            with np.errstate(over="ignore"):
                np.subtract(rows, self.middle, out=even)
                even /= self.spread
            np.clip(even, -_FARTHEST, _FARTHEST, out=even)
            # In one array: new ones for each step take longer than the steps.
            length = np.multiply(even, 1 / REACH)
            np.square(length, out=length)
            length += 1
            even /= np.sqrt(length, out=length)
            if len(self.code):
                block[:, n_features:] = rows[:, self.code_feature] == self.code
        return result


def _codes(column: np.ndarray) -> np.ndarray:
    """Numbers that a column consists of, where they are few."""
    values, counts = np.unique(column, return_counts=True)
    if not _MIN_CODES <= len(values) <= _MAX_CODES:
        return np.zeros(0)
    return values[counts >= _MIN_ROWS_OF_A_CODE].astype(np.float64)
