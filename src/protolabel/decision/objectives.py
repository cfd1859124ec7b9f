"""What a threshold is chosen for, computed from counts instead of from predictions.

A threshold grid is scored by counting, for each label and each row, the cells above every
threshold. ``"balanced"`` is the sum of accuracy, micro-F1 and macro-F1.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

Objective: TypeAlias = Literal["balanced", "accuracy", "micro_f1", "macro_f1"]


def check_objective(objective: str) -> None:
    """Refuse an unknown objective."""
    if objective not in get_args(Objective):
        known = ", ".join(repr(name) for name in get_args(Objective))
        raise ValueError(f"objective is {objective!r}, expected one of {known}.")


def needs_accuracy(objective: str) -> bool:
    """Tell whether the objective looks at rows."""
    return objective in ("balanced", "accuracy")


def score_levels(
    scores: NDArray[np.float64],
    truth: Any,
    levels: NDArray[np.float64],
    objective: str,
) -> NDArray[np.float64]:
    """Score each of several threshold vectors.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores; a label is predicted where its score is above its threshold.
    truth : sparse CSR array of shape (n_samples, n_labels)
        0/1 labels.
    levels : ndarray of shape (n_labels, n_levels)
        Thresholds of each label, rising along the levels.
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}
        What to compute.

    Returns
    -------
    ndarray of shape (n_levels,)
        Value of the objective at each level.
    """
    rows, labels, heights = _cells_above_lowest(scores, levels)
    return Counts(truth).score_heights(rows, labels, heights, levels.shape[1], objective)


class Counts:
    """True labels and their numbers, which every objective is made of.

    Parameters
    ----------
    truth : sparse CSR array of shape (n_samples, n_labels)
        0/1 labels.
    """

    def __init__(self, truth: Any) -> None:
        self.is_true: NDArray[np.bool_] = truth.toarray().astype(bool)
        self.per_row = np.asarray(truth.sum(axis=1)).reshape(-1, 1)
        self.per_label = np.asarray(truth.sum(axis=0)).reshape(-1, 1)

    def score_heights(
        self,
        rows: NDArray[Any],
        labels: NDArray[Any],
        heights: NDArray[Any],
        n_levels: int,
        objective: str,
    ) -> NDArray[np.float64]:
        """Score each of rising levels; a cell is predicted at the levels below its height.

        Cells that are not named have height 0.
        """
        n_samples, n_labels = self.is_true.shape
        is_true = self.is_true[rows, labels]
        true_rows, true_labels, true_heights = rows[is_true], labels[is_true], heights[is_true]
        value = np.zeros(n_levels)
        if objective != "accuracy":
            hits = _count_above(true_labels, true_heights, n_labels, n_levels)
            predicted = _count_above(labels, heights, n_labels, n_levels)
            if objective != "macro_f1":
                n_true = self.per_label.sum()
                value += _safe_ratio(2 * hits.sum(axis=0), predicted.sum(axis=0) + n_true)
            if objective != "micro_f1":
                value += _safe_ratio(2 * hits, predicted + self.per_label).mean(axis=0)
        if needs_accuracy(objective):
            hits = _count_above(true_rows, true_heights, n_samples, n_levels)
            predicted = _count_above(rows, heights, n_samples, n_levels)
            value += _safe_ratio(hits, self.per_row + predicted - hits).mean(axis=0)
        return value


def _cells_above_lowest(
    scores: NDArray[np.float64], levels: NDArray[np.float64]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Row and label of each cell above its lowest threshold, and how many it exceeds.

    Nearly all cells of many labels are below: they are compared once and then left alone.
    """
    columns = np.asfortranarray(scores)
    rows, heights = [], []
    for column, thresholds in zip(columns.T, levels, strict=True):
        above = np.flatnonzero(column > thresholds[0])
        rows.append(above)
        heights.append(np.searchsorted(thresholds, column[above], side="left"))
    labels = np.repeat(np.arange(len(rows)), [len(above) for above in rows])
    return np.concatenate(rows), labels, np.concatenate(heights)


def _count_above(
    owners: NDArray[Any], heights: NDArray[Any], n_owners: int, n_levels: int
) -> NDArray[np.float64]:
    """Count the cells of each row or label that lie above each level."""
    width = n_levels + 1
    histogram = np.bincount(
        owners.astype(np.int64) * width + heights, minlength=n_owners * width
    ).reshape(n_owners, width)
    # A cell of height h is above levels 0 .. h - 1.
    above: NDArray[np.float64] = np.cumsum(histogram[:, :0:-1], axis=1)[:, ::-1].astype(np.float64)
    return above


def _safe_ratio(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide with 0/0 = 0."""
    ratio = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio
