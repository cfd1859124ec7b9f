"""Maps from scores to probabilities, one per label, drawn towards a common one for rare labels.

Three families of rising maps: Platt's sigmoid (two parameters), beta calibration (three) and
isotonic regression (free). A rare label has too few positives for a map of its own, so its
probability is mixed with that of the map fitted on the cells of all labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import isotonic_regression

from protolabel.decision._scores import (
    as_label_matrix,
    as_score_matrix,
    keep_finite,
    keep_off_the_ends,
)

CalibrationMethod: TypeAlias = Literal["sigmoid", "isotonic", "beta"]
METHODS = ("sigmoid", "isotonic", "beta")
MAX_POOLED_CELLS = 500_000
# Two numbers need fewer.
_CELLS_OF_A_LINE = 50_000
# Infinite scores are as good as this one, of which slopes do not overflow.
_LARGEST_SCORE = 1e100
# A score of so many times the size that one in a thousand exceeds is taken for one of that.
_FAR_OUT, _EXCEEDED_BY = 10, 1e-3
# A line that moves the log-odds by less than this over all scores tells nothing.
_SMALLEST_SPREAD = 1e-6


class CalibrationMap(Protocol):
    """A rising function from scores to probabilities."""

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability at each score."""
        ...


@dataclass(frozen=True)
class SigmoidMap:
    """Platt's map ``sigmoid(slope * score + intercept)``."""

    slope: float
    intercept: float

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability at each score."""
        probabilities: NDArray[np.float64] = expit(self.slope * scores + self.intercept)
        return probabilities


@dataclass(frozen=True)
class BetaMap:
    """The beta map ``sigmoid(a log q - b log(1 - q) + c)`` with ``q = sigmoid(score)``.

    ``a = b = 1, c = 0`` changes nothing: unlike the sigmoid family, it contains the identity.
    """

    a: float
    b: float
    c: float

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability at each score."""
        log_q, minus_log_rest = _beta_features(scores)
        probabilities: NDArray[np.float64] = expit(
            self.a * log_q + self.b * minus_log_rest + self.c
        )
        return probabilities


@dataclass(frozen=True)
class IsotonicMap:
    """A rising map through the points of isotonic regression, straight between them."""

    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def __call__(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability at each score, constant outside the scores seen."""
        return np.interp(scores, self.scores, self.probabilities)


@dataclass(frozen=True)
class LabelCalibration:
    """Calibration of a whole score matrix.

    Parameters
    ----------
    maps : tuple of CalibrationMap
        Map of each label.
    common : CalibrationMap
        Map fitted on the cells of all labels.
    weights : ndarray of shape (n_labels,)
        How much of a label's own map counts.
    """

    maps: tuple[CalibrationMap, ...]
    common: CalibrationMap
    weights: NDArray[np.float64]

    def probabilities(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Turn scores into probabilities.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
            Scores of the kind the calibration was fitted on.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Between 0 and 1, rising with the scores of a label.
        """
        # A score must not depend on what else is scored with it.
        matrix = np.clip(as_score_matrix(scores), -_LARGEST_SCORE, _LARGEST_SCORE)
        if matrix.shape[1] != len(self.maps):
            raise ValueError(
                f"scores has {matrix.shape[1]} labels but the calibration was fitted on "
                f"{len(self.maps)}."
            )
        own = np.column_stack(
            [label_map(matrix[:, label]) for label, label_map in enumerate(self.maps)]
        )
        mixed = self.weights * own + (1 - self.weights) * self.common(matrix)
        return keep_off_the_ends(mixed)


def fit_calibration(
    scores: ArrayLike, Y: Any, *, method: str = "sigmoid", shrinkage: float = 20.0
) -> LabelCalibration:
    """Fit a map per label and one for all labels.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Logits or other scores of rows that the scoring model was not trained on.
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels of the same rows.
    method : {"sigmoid", "isotonic", "beta"}, default="sigmoid"
        Family of maps.
    shrinkage : float, default=20.0
        A label whose rarer side has n rows gets ``n / (n + shrinkage)`` of its probability from
        its own map and the rest from the common one; 0 turns this off for labels that have both
        sides.

    Returns
    -------
    LabelCalibration
        Call its ``probabilities`` with new scores.

    References
    ----------
    Platt (1999), probabilistic outputs for support vector machines; Kull, Silva Filho, Flach
    (AISTATS 2017), beta calibration.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.decision.calibration import fit_calibration
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(500, 2))
    >>> Y = (rng.random((500, 2)) < 1 / (1 + np.exp(-2 * scores))).astype(int)
    >>> calibration = fit_calibration(scores, Y)
    >>> bool(calibration.maps[0].slope > 1.5)
    True
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(METHODS)}.")
    if shrinkage < 0:
        raise ValueError(f"shrinkage is {shrinkage}, expected at least 0.")
    matrix = keep_finite(as_score_matrix(scores))
    truth = as_label_matrix(Y, matrix.shape).toarray() != 0
    n_positive = truth.sum(axis=0)
    n_rarer = np.minimum(n_positive, truth.shape[0] - n_positive)
    common = _fit_common(matrix, truth, method)
    maps = tuple(
        fit_map(matrix[:, label], truth[:, label], method) if n_rarer[label] else common
        for label in range(truth.shape[1])
    )
    weights = n_rarer / np.maximum(n_rarer + shrinkage, 1)
    return LabelCalibration(maps, common, weights)


def fit_map(scores: NDArray[np.float64], truth: NDArray[np.bool_], method: str) -> CalibrationMap:
    """Fit one map to the scores of one label.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Finite scores.
    truth : ndarray of bool, shape (n_samples,)
        Whether the row has the label.
    method : {"sigmoid", "isotonic", "beta"}
        Family of the map.

    Returns
    -------
    CalibrationMap
        The fitted map.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.decision.calibration import fit_map
    >>> fitted = fit_map(np.array([0.0, 1.0, 2.0]), np.array([False, True, True]), "isotonic")
    >>> fitted(np.array([-1.0, 0.5, 3.0]))
    array([0. , 0.5, 1. ])
    """
    if method == "isotonic":
        knots, position = np.unique(scores, return_inverse=True)
        counts = np.bincount(position)
        means = np.bincount(position, truth) / counts
        return IsotonicMap(knots, isotonic_regression(means, sample_weight=counts))
    # Targets kept off 0 and 1 as if one more row of each side had been seen (Platt).
    n_positive = int(truth.sum())
    n_negative = truth.size - n_positive
    targets = np.where(truth, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scores = _without_far_out(scores)
    if method == "sigmoid":
        slope, intercept = _fit_logistic(scores[:, None], targets)
        return SigmoidMap(slope, intercept)
    a, b, c = _fit_logistic(np.column_stack(_beta_features(scores)), targets)
    return BetaMap(a, b, c)


def fit_common_line(scores: NDArray[np.float64], truth: Any) -> SigmoidMap:
    """Fit one slope and intercept to the log-odds of all labels.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Finite scores.
    truth : sparse CSR array of shape (n_samples, n_labels)
        0/1 labels.

    Returns
    -------
    SigmoidMap
        With a slope above 0; scores that tell nothing are left as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> scores = np.array([[0.0, 10.0], [-10.0, 0.0], [10.0, -10.0]])
    >>> line = fit_common_line(scores, sparse.csr_array([[0, 1], [0, 1], [1, 0]]))
    >>> bool(0 < line.slope < 1)
    True
    """
    line = _fit_common(scores, truth.toarray() != 0, "sigmoid", _CELLS_OF_A_LINE)
    assert isinstance(line, SigmoidMap)
    spread = line.slope * (scores.max() - scores.min())
    return line if spread > _SMALLEST_SPREAD else SigmoidMap(1.0, 0.0)


def _fit_common(
    scores: NDArray[np.float64],
    truth: NDArray[np.bool_],
    method: str,
    max_cells: int = MAX_POOLED_CELLS,
) -> CalibrationMap:
    """Fit one map to the cells of all labels, a random part of them if there are very many."""
    cells, is_true = scores.ravel(), truth.ravel()
    if cells.size > max_cells:
        kept = np.random.default_rng(0).choice(cells.size, max_cells, replace=False)
        cells, is_true = cells[kept], is_true[kept]
    return fit_map(cells, is_true, method)


def _fit_logistic(features: NDArray[np.float64], targets: NDArray[np.float64]) -> tuple[float, ...]:
    """Minimise the log-loss over non-negative slopes and a free intercept."""
    # Scaled features keep the search well conditioned for any scale of scores.
    scale = np.maximum(np.abs(features).max(axis=0), 1e-12)
    inputs = np.column_stack([features / scale, np.ones(targets.size)])

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = inputs @ weights
        value = (np.logaddexp(0, margins) - targets * margins).mean()
        gradient = inputs.T @ (expit(margins) - targets) / targets.size
        return float(value), gradient

    share = targets.mean()
    start = np.append(np.ones(features.shape[1]), np.log(share / (1 - share)))
    bounds = [(0.0, None)] * features.shape[1] + [(None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return tuple(float(weight) for weight in [*(found[:-1] / scale), found[-1]])


def _without_far_out(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as near as almost all of them; a single one far out would decide the slope."""
    n_exceeding = max(1, int(_EXCEEDED_BY * scores.size))
    if scores.size <= n_exceeding:
        return scores
    place = scores.size - 1 - n_exceeding
    usual = float(np.partition(np.abs(scores), place)[place])
    return np.clip(scores, -_FAR_OUT * usual, _FAR_OUT * usual) if usual > 0 else scores


def _beta_features(
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``log q`` and ``-log(1 - q)`` of ``q = sigmoid(score)`` without overflow."""
    return -np.logaddexp(0, -scores), np.logaddexp(0, scores)
