"""Small moves of rows between folds that make the folds even after the greedy pass.

What is lowered is the label distribution measure plus a high price for labels that a fold lacks.
Both are sums over (fold, label) pairs of a function of the number of positives there, so the
change made by moving one row is a sum over its labels: one sparse product gives it for all rows.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_SWEEPS = 20
CANDIDATES_PER_PAIR = 32
LEAST_GAIN = 1e-12
PRICE_OF_ABSENCE = 1.0  # more than any label's odds gain from one row, but for huge shares
LEAST_RELATIVE_GAIN = 0.01  # of a whole sweep; the rest is not worth its time


def equalise_sizes(truth: Any, folds: NDArray[np.int64], shares: NDArray[np.float64]) -> None:
    """Move the least disturbing rows, in place, until each fold has its share of the rows."""
    sizes = np.bincount(folds, minlength=shares.size)
    targets = _whole_sizes(shares * folds.size, sizes)
    deviation = _LabelDeviation(truth, folds, targets)
    while (sizes > targets).any():
        source = int(np.argmax(sizes - targets))
        target = int(np.argmin(sizes - targets))
        costs = truth @ deviation.cost_of_moving(source, target)
        costs[folds != source] = np.inf
        row = int(np.argmin(costs))
        deviation.move(row, source, target)
        folds[row] = target
        sizes[source] -= 1
        sizes[target] += 1


def swap_rows(truth: Any, folds: NDArray[np.int64], n_folds: int) -> None:
    """Exchange rows between folds, in place, while that makes the labels more even."""
    deviation = _LabelDeviation(truth, folds, np.bincount(folds, minlength=n_folds))
    for _ in range(MAX_SWEEPS):
        gain = sum(
            _swap_between(folds, deviation, first, second)
            for first, second in combinations(range(n_folds), 2)
        )
        if gain <= LEAST_RELATIVE_GAIN * deviation.total():
            break


class _LabelDeviation:
    """Positives of each fold and label, and what a change of them does to the measure."""

    def __init__(self, truth: Any, folds: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        n_samples, n_labels = truth.shape
        self.truth = truth
        self.sizes = sizes
        totals = np.asarray(truth.sum(axis=0), dtype=np.float64)
        self.odds = totals / np.maximum(n_samples - totals, 1)
        self.positives = np.empty((sizes.size, n_labels))
        for fold in range(sizes.size):
            self.positives[fold] = truth[np.flatnonzero(folds == fold)].sum(axis=0)

    def cost_of_moving(
        self, source: int, target: int, labels: Any = slice(None)
    ) -> NDArray[np.float64]:
        """Return what one positive less in one fold and one more in another does, per label."""
        leaving, arriving = self.positives[source, labels], self.positives[target, labels]
        cost = (
            self._deviation(source, leaving - 1, labels)
            - self._deviation(source, leaving, labels)
            + self._deviation(target, arriving + 1, labels)
            - self._deviation(target, arriving, labels)
        )
        # A label without positives in a fold cannot be measured there.
        absences = (leaving == 1).astype(np.float64) - (arriving == 0)
        priced: NDArray[np.float64] = cost + PRICE_OF_ABSENCE * absences
        return priced

    def move(self, row: int, source: int, target: int) -> None:
        """Book the labels of a row from one fold to another."""
        labels = self.labels_of(row)
        self.positives[source, labels] -= 1
        self.positives[target, labels] += 1

    def labels_of(self, row: int) -> list[int]:
        """Return the labels of one row."""
        cells = slice(self.truth.indptr[row], self.truth.indptr[row + 1])
        labels: list[int] = self.truth.indices[cells].tolist()
        return labels

    def total(self) -> float:
        """Return the measure times the number of (fold, label) pairs."""
        every = slice(None)
        return sum(
            float(self._deviation(fold, self.positives[fold], every).sum())
            for fold in range(self.sizes.size)
        )

    def _deviation(
        self, fold: int, positives: NDArray[np.float64], labels: Any
    ) -> NDArray[np.float64]:
        """Distance of the odds of the labels in a fold from their odds in all rows."""
        negatives = np.maximum(self.sizes[fold] - positives, 1)
        distance: NDArray[np.float64] = np.abs(positives / negatives - self.odds[labels])
        return distance


def _swap_between(
    folds: NDArray[np.int64], deviation: _LabelDeviation, first: int, second: int
) -> float:
    """Swap promising rows of two folds; return by how much that lowered the measure."""
    away = deviation.cost_of_moving(first, second)
    back = deviation.cost_of_moving(second, first)
    costs = deviation.truth @ np.column_stack([away, back])  # (n_samples, 2)
    departing = _cheapest(costs[:, 0], np.flatnonzero(folds == first))
    arriving = _cheapest(costs[:, 1], np.flatnonzero(folds == second))
    away_of, back_of = away.tolist(), back.tolist()
    total_gain = 0.0
    for row, other in zip(departing, arriving, strict=False):
        row_labels, other_labels = deviation.labels_of(row), deviation.labels_of(other)
        common = set(row_labels).intersection(other_labels)  # these stay where they are
        gain = -sum(away_of[label] for label in row_labels if label not in common)
        gain -= sum(back_of[label] for label in other_labels if label not in common)
        if gain <= LEAST_GAIN:
            continue
        deviation.move(row, first, second)
        deviation.move(other, second, first)
        folds[row], folds[other] = second, first
        total_gain += gain
        changed = row_labels + other_labels
        for costs_of, source, target in ((away_of, first, second), (back_of, second, first)):
            fresh = deviation.cost_of_moving(source, target, changed).tolist()
            for label, cost in zip(changed, fresh, strict=True):
                costs_of[label] = cost
    return total_gain


def _cheapest(costs: NDArray[np.float64], rows: NDArray[np.int64]) -> list[int]:
    """Return the rows whose move would lower the measure most, the best first."""
    kept = costs[rows]
    if rows.size > CANDIDATES_PER_PAIR:
        some = np.argpartition(kept, CANDIDATES_PER_PAIR)[:CANDIDATES_PER_PAIR]
        rows, kept = rows[some], kept[some]
    chosen: list[int] = rows[np.lexsort((rows, kept))].tolist()
    return chosen


def _whole_sizes(wanted: NDArray[np.float64], current: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round the wanted sizes to whole rows, up where most is cut off, then where most rows are."""
    floors = np.floor(wanted + 1e-9)
    cut_off = np.round(wanted - floors, 9)
    up = np.lexsort((-current, -cut_off))[: round(wanted.sum() - floors.sum())]
    floors[up] += 1
    targets = floors.astype(np.int64)
    while (targets == 0).any():
        targets[np.argmax(targets)] -= 1
        targets[np.argmin(targets)] += 1
    return targets
