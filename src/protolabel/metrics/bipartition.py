"""Metrics of predicted label sets: what was predicted against what is true.

Definitions follow Zhang and Zhou (TKDE 2014). All of them are functions of the confusion counts
of labels and rows, which one sparse product gives for any number of labels, one included
(scikit-learn reads a single column as a binary target and would count both classes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.metrics._inputs import Indicator, Labels, as_indicator_pair


@dataclass(frozen=True)
class ConfusionCounts:
    """True positives, true labels and predicted labels along one axis.

    Parameters
    ----------
    hits : ndarray of int
        Cells that are both true and predicted.
    true : ndarray of int
        True cells.
    predicted : ndarray of int
        Predicted cells.
    """

    hits: NDArray[np.int64]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]

    def __add__(self, other: ConfusionCounts) -> ConfusionCounts:
        return ConfusionCounts(
            self.hits + other.hits, self.true + other.true, self.predicted + other.predicted
        )


@dataclass(frozen=True)
class EdgeCases:
    """How many rows and labels a metric's convention decides about.

    Parameters
    ----------
    rows_without_labels, rows_with_all_labels : int
        Rows without a ranking problem, left out of the ranking metrics by ``edge="exclude"``.
    rows_empty_in_both : int
        Rows without true and without predicted labels: accuracy is ``empty_value`` there.
    labels_never_true : int
        Labels without a positive row.
    labels_absent_in_both : int
        Labels neither true nor predicted anywhere: F1 is ``zero_division`` there.
    """

    rows_without_labels: int
    rows_with_all_labels: int
    rows_empty_in_both: int
    labels_never_true: int
    labels_absent_in_both: int


def count_edge_cases(Y_true: Labels, Y_pred: Labels) -> EdgeCases:
    """Count the rows and labels for which a metric is a matter of convention.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.

    Returns
    -------
    EdgeCases
        The counts.

    Examples
    --------
    >>> from protolabel.metrics import count_edge_cases
    >>> count_edge_cases([[0, 0], [1, 1]], [[0, 0], [1, 0]]).rows_empty_in_both
    1
    """
    truth, predicted = as_indicator_pair(Y_true, Y_pred)
    rows, labels = row_counts(truth, predicted), label_counts(truth, predicted)
    return EdgeCases(
        rows_without_labels=int((rows.true == 0).sum()),
        rows_with_all_labels=int((rows.true == truth.shape[1]).sum()),
        rows_empty_in_both=int(((rows.true == 0) & (rows.predicted == 0)).sum()),
        labels_never_true=int((labels.true == 0).sum()),
        labels_absent_in_both=int(((labels.true == 0) & (labels.predicted == 0)).sum()),
    )


def accuracy(Y_true: Labels, Y_pred: Labels, *, empty_value: float = 0.0) -> float:
    """Mean Jaccard similarity of the true and the predicted label set of a row.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.
    empty_value : float, default=0.0
        Value of a row with no true and no predicted label (0/0).

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from protolabel.metrics import accuracy
    >>> accuracy([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
    0.75
    """
    counts = row_counts(*as_indicator_pair(Y_true, Y_pred))
    return float(jaccard_of(counts, empty_value).mean())


def micro_f1(Y_true: Labels, Y_pred: Labels) -> float:
    """F1 of all (row, label) cells pooled; 0 when nothing is true and nothing predicted.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from protolabel.metrics import micro_f1
    >>> micro_f1([[1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
    0.8
    """
    return micro_f1_of(label_counts(*as_indicator_pair(Y_true, Y_pred)))


def macro_f1(Y_true: Labels, Y_pred: Labels, *, zero_division: float = 0.0) -> float:
    """Mean over the labels of each label's F1.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.
    zero_division : float, default=0.0
        F1 of a label that is neither true nor predicted in any row (0/0); ``nan`` leaves such
        labels out of the mean.

    Returns
    -------
    float
        Between 0 and 1, larger is better; ``nan`` if every label is left out.

    Examples
    --------
    >>> from protolabel.metrics import macro_f1
    >>> macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]])
    0.5
    >>> macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]], zero_division=float("nan"))
    1.0
    """
    return macro_f1_of(label_counts(*as_indicator_pair(Y_true, Y_pred)), zero_division)


def example_f1(Y_true: Labels, Y_pred: Labels, *, empty_value: float = 0.0) -> float:
    """Mean over the rows of the F1 of the predicted label set.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.
    empty_value : float, default=0.0
        Value of a row with no true and no predicted label (0/0).

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from protolabel.metrics import example_f1
    >>> example_f1([[1, 1], [0, 1]], [[1, 1], [1, 0]])
    0.5
    """
    counts = row_counts(*as_indicator_pair(Y_true, Y_pred))
    return float(f1_of(counts, empty_value).mean())


def hamming_loss(Y_true: Labels, Y_pred: Labels) -> float:
    """Fraction of (row, label) cells that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Examples
    --------
    >>> from protolabel.metrics import hamming_loss
    >>> hamming_loss([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.25
    """
    truth, predicted = as_indicator_pair(Y_true, Y_pred)
    counts = label_counts(truth, predicted)
    wrong = counts.true + counts.predicted - 2 * counts.hits
    return float(wrong.sum() / (truth.shape[0] * truth.shape[1]))


def subset_accuracy(Y_true: Labels, Y_pred: Labels) -> float:
    """Fraction of rows whose label set is predicted exactly.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.

    Returns
    -------
    float
        Between 0 and 1, larger is better.

    Examples
    --------
    >>> from protolabel.metrics import subset_accuracy
    >>> subset_accuracy([[1, 1], [0, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return float(exact_rows(Y_true, Y_pred).mean())


def exact_rows(Y_true: Labels, Y_pred: Labels) -> NDArray[np.bool_]:
    """Whether the label set of each row is predicted exactly, (n_samples,)."""
    counts = row_counts(*as_indicator_pair(Y_true, Y_pred))
    exact: NDArray[np.bool_] = (counts.hits == counts.true) & (counts.hits == counts.predicted)
    return exact


def row_counts(truth: Indicator, predicted: Indicator) -> ConfusionCounts:
    """Count along each row of two checked indicators."""
    return _counts(truth, predicted, axis=1)


def label_counts(truth: Indicator, predicted: Indicator) -> ConfusionCounts:
    """Count along each label of two checked indicators."""
    return _counts(truth, predicted, axis=0)


def jaccard_of(counts: ConfusionCounts, empty_value: float) -> NDArray[np.float64]:
    """Jaccard similarity of each row."""
    return _ratio(counts.hits, counts.true + counts.predicted - counts.hits, empty_value)


def f1_of(counts: ConfusionCounts, empty_value: float) -> NDArray[np.float64]:
    """F1 of each row or label."""
    return _ratio(2 * counts.hits, counts.true + counts.predicted, empty_value)


def micro_f1_of(counts: ConfusionCounts) -> float:
    """Micro-F1 from the counts of the labels."""
    denominator = counts.true.sum() + counts.predicted.sum()
    return float(2 * counts.hits.sum() / denominator) if denominator else 0.0


def macro_f1_of(counts: ConfusionCounts, zero_division: float) -> float:
    """Macro-F1 from the counts of the labels."""
    values = f1_of(counts, zero_division)
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")


def _counts(truth: Indicator, predicted: Indicator, axis: int) -> ConfusionCounts:
    """Sum hits, true and predicted cells over one axis."""
    parts = (truth.multiply(predicted), truth, predicted)
    return ConfusionCounts(*(np.asarray(part.sum(axis=axis), dtype=np.int64) for part in parts))


def _ratio(
    numerator: NDArray[Any], denominator: NDArray[Any], if_undefined: float
) -> NDArray[np.float64]:
    """Divide, with a given value for 0/0."""
    ratio = np.full(numerator.shape, if_undefined, dtype=np.float64)
    np.divide(numerator, denominator, out=ratio, where=denominator != 0)
    return ratio
