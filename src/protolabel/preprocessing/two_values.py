"""Columns that have only two values, found in rows or in what a scaling has measured of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.table_columns import REACH

# Mean and variance are sums over all rows, with their rounding.
_TOLERANCE = 1e-6
# Where the values of a column of two mostly lie, in spreads from its middle.
_PLACES = ((0.0, 1.0), (-1.0, 0.0), (-0.5, 0.5))


def two_values_of_rows(rows: Any) -> NDArray[np.float64]:
    """Both values of each column of rows that has two, NaN for every other column.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (2, n_features)
        The lower value of each column, then the upper one.

    Examples
    --------
    >>> two_values_of_rows(np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 3.0]])).tolist()
    [[0.0, nan], [1.0, nan]]
    """
    lowest, highest = (_dense(rows.min(axis=0)), _dense(rows.max(axis=0)))
    if sp.issparse(rows):
        column = rows.indices
        is_between = (rows.data != lowest[column]) & (rows.data != highest[column])
        # Cells that are not stored are zeros, and lie between others of both signs.
        odd = np.bincount(column, weights=is_between & (rows.data != 0), minlength=len(lowest)) > 0
        odd |= (lowest < 0) & (highest > 0) & (rows.count_nonzero(axis=0) < rows.shape[0])
    else:
        odd = ((rows != lowest) & (rows != highest)).any(axis=0)
    return _where(~odd & (lowest < highest), lowest, highest)


def two_values_of_scaler(scaler: FeatureScaler) -> NDArray[np.float64]:
    """The same from mean and variance, which only two values can have.

    Of all columns with the same mean between two values, those that have no others vary most, if
    none lie outside; and outside, whole numbers only vary more.

    Parameters
    ----------
    scaler : FeatureScaler
        Fitted, with a rule by columns. Values other than 0 and 1 are found by ``"tabular"``.

    Returns
    -------
    ndarray of shape (2, n_features)

    Examples
    --------
    >>> X = np.array([[0.0, 5.0, 0.5], [1.0, 5.0, 1.0], [0.0, 7.0, 0.0], [0.0, 7.0, 0.1]])
    >>> two_values_of_scaler(FeatureScaler("tabular").fit(X)).tolist()
    [[0.0, 5.0, nan], [1.0, 7.0, nan]]
    """
    columns = scaler.columns_
    n_features = scaler.n_columns if columns is None else len(columns.middle)
    mean, variance = scaler.offset_[:n_features], scaler.weight_[:n_features] ** -2.0
    if columns is None:
        is_found = _have_only(mean, variance, 0.0, 1.0)
        return _where(is_found, np.zeros(n_features), np.ones(n_features))
    found = np.full((2, n_features), np.nan)
    middle, spread = columns.middle, columns.spread
    places = [(middle + low * spread, middle + high * spread) for low, high in _PLACES]
    for lower, upper in [*places, (np.zeros(n_features), np.ones(n_features))]:
        even = (_even((values - middle) / spread) for values in (lower, upper))
        is_found = _have_only(mean, variance, *even)
        found[:, is_found] = np.stack([lower, upper])[:, is_found]
    return found


def _have_only(
    mean: NDArray[np.float64], variance: NDArray[np.float64], low: Any, high: Any
) -> NDArray[np.bool_]:
    """Whether mean and variance are those of a column of two values."""
    expected = (mean - low) * (high - mean)
    return np.asarray((expected > 0) & (np.abs(variance - expected) <= _TOLERANCE * expected))


def _even(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a table makes of a distance from the middle."""
    return np.asarray(distance / np.sqrt(1 + np.square(distance / REACH)))


def _where(
    is_found: NDArray[np.bool_], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.where(is_found, np.stack([lower, upper]), np.nan)


def _dense(values: Any) -> NDArray[np.float64]:
    return np.asarray(values.toarray() if sp.issparse(values) else values, np.float64).ravel()
