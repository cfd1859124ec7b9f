"""One threshold per label, drawn towards the global one where a label has few positives.

The free thresholds are found by coordinate ascent: with the predictions of the other labels
fixed, every cut of one label's sorted scores is scored exactly, for any objective, by cumulative
sums. A label with one positive would otherwise get whatever threshold that row happens to favour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolabel.decision._scores import (
    as_label_matrix,
    as_score_matrix,
    keep_finite,
    subsample_rows,
)
from protolabel.decision.objectives import check_objective, needs_accuracy, score_levels
from protolabel.decision.rules import (
    TIE_TOLERANCE,
    ThresholdRule,
    threshold_of_cut,
    tune_global,
    valid_cuts,
)


def tune_per_label(
    scores: ArrayLike,
    Y: Any,
    *,
    objective: str = "balanced",
    shrinkage: float = 100.0,
    max_passes: int = 5,
    max_cells: int = 5_000_000,
    rng: np.random.Generator | None = None,
) -> ThresholdRule:
    """Choose a threshold for every label, shrunk towards the global one.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of rows that the scoring model was not trained on.
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels of the same rows.
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
        What to maximise; "balanced" is the sum of the three others.
    shrinkage : float, default=100.0
        A label with n positives keeps ``n / (n + shrinkage)`` of its own threshold and takes the
        rest from the global one; 0 turns this off.
    max_passes : int, default=5
        Rounds of coordinate ascent over the labels.
    max_cells : int, default=5_000_000
        With more (row, label) cells than this, a random subset of the rows is used.
    rng : numpy.random.Generator, default=None
        Draws the subset; a generator with seed 0 when None.

    Returns
    -------
    ThresholdRule
        The thresholds after shrinking; labels without positives have the global one.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.decision.thresholds import tune_per_label
    >>> Y = np.array([[1, 0], [1, 1], [0, 1]])
    >>> rule = tune_per_label(Y + np.array([0.0, 5.0]), Y, shrinkage=0.0)
    >>> rule.thresholds, rule.value
    (array([0. , 5.5]), 3.0)
    """
    check_objective(objective)
    if shrinkage < 0 or max_passes < 1:
        raise ValueError(
            f"shrinkage={shrinkage}, max_passes={max_passes}: expected shrinkage >= 0 and at least "
            "one pass."
        )
    matrix = as_score_matrix(scores)
    truth = as_label_matrix(Y, matrix.shape)
    matrix, truth = subsample_rows(keep_finite(matrix), truth, max_cells, rng)
    start = tune_global(matrix, truth, objective=objective, max_cells=matrix.size)
    search = _CoordinateAscent(matrix, truth.toarray() != 0, start.thresholds, objective)
    for _ in range(max_passes):
        if not search.run_pass():
            break
    n_positive = np.asarray(truth.sum(axis=0), dtype=np.float64)
    weight = n_positive / np.maximum(n_positive + shrinkage, 1)
    thresholds = weight * search.thresholds + (1 - weight) * start.thresholds
    value = score_levels(matrix, truth, thresholds[:, None], objective)
    return ThresholdRule(thresholds, objective, float(value[0]))


class _CoordinateAscent:
    """Thresholds, their predictions, and the counts that every objective is made of."""

    def __init__(
        self,
        scores: NDArray[np.float64],
        truth: NDArray[np.bool_],
        thresholds: NDArray[np.float64],
        objective: str,
    ) -> None:
        self.scores = scores
        self.truth = truth
        self.thresholds = thresholds.copy()
        self.objective = objective
        self.order = np.argsort(-scores, axis=0, kind="stable")
        self.predicted = scores > thresholds
        hits = self.predicted & truth
        self.row_hits, self.row_predicted = hits.sum(axis=1), self.predicted.sum(axis=1)
        self.row_true = truth.sum(axis=1)
        self.hits, self.n_predicted = hits.sum(axis=0), self.predicted.sum(axis=0)
        self.n_true = truth.sum(axis=0)

    def run_pass(self) -> bool:
        """Improve each label in turn; tell whether any threshold moved."""
        moved = [self._improve(label) for label in range(self.scores.shape[1])]
        return any(moved)

    def _improve(self, label: int) -> bool:
        """Take the best cut of one label; the cut closest to the present threshold among equals."""
        order = self.order[:, label]
        falling = self.scores[order, label]
        cuts = valid_cuts(falling)
        values = self._values(label, order)[cuts]
        present = int(self.n_predicted[label])
        if values[np.searchsorted(cuts, present)] >= values.max() - TIE_TOLERANCE:
            return False
        tied = cuts[values >= values.max() - TIE_TOLERANCE]
        cut = int(tied[np.argmin(np.abs(tied - present))])
        self.thresholds[label] = threshold_of_cut(falling, cut)
        self._set_predictions(label, order[:cut])
        return True

    def _values(self, label: int, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Objective when the first 0, 1, .., N rows of the order get the label."""
        is_true = self.truth[order, label]
        hits = np.concatenate([[0], np.cumsum(is_true)])
        predicted = np.arange(order.size + 1)
        value = np.zeros(order.size + 1)
        if self.objective in ("balanced", "micro_f1"):
            other_hits = self.hits.sum() - self.hits[label]
            other_predicted = self.n_predicted.sum() - self.n_predicted[label]
            total = other_predicted + predicted + self.n_true.sum()
            value += 2 * (other_hits + hits) / np.maximum(total, 1)
        if self.objective in ("balanced", "macro_f1"):
            # The other labels add a constant.
            size = np.maximum(predicted + self.n_true[label], 1)
            value += 2 * hits / size / self.truth.shape[1]
        if needs_accuracy(self.objective):
            gains = self._accuracy_gains(label)[order]
            value += np.concatenate([[0.0], np.cumsum(gains)]) / order.size
        return value

    def _accuracy_gains(self, label: int) -> NDArray[np.float64]:
        """What predicting the label adds to the Jaccard similarity of each row."""
        is_true = self.truth[:, label]
        mine = self.predicted[:, label]
        hits = self.row_hits - (mine & is_true)
        union = self.row_true + self.row_predicted - mine - hits
        without = hits / np.maximum(union, 1)
        with_label = np.where(is_true, (hits + 1) / np.maximum(union, 1), hits / (union + 1))
        gains: NDArray[np.float64] = with_label - without
        return gains

    def _set_predictions(self, label: int, rows: NDArray[np.int64]) -> None:
        """Replace the predictions of one label and update the counts."""
        is_true = self.truth[:, label]
        before = self.predicted[:, label].copy()
        after = np.zeros(before.size, dtype=bool)
        after[rows] = True
        self.predicted[:, label] = after
        self.row_predicted += after.astype(np.int64) - before
        self.row_hits += (after & is_true).astype(np.int64) - (before & is_true)
        self.n_predicted[label] = after.sum()
        self.hits[label] = (after & is_true).sum()
