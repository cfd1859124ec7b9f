"""Threshold rules with few degrees of freedom: fixed, one for all labels, matched cardinality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolabel.decision._scores import (
    as_label_matrix,
    as_score_matrix,
    keep_finite,
    subsample_rows,
)
from protolabel.decision.decision_rule import DecisionRule
from protolabel.decision.objectives import check_objective, score_levels

TIE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ThresholdRule:
    """Thresholds of the labels and what they were chosen for.

    Parameters
    ----------
    thresholds : ndarray of shape (n_labels,)
        A label is predicted where its score is above its threshold.
    objective : str
        What was maximised, or ``"cardinality"``.
    value : float
        The objective reached on the rows used for tuning.
    """

    thresholds: NDArray[np.float64]
    objective: str
    value: float

    @property
    def decision(self) -> DecisionRule:
        """The rule as it is applied to scores."""
        return DecisionRule.of(self.thresholds)


def tune_global(
    scores: ArrayLike,
    Y: Any,
    *,
    objective: str = "balanced",
    n_candidates: int = 200,
    max_cells: int = 5_000_000,
    rng: np.random.Generator | None = None,
) -> ThresholdRule:
    """Choose one threshold for all labels.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of rows that the scoring model was not trained on.
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels of the same rows.
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
        What to maximise; "balanced" is the sum of the three others.
    n_candidates : int, default=200
        Thresholds tried besides 0: quantiles of the scores of true cells and of the highest
        cells, three times as many as there are true ones.
    max_cells : int, default=5_000_000
        With more (row, label) cells than this, a random subset of the rows is used.
    rng : numpy.random.Generator, default=None
        Draws the subset; a generator with seed 0 when None.

    Returns
    -------
    ThresholdRule
        Among equals, the threshold closest to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.decision.thresholds import tune_global
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> rule = tune_global(Y - 3.0, Y)
    >>> bool(-3 <= rule.thresholds[0] < -2), rule.value
    (True, 3.0)
    """
    check_objective(objective)
    matrix = as_score_matrix(scores)
    truth = as_label_matrix(Y, matrix.shape)
    matrix, truth = subsample_rows(keep_finite(matrix), truth, max_cells, rng)
    candidates = _candidates(matrix, truth, n_candidates)
    levels = np.broadcast_to(candidates, (matrix.shape[1], candidates.size))
    values = score_levels(matrix, truth, levels, objective)
    tied = np.flatnonzero(values >= values.max() - TIE_TOLERANCE)
    best = tied[np.argmin(np.abs(candidates[tied]))]
    thresholds = np.full(matrix.shape[1], candidates[best])
    return ThresholdRule(thresholds, objective, float(values[best]))


def match_cardinality(scores: ArrayLike, cardinality: float) -> ThresholdRule:
    """Choose one threshold so that rows get a given number of labels on average.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores; no labels are needed, so the rows to be predicted can be used themselves.
    cardinality : float
        Mean number of labels per row wanted, usually that of the training rows.

    Returns
    -------
    ThresholdRule
        ``value`` is the cardinality reached; tied scores can only be cut together.

    Examples
    --------
    >>> from protolabel.decision.thresholds import match_cardinality
    >>> match_cardinality([[3.0, 2.0], [1.0, 0.0]], 1.0).thresholds
    array([1.5, 1.5])
    """
    matrix = keep_finite(as_score_matrix(scores))
    n_samples, n_labels = matrix.shape
    if not 0 <= cardinality <= n_labels:
        raise ValueError(f"cardinality is {cardinality}, expected between 0 and {n_labels} labels.")
    falling = -np.sort(-matrix, axis=None)
    cuts = valid_cuts(falling)
    cut = int(cuts[np.argmin(np.abs(cuts - cardinality * n_samples))])
    thresholds = np.full(n_labels, threshold_of_cut(falling, cut))
    return ThresholdRule(thresholds, "cardinality", cut / n_samples)


def valid_cuts(falling: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many of the falling scores a threshold can let pass; ties pass together."""
    changes = np.flatnonzero(falling[1:] < falling[:-1]) + 1
    return np.concatenate([[0], changes, [falling.size]])


def threshold_of_cut(falling: NDArray[np.float64], cut: int) -> float:
    """Return a threshold that exactly the first ``cut`` of the falling scores exceed."""
    if cut == 0:
        return float(falling[0])
    if cut == falling.size:
        return float(np.nextafter(falling[-1], -np.inf))
    above, below = falling[cut - 1], falling[cut]
    middle = below + (above - below) / 2
    return float(middle if middle < above else below)


def _candidates(scores: NDArray[np.float64], truth: Any, n_candidates: int) -> NDArray[np.float64]:
    """Return rising thresholds in the region where decisions change usefully."""
    cells = scores.ravel()
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    true_scores = scores[rows, truth.indices]
    n_top = min(cells.size, max(3 * true_scores.size, 1))
    top = np.partition(cells, cells.size - n_top)[cells.size - n_top :]
    shares = np.linspace(0, 1, max(n_candidates // 2, 2))
    # Just below the score at each quantile, so that this cell itself passes.
    quantiles = [np.quantile(top, shares, method="lower")]
    if true_scores.size:
        quantiles.append(np.quantile(true_scores, shares, method="lower"))
    levels = np.nextafter(np.concatenate(quantiles), -np.inf)
    return np.unique(np.append(levels, 0.0))
