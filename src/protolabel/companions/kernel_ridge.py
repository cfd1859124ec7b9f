"""Kernel ridge regression of the labels, chosen by its exact leave-one-out error.

Rows are compared with at most ``n_landmarks`` training rows by a kernel, in which columns count as
much as they matter (:mod:`protolabel.companions.relevance`): the Laplacian one of absolute
differences for dense rows, where it does not take too long, else the Gaussian one. With as many
landmarks as rows this is kernel ridge regression, with fewer its Nystroem approximation. For
both, the scores that each training row would get from a fit without it have a closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_choice import RIDGES, KernelChoice, best_of_grid, descend
from protolabel.companions.kernel_features import KernelFeatures, precision_of
from protolabel.companions.kernel_rows import KernelRows
from protolabel.companions.label_priors import label_shares
from protolabel.companions.relevance import ColumnWeights, column_weights
from protolabel.companions.row_distances import (
    Distance,
    distances_to,
    own_distances,
    own_kernel,
    row_kernel,
    small_parts_of,
    unit_of_precision,
    weighted_rows,
)
from protolabel.companions.sparse_rows import part_of
from protolabel.row_groups import Groups, groups_at
from protolabel.threads import threads_worth_rows

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Cells of landmarks whose absolute differences are summed for a row: .4 ms on one core.
_MAX_CELLS_OF_ABSOLUTE = 2**20
# Rows whose labels decided weights get scores by weights of others, which takes two regressions
# more: where they are most of the rows, or where their errors are smaller than those of the others
# by this share. Of many labels each decides too little for that.
_LARGEST_SHARE_OF_A_SAY = 0.5
_LARGEST_OPTIMISM = 0.1
# Regression values this close to 0 or 1 are as good as there: in standard deviations of a label,
# as the values of rare labels are all close to 0.
_SOFTNESS_IN_DEVIATIONS = 0.2
# Of models from before labels had their own.
_COMMON_SOFTNESS = 0.01


@dataclass(frozen=True)
class KernelRidge:
    """A fitted kernel regression of the labels.

    Parameters
    ----------
    landmarks : ndarray or CSR of shape (n_landmarks, n_features)
    precision : float
        Factor of the distance in the exponent of the kernel.
    ridge : float
    coefficients : ndarray of shape (n_landmarks, n_labels)
    intercept : ndarray of shape (n_labels,)
    softness : ndarray of shape (n_labels,), default=0.01
        Of the link from regression values to log-odds, see :func:`log_odds`.
    weights : ndarray of shape (n_features,) or None, default=None
        Of the columns in the distance of two rows; None counts all alike.
    distance : {"squared", "absolute"}, default="squared"
        Sum of squared differences of weighted rows, or of absolute ones.
    """

    landmarks: Matrix
    precision: float
    ridge: float
    coefficients: np.ndarray
    intercept: np.ndarray
    softness: np.ndarray | float = _COMMON_SOFTNESS
    weights: np.ndarray | None = None
    distance: Distance = "squared"

    def scores(self, X: Matrix) -> np.ndarray:
        """Log-odds of every label, (n_samples, n_labels)."""
        scores = self.regression(X)
        for part in small_parts_of(*scores.shape):
            scores[part] = log_odds(scores[part], self.softness)
        return scores

    def regression(self, X: Matrix) -> np.ndarray:
        """Regression values of every label; near 1 where it is present, near 0 where not."""
        values = np.empty((X.shape[0], len(self.intercept)))
        for part in small_parts_of(X.shape[0], self.landmarks.shape[0]):
            values[part] = self.kernel(part_of(X, part)) @ self.coefficients + self.intercept
        return values

    def kernel(self, X: Matrix) -> np.ndarray:
        """Closeness of every row to every landmark, (n_samples, n_landmarks)."""
        distances = self._distances(X)
        np.exp(np.multiply(distances, -self.precision, out=distances), out=distances)
        return distances

    @property
    def column_factors(self) -> np.ndarray:
        """Factor of each column in the distance."""
        if self.weights is None:
            return np.ones(self.landmarks.shape[1])
        squared = self.distance == "squared"
        return np.asarray(np.square(self.weights) if squared else self.weights)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _distances(self) -> Callable[[Matrix], np.ndarray]:
        """What tells the distances of rows to the landmarks."""
        return distances_to(self.landmarks, self.distance, self.weights, for_many=True)


def fit_kernel_ridge(
    X: Matrix,
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    n_landmarks: int = 2000,
    groups: Groups = None,
) -> tuple[KernelRidge, np.ndarray]:
    """Fit a kernel regression and the log-odds each row gets from a fit without it.

    Precision and ridge are those with the smallest squared leave-one-out error on the rows that
    decide them: 1000 for the precision, and all for the ridge, or 3000 where all are landmarks.
    Columns are weighted by what they matter, where that helps. Distances are absolute for dense
    rows, unless landmarks times features are more than a million, and squared for all others.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Scaled rows.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
        Draws landmarks and the rows that decide precision and ridge.
    n_landmarks : int, default=2000
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.

    Returns
    -------
    model : KernelRidge
    scores : ndarray of shape (n_samples, n_labels)
        Log-odds from the fit without the row, and without its group.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> model, scores = fit_kernel_ridge(X, sp.csr_array((X > 0).astype(int)), rng)
    >>> float(((scores > 0) == (X > 0)).mean()) > 0.9
    True
    """
    rows = KernelRows.drawn(X.shape[0], n_landmarks, rng, groups)
    return fit_to_rows(X, Y, rows, groups)


def fit_to_rows(
    X: Matrix, Y: sp.csr_array, rows: KernelRows, groups: Groups = None
) -> tuple[KernelRidge, np.ndarray]:
    """:func:`fit_kernel_ridge` with rows that were drawn before."""
    with threads_worth_rows(len(rows.used)):
        if len(rows.others) == 0:
            return _fit(X, Y, rows, groups)
        of_used = X[rows.used], Y[rows.used], rows, groups_at(groups, rows.used)
        model, scores_of_used = _fit(*of_used)
    # The others only score: their labels are not needed, and their scores are honest.
    scores = np.empty(Y.shape)
    scores[rows.used] = scores_of_used
    scores[rows.others] = model.scores(X[rows.others])
    return model, scores


def _fit(
    X: Matrix, Y: sp.csr_array, rows: KernelRows, groups: Groups
) -> tuple[KernelRidge, np.ndarray]:
    targets = Y.toarray().astype(np.float64)
    places = rows.landmarks
    # Precisions are chosen by distances of all pairs of some rows, however few the landmarks.
    n_compared = max(len(places), len(rows.for_precision))
    is_absolute = not sp.issparse(X) and n_compared * X.shape[1] <= _MAX_CELLS_OF_ABSOLUTE
    distance: Distance = "absolute" if is_absolute else "squared"
    with threads_worth_rows(len(rows.for_precision)):
        precision, choice = _choose(X, targets, rows, groups, distance)
        found = column_weights(X, targets, choice, rows.stream, groups)
        weights = None if found is None else found.weights
        used = X
        if weights is not None:
            used = weighted_rows(X, weights)
            precision, choice = _choose(used, targets, rows, groups, distance)
    if len(places) < X.shape[0]:
        regression = _regression(used, places, precision, targets, groups, distance)
        ridge = min(RIDGES, key=regression.error)
    else:
        some = rows.for_ridge
        kernel = own_kernel(used[some], precision, precision_of(len(some)), distance)
        regression = ExactKernel(kernel, targets[some], groups_at(groups, some))
        ridge = descend(regression.error, RIDGES, start=RIDGES.index(choice.ridge))
        if len(some) < X.shape[0]:
            regression = _regression(used, places, precision, targets, groups, distance)
    coefficients, intercept = regression.solve(ridge)
    shares = label_shares(Y)
    softness = _SOFTNESS_IN_DEVIATIONS * np.sqrt(shares * (1 - shares))
    model = KernelRidge(
        X[places], precision, ridge, coefficients, intercept, softness, weights, distance
    )
    values = regression.leave_one_out(ridge).astype(np.float64)
    if found is not None and _fits_its_own(np.square(values - targets), found):
        for had_say, of_others in found.by_others:
            weighted = weighted_rows(X, of_others)
            unseen = _at_choice(weighted, places, choice, targets, groups)
            values[had_say] = unseen.leave_one_out(ridge)[had_say]
    return model, log_odds(values, softness)


def _fits_its_own(errors: np.ndarray, found: ColumnWeights) -> bool:
    """Whether rows that had a say in the weights have smaller errors than new rows would."""
    had_say = np.zeros(len(errors), dtype=bool)
    for rows, _ in found.by_others:
        had_say[rows] = True
    if had_say.mean() > _LARGEST_SHARE_OF_A_SAY:
        return True  # Too few others to compare them with.
    return bool(errors[had_say].mean() < (1 - _LARGEST_OPTIMISM) * errors[~had_say].mean())


def _choose(
    X: Matrix, targets: np.ndarray, rows: KernelRows, groups: Groups, distance: Distance
) -> tuple[float, KernelChoice]:
    """The precision and ridge of the smallest error on some rows."""
    some = X[rows.for_distance]
    unit = unit_of_precision(some, own_distances(some, distance=distance), distance)
    deciding = rows.for_precision
    distances = own_distances(X[deciding], distance=distance)
    some_groups = groups_at(groups, deciding)
    choice = best_of_grid(distances, targets[deciding], unit, some_groups, distance)
    return unit * choice.factor, choice


def log_odds(values: np.ndarray, softness: np.ndarray | float) -> np.ndarray:
    """Strictly increasing link from regression values to log-odds.

    Values below 0 and above 1, which a regression gives, keep their order; the smooth positive
    part (v + sqrt(v^2 + 4 softness^2)) / 2 lets them grow slowly.

    Examples
    --------
    >>> log_odds(np.array([0.5]), 0.01).tolist()
    [0.0]
    """
    # In one array, as the steps of a single row are short.
    present, absent = _positive_part(np.array([values, 1 - values]), softness)
    return np.asarray(np.log(present / absent))


def _regression(
    X: Matrix,
    places: np.ndarray,
    precision: float,
    targets: np.ndarray,
    groups: Groups,
    distance: Distance,
) -> ExactKernel | KernelFeatures:
    """The regression on the kernel with some of the rows, or with all of them for one ridge."""
    if len(places) == X.shape[0]:
        kernel = own_kernel(X, precision, precision_of(X.shape[0]), distance)
        return ExactKernel(kernel, targets, groups, of_one_ridge=True)
    landmarks = X[places]
    return KernelFeatures.of(
        row_kernel(X, landmarks, precision, precision_of(X.shape[0]), distance),
        row_kernel(landmarks, landmarks, precision, distance=distance),
        targets,
        groups,
    )


def _at_choice(
    X: Matrix, places: np.ndarray, choice: KernelChoice, targets: np.ndarray, groups: Groups
) -> ExactKernel | KernelFeatures:
    """The same with a precision in units of the distances of the rows."""
    unit = unit_of_precision(X, own_distances(X, distance=choice.distance), choice.distance)
    return _regression(X, places, choice.factor * unit, targets, groups, choice.distance)


def _positive_part(values: np.ndarray, softness: np.ndarray | float) -> np.ndarray:
    square = np.square(softness)
    roots = np.sqrt(np.square(values) + 4 * square)
    # For negative values the sum would cancel; its conjugate does not.
    conjugate = 2 * square / (roots + np.abs(values))
    return np.asarray(np.where(values > 0, (values + roots) / 2, conjugate))
