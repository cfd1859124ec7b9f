"""A small change of few features after which the model decides otherwise.

Candidates are other values of single features, and other words of a column of words. While no
single change turns the decision, the one that brings it nearest is kept and the search goes on from
there; then needless changes are taken back and the rest is shrunk by a line search. Every step asks
the model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from protolabel.inspection.explanation import Change, Flip
from protolabel.preprocessing.two_values import two_values_of_rows, two_values_of_scaler

Score = Callable[[np.ndarray], np.ndarray]  # raw rows (n, n_features) to numbers (n,)

# Beyond the threshold by this much, so that rounding in another batch cannot turn it back.
_MARGIN = 1e-3
_N_FACTORS = 32
_DIGITS = (2, 3, 4, 6)


@dataclass(frozen=True)
class ValueRange:
    """Values that a feature may be given.

    Parameters
    ----------
    values : ndarray of shape (n_values, n_features)
        Candidates of each feature; NaN for none.
    unit : ndarray of shape (n_features,)
        What a change of each feature is measured in.
    is_divisible : ndarray of bool, shape (n_features,)
        Whether values in between make sense.
    column : ndarray of int, shape (n_features,)
        Features of the words of one column have one number, all others one each.
    """

    values: np.ndarray
    unit: np.ndarray
    is_divisible: np.ndarray
    column: np.ndarray


def value_range(
    row: np.ndarray,
    scaler: Any,
    *,
    is_sparse: bool,
    training_rows: Any,
    words: Sequence[Sequence[int]] = (),
) -> ValueRange:
    """Candidate values from training rows, from the scaling, or from the row itself.

    A feature that has two values in the training rows may only have the other one.

    Parameters
    ----------
    row : ndarray of shape (n_features,)
        Raw features.
    scaler : FeatureScaler
        Of the fitted model.
    is_sparse : bool
        A sparse feature can be removed, doubled, or set to the median of the others.
    training_rows : ndarray, CSR or None
        Raw rows; dense ones give quantiles of each feature.
    words : sequence of sequence of int, default=()
        Features that are the words of one column.
    """
    two_values = np.full((2, len(row)), np.nan)
    if training_rows is not None:
        two_values = two_values_of_rows(training_rows)
    elif scaler.is_by_column:
        two_values = two_values_of_scaler(scaler)
    column = np.arange(len(row))
    for features in words:
        two_values[:, features] = [[0.0], [1.0]]
        column[list(features)] = min(features)
    values, unit, is_divisible = _any_values(row, scaler, is_sparse, training_rows)
    has_two = ~np.isnan(two_values[0])
    values[:, has_two] = np.nan
    values[:2, has_two] = two_values[:, has_two]
    return ValueRange(values, unit, is_divisible & ~has_two, column)


def _any_values(
    row: np.ndarray, scaler: Any, is_sparse: bool, training_rows: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, units and divisibility, of columns that may have more than two values."""
    if not scaler.is_by_column or (is_sparse and scaler.columns_ is None):
        present = row[row != 0]
        typical = float(np.median(present)) if len(present) else 1.0
        values = np.stack([np.where(row != 0, 0.0, typical), np.where(row != 0, 2 * row, np.nan)])
        return values, np.ones(len(row)), np.zeros(len(row), dtype=bool)
    middle, deviation = scaler.middle_and_spread
    if training_rows is not None and not sp.issparse(training_rows):
        values = np.quantile(training_rows, (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1), axis=0)
    else:
        values = middle + np.arange(-3, 3.5, 0.5)[:, None] * deviation
    is_divisible = np.ones(len(row), dtype=bool)
    for feature, codes in scaler.columns_.codes_of_features() if scaler.columns_ else ():
        missing = max(len(codes) - len(values), 0)
        values = np.pad(values, ((0, missing), (0, 0)), constant_values=np.nan)
        values[:, feature] = np.nan
        values[: len(codes), feature] = codes
        is_divisible[feature] = False
    return values, deviation, is_divisible


def find_flip(
    score: Score,
    margin: Score,
    row: np.ndarray,
    allowed: ValueRange,
    features: np.ndarray,
    names: Callable[[int], str],
    max_changes: int,
) -> Flip | None:
    """Search for changes that bring the log-odds to the other side of what they have to exceed.

    Parameters
    ----------
    score : callable
        Log-odds of the label for raw rows.
    margin : callable
        How far these are above what they have to exceed in each row.
    row : ndarray of shape (n_features,)
        The row as it is.
    allowed : ValueRange
    features : ndarray of int
        Features that may be changed.
    names : callable
        Name of a feature.
    max_changes : int
        Largest number of changed features; words of one column are one.

    Returns
    -------
    Flip or None
        None where the search found nothing.
    """
    direction = -1.0 if margin(row[None])[0] > 0 else 1.0

    def beyond(rows: np.ndarray) -> np.ndarray:
        return np.asarray(direction * margin(rows) - _MARGIN)

    changed = _search(beyond, row, allowed, features, max_changes)
    if changed is None:
        return None
    changed = _without_needless(beyond, row, changed, allowed.column)
    if allowed.is_divisible.any():
        changed = _shrunk(beyond, row, changed, allowed.is_divisible)
        changed = _rounded(beyond, row, changed, allowed.is_divisible)
    log_odds = float(score(changed[None])[0])
    where = np.flatnonzero(changed != row)
    where = where[np.argsort(-np.abs((changed - row) / allowed.unit)[where], kind="stable")]
    changes = tuple(Change(int(f), names(int(f)), float(row[f]), float(changed[f])) for f in where)
    return Flip(changes, log_odds, float(expit(log_odds)))


def _search(
    beyond: Score,
    row: np.ndarray,
    allowed: ValueRange,
    features: np.ndarray,
    max_changes: int,
) -> np.ndarray | None:
    current, reached, left = row, float(beyond(row[None])[0]), features
    for _ in range(max_changes):
        rows, column = _candidates(current, allowed, left)
        if len(rows) == 0:
            return None
        gains = beyond(rows)
        turning = rows[gains > 0]
        if len(turning):
            sizes = np.abs((turning - current) / allowed.unit).sum(axis=1)
            return np.asarray(turning[np.argmin(sizes)])
        best = int(np.argmax(gains))
        if gains[best] <= reached:
            return None
        current, reached = rows[best], float(gains[best])
        left = left[allowed.column[left] != column[best]]
    return None


def _candidates(
    current: np.ndarray, allowed: ValueRange, features: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rows with one change each, and the column that it is in."""
    is_word = np.bincount(allowed.column)[allowed.column] > 1
    single = features[~is_word[features]]
    value, place = np.nonzero(~np.isnan(allowed.values[:, single]))
    feature = single[place]
    rows = np.repeat(current[None], len(feature), axis=0)
    rows[np.arange(len(feature)), feature] = allowed.values[value, feature]
    columns = np.unique(allowed.column[features[is_word[features]]])
    # One word takes the place of another.
    words = np.flatnonzero(np.isin(allowed.column, columns) & (current != 1))
    other = np.repeat(current[None], len(words), axis=0)
    other[allowed.column == allowed.column[words][:, None]] = 0.0
    other[np.arange(len(words)), words] = 1.0
    return np.concatenate([rows, other]), allowed.column[np.concatenate([feature, words])]


def _without_needless(
    beyond: Score, row: np.ndarray, changed: np.ndarray, column: np.ndarray
) -> np.ndarray:
    for number in np.unique(column[changed != row]):
        without = np.where(column == number, row, changed)
        if (without != row).any() and beyond(without[None])[0] > 0:
            changed = without
    return changed


def _shrunk(
    beyond: Score, row: np.ndarray, changed: np.ndarray, is_divisible: np.ndarray
) -> np.ndarray:
    """The smallest share of the change that turns the decision, to a thousandth."""
    start = np.where(is_divisible, row, changed)
    low, high = 0.0, 1.0
    for _ in range(2):
        factors = np.linspace(low, high, _N_FACTORS + 1)[1:]
        rows = start + factors[:, None] * (changed - start)
        # The last one is known to turn it, whatever rounding makes of it.
        turning = np.flatnonzero(beyond(rows[:-1]) > 0)
        first = int(turning[0]) if len(turning) else _N_FACTORS - 1
        low, high = (factors[first - 1] if first else low), factors[first]
    return changed if high == 1.0 else np.asarray(start + high * (changed - start))


def _rounded(
    beyond: Score, row: np.ndarray, changed: np.ndarray, is_divisible: np.ndarray
) -> np.ndarray:
    """Values with few digits where they do as well."""
    for digits in _DIGITS:
        short = changed.copy()
        for feature in np.flatnonzero((changed != row) & is_divisible):
            short[feature] = float(f"{changed[feature]:.{digits}g}")
        if beyond(short[None])[0] > 0:
            return short
    return changed
