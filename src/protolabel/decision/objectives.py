"""What a threshold is chosen for, computed from counts instead of from predictions.

A threshold grid is scored by counting, for each label and each row, the cells above every
threshold. ``"balanced"`` is the sum of accuracy, micro-F1 and macro-F1.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

# Rows times levels that are counted at once.
_MAX_COUNTS = 4_000_000

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
    return Cells(Truth(truth), rows, labels).score(heights, levels.shape[1], objective)


class Truth:
    """True labels, and how many of them rows and labels have.

    Parameters
    ----------
    labels : sparse CSR array of shape (n_samples, n_labels)
        0/1 labels.
    """

    def __init__(self, labels: Any) -> None:
        self.is_true: NDArray[np.bool_] = labels.toarray().astype(bool)
        self.per_row = np.asarray(labels.sum(axis=1)).ravel()
        self.per_label = np.asarray(labels.sum(axis=0)).ravel()


class Cells:
    """Cells that may be predicted, to be scored again and again at rising levels.

    Parameters
    ----------
    truth : Truth
    rows, labels : ndarray of int, shape (n_cells,)
        Where the cells are; all others are never predicted.
    """

    def __init__(self, truth: Truth, rows: NDArray[Any], labels: NDArray[Any]) -> None:
        self.truth = truth
        self.rows = rows
        self.labels = labels
        self.is_true = truth.is_true[rows, labels]
        self.true_cells = np.flatnonzero(self.is_true)

    def score(self, heights: NDArray[Any], n_levels: int, objective: str) -> NDArray[np.float64]:
        """Score each level; a cell is predicted at the levels below its height."""
        value = np.zeros(n_levels)
        if objective != "accuracy":
            n_true = self.truth.per_label
            hits, predicted = _hits_and_predicted(
                self.labels, heights, self.true_cells, (n_levels, n_true.size)
            )
            if objective != "macro_f1":
                total = predicted.sum(axis=1) + n_true.sum()
                value += _safe_ratio(2 * hits.sum(axis=1), total)
            if objective != "micro_f1":
                value += _safe_ratio(2 * hits, predicted + n_true).mean(axis=1)
        if needs_accuracy(objective):
            n_rows = self.truth.per_row.size
            step = max(1, _MAX_COUNTS // n_levels)
            parts = (slice(start, start + step) for start in range(0, n_rows, step))
            value += sum(self._accuracies(heights, n_levels, part) for part in parts) / n_rows
        return value

    def _accuracies(self, heights: NDArray[Any], n_levels: int, part: slice) -> NDArray[np.float64]:
        """Sum of the accuracies of some rows at each level."""
        n_true = self.truth.per_row[part]
        rows, true_cells = self.rows, self.true_cells
        if n_true.size < self.truth.per_row.size:
            inside = np.flatnonzero((rows >= part.start) & (rows < part.stop))
            rows, heights = rows[inside] - part.start, heights[inside]
            true_cells = np.flatnonzero(self.is_true[inside])
        hits, predicted = _hits_and_predicted(rows, heights, true_cells, (n_levels, n_true.size))
        predicted -= hits
        predicted += n_true
        return np.asarray(_safe_ratio(hits, predicted).sum(axis=1))


def _hits_and_predicted(
    owners: NDArray[Any],
    heights: NDArray[Any],
    true_cells: NDArray[Any],
    shape: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the true and all cells above each level, (n_levels, n_owners)."""
    # Height and owner of a cell as one number to be counted.
    keys = heights * shape[1] + owners
    return _count_above(keys[true_cells], shape), _count_above(keys, shape)


def _count_above(keys: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[np.int64]:
    n_levels, n_owners = shape
    counts = np.bincount(keys, minlength=(n_levels + 1) * n_owners).reshape(-1, n_owners)
    # A cell of height h is above levels 0 .. h - 1. Sums row by row beat np.cumsum here.
    for height in range(n_levels - 1, 0, -1):
        counts[height] += counts[height + 1]
    return counts[1:]


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


def _safe_ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[np.float64]:
    """Divide with 0/0 = 0."""
    ratio = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return ratio
