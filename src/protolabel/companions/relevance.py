"""How much each column matters to a kernel regression of the labels.

A column along which the regression is steep tells labels apart, one along which it is flat only
blurs the distances of rows. So a regression is fitted, and every column counts in the distance by
the mean squared slope along it, over rows and labels: the diagonal of the average gradient outer
product by which Radhakrishnan, Beaglehole, Pandit and Belkin (2024) make kernels learn features.
Weights, by which columns are multiplied, are its root where distances are squared.

Such weights follow the noise of few rows as well. They are kept only where weights from one half
of the rows clearly lower the error of a regression on the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_choice import RIDGES, KernelChoice, descend, regression_of
from protolabel.companions.row_distances import (
    Distance,
    own_distances,
    unit_of_precision,
    weighted_rows,
)
from protolabel.companions.sparse_rows import are_filled
from protolabel.row_groups import Groups, groups_at, shuffled_rows

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_ROWS_OF_A_HALF = 1000
# With fewer rows neither the weights nor their judgement can be trusted.
_FEWEST_ROWS = 100
# Share of the error that weights have to save: smaller savings did not last among other learners.
_SMALLEST_GAIN = 0.02
# No column is left out altogether: where it is flat need not be where new rows are.
_SMALLEST_WEIGHT = 1e-4
# Fewer sparse rows that have a column do not tell its slope.
_FEWEST_ROWS_OF_A_COLUMN = 10
# Places at which slopes are taken, fewer in wide tables, and mixtures of labels of which they are.
_MOST_POINTS = 300
_FEWEST_POINTS = 20
_SLOPES = 50_000_000
_MIXTURES = 16
# Slopes held at a time.
_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True)
class ColumnWeights:
    """Weights of the columns, the largest of which is 1.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
    by_others : tuple of (ndarray of int, ndarray of shape (n_features,))
        Some rows, and weights from rows that are not among them.
    """

    weights: np.ndarray
    by_others: tuple[tuple[np.ndarray, np.ndarray], ...]


def column_weights(
    X: Matrix,
    targets: np.ndarray,
    choice: KernelChoice,
    rng: np.random.Generator,
    groups: Groups = None,
) -> ColumnWeights | None:
    """Weights of the columns, or None where a regression is as good without them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Scaled rows.
    targets : ndarray of shape (n_samples, n_labels)
    choice : KernelChoice
        Distance, precision and ridge that suit unweighted rows.
    rng : numpy Generator
        Draws the rows, the places of the slopes and the mixtures of labels.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.

    Returns
    -------
    ColumnWeights or None
        Weights by others for every row that had a say.
    """
    if X.shape[0] < _FEWEST_ROWS:
        return None
    order = shuffled_rows(X.shape[0], groups, rng)[: 2 * _ROWS_OF_A_HALF]
    halves = _halves(order, groups)
    if min(len(rows) for rows in halves) < _FEWEST_ROWS // 2:
        return None
    plain, weighted, slopes, by_others = 0.0, 0.0, [], []
    for rows, others in (halves, halves[::-1]):
        regression, ridge = _fit(X[rows], targets[rows], choice, groups_at(groups, rows))
        coefficients, _ = regression.solve(ridge)
        found = _slopes_of_known_columns(
            X[rows], regression.kernel, coefficients, rng, choice.distance
        )
        slopes.append(found)
        plain += regression.error(ridge)
        by_others.append((others, _as_weights(found, X[rows], choice.distance)))
        judged = weighted_rows(X[others], by_others[-1][1])
        regression, ridge = _fit(judged, targets[others], choice, groups_at(groups, others))
        weighted += regression.error(ridge)
    if not weighted < (1 - _SMALLEST_GAIN) * plain:
        return None
    weights = _as_weights(_mean_of_known(slopes), X[order], choice.distance)
    return ColumnWeights(weights, tuple(by_others))


def squared_slopes(
    X: Matrix,
    kernel: np.ndarray,
    coefficients: np.ndarray,
    rng: np.random.Generator,
    distance: Distance = "squared",
) -> np.ndarray:
    """Squared slopes of a regression along each column, up to a factor.

    At x the slope along column d is proportional to sum_i c_i k(x, x_i) (x_d - x_id), or with the
    sign of that difference where distances are absolute. Its square is summed over the labels, or
    over random mixtures of them where there are many, which have the same expectation.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows of the regression.
    kernel : ndarray of shape (n_samples, n_samples)
    coefficients : ndarray of shape (n_samples, n_labels)
    rng : numpy Generator
        Draws the places, among the rows, and the mixtures.
    distance : {"squared", "absolute"}, default="squared"
        What the kernel is of; only squared ones are those of sparse rows.
    """
    n_rows, n_columns = X.shape
    if coefficients.shape[1] > _MIXTURES:
        signs = rng.choice([-1.0, 1.0], size=(coefficients.shape[1], _MIXTURES))
        coefficients = coefficients @ signs
    n_mixtures = coefficients.shape[1]
    n_points = _SLOPES // max(1, n_columns * n_mixtures)
    n_points = max(_FEWEST_POINTS, min(_MOST_POINTS, n_points))
    points = rng.permutation(n_rows)[:n_points]
    total = np.zeros(n_columns)
    if distance == "absolute":
        for point in points:
            says = kernel[point, :, None] * coefficients
            total += np.square(says.T @ np.sign(X[point] - X)).sum(axis=0)
        return total
    # In the precision of the regression, whose range squares of large numbers would leave.
    values = (coefficients, X.data if sp.issparse(X) else X)
    sizes = [max(float(np.abs(part).max(initial=0.0)), 1e-100) for part in values]
    coefficients = (coefficients / sizes[0]).astype(kernel.dtype)
    turned = X.T / sizes[1]
    if sp.issparse(X):
        turned = turned.toarray() if are_filled(X) else turned.tocsr()
    turned = turned.astype(kernel.dtype)
    step = max(1, _CHUNK_CELLS // max(1, n_mixtures * max(n_columns, n_rows)))
    for start in range(0, len(points), step):
        part = points[start : start + step]
        # (n_rows, n_points, n_mixtures): how much each row has to say at each place.
        says = kernel[:, part, None] * coefficients[:, None, :]
        towards = np.asarray(turned @ says.reshape(n_rows, -1))
        towards = towards.reshape(n_columns, len(part), n_mixtures)
        here = turned[:, part]
        here = here.toarray() if sp.issparse(here) else here
        slopes = here[:, :, None] * says.sum(axis=0) - towards
        total += np.square(slopes, out=slopes).sum(axis=(1, 2), dtype=np.float64)
    return total * (sizes[0] * sizes[1]) ** 2


def _halves(order: np.ndarray, groups: Groups) -> list[np.ndarray]:
    """Two halves of shuffled rows; those of a group are all in one of them."""
    middle = -(-len(order) // 2)
    if groups is not None:
        ends = np.flatnonzero(np.diff(groups[order])) + 1
        middle = ends[np.abs(ends - middle).argmin()] if len(ends) else len(order)
    return [np.sort(order[:middle]), np.sort(order[middle:])]


def _fit(
    X: Matrix, targets: np.ndarray, choice: KernelChoice, groups: Groups
) -> tuple[ExactKernel, float]:
    """The regression of the same precision, and its ridge of the smallest error."""
    distances = own_distances(X, distance=choice.distance)
    precision = choice.factor * unit_of_precision(X, distances, choice.distance)
    regression = regression_of(distances, targets, precision, groups)
    return regression, descend(regression.error, RIDGES, start=RIDGES.index(choice.ridge))


def _slopes_of_known_columns(
    X: Matrix,
    kernel: np.ndarray,
    coefficients: np.ndarray,
    rng: np.random.Generator,
    distance: Distance,
) -> np.ndarray:
    """Squared slopes that add up to 1; NaN for columns that few sparse rows have."""
    known = np.arange(X.shape[1])
    if sp.issparse(X):
        known = np.flatnonzero(np.bincount(X.indices) >= _FEWEST_ROWS_OF_A_COLUMN)
    found = np.full(X.shape[1], np.nan)
    slopes = squared_slopes(X[:, known], kernel, coefficients, rng, distance)
    found[known] = slopes / max(slopes.sum(), 1e-300)
    return found


def _mean_of_known(slopes: Sequence[np.ndarray]) -> np.ndarray:
    """Mean of those that are not NaN, of each column."""
    n_known = np.sum([~np.isnan(found) for found in slopes], axis=0)
    total = np.nansum(slopes, axis=0)
    return np.where(n_known > 0, total / np.maximum(n_known, 1), np.nan)


def _as_weights(slopes: np.ndarray, X: Matrix, distance: Distance) -> np.ndarray:
    """Weights from squared slopes on some rows, the largest 1.

    Columns without a slope get the weight that leaves their share of the rows' lengths as it is.
    """
    known = ~np.isnan(slopes)
    largest = slopes[known].max(initial=0.0)
    if not largest > 0:
        return np.ones_like(slopes)
    if distance == "absolute":
        return np.asarray(np.maximum(slopes / largest, _SMALLEST_WEIGHT))
    squares = np.maximum(slopes / largest, _SMALLEST_WEIGHT**2)
    if not known.all():
        lengths = np.bincount(X.indices, np.square(X.data), minlength=X.shape[1])
        squares[~known] = np.average(squares[known], weights=lengths[known])
    return np.asarray(np.sqrt(squares))
