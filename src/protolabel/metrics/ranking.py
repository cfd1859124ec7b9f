"""Metrics of the order that the scores of a row give its labels.

Definitions follow Zhang and Zhou (TKDE 2014). Ties are never to the advantage of the prediction:
the rank of a label is the number of labels with a score at least as large, a tied pair of a
relevant and an irrelevant label is a full ranking error, and the top label is right only if every
label tied with it is. One sort per row gives all four metrics.

Rows with no label or with all labels pose no ranking problem. ``edge="exclude"`` leaves them out
of the mean, ``edge="sklearn"`` keeps them with the value scikit-learn gives them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from protolabel.metrics._inputs import (
    Floats,
    Indicator,
    Labels,
    as_indicator,
    as_scores,
    check_edge,
)

CELLS_PER_BLOCK = 1 << 21


@dataclass(frozen=True)
class RankedRows:
    """A block of rows with the labels of each row in falling order of their scores.

    Parameters
    ----------
    rows : slice
        The rows of the whole matrix that the block holds.
    order : ndarray of shape (n_rows, n_labels)
        Label at each position.
    relevant : ndarray of bool, shape (n_rows, n_labels)
        Whether the label at the position is true.
    tie_start, tie_end : ndarray of shape (n_rows, n_labels)
        First position and one past the last position of the labels tied with this one.
    """

    rows: slice
    order: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    tie_start: NDArray[np.int64]
    tie_end: NDArray[np.int64]


@dataclass(frozen=True)
class RowRanking:
    """The ranking metrics of every row, with scikit-learn's value where there is no problem.

    Parameters
    ----------
    average_precision, ranking_loss, coverage, one_error : ndarray of shape (n_samples,)
        Values of the rows.
    has_problem : ndarray of bool, shape (n_samples,)
        False for rows with no label or all labels.
    """

    average_precision: NDArray[np.float64]
    ranking_loss: NDArray[np.float64]
    coverage: NDArray[np.float64]
    one_error: NDArray[np.float64]
    has_problem: NDArray[np.bool_]


def average_precision(Y_true: Labels, scores: ArrayLike, *, edge: str = "exclude") -> float:
    """Mean precision of the ranking at the place of each relevant label, averaged over rows.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows with no or all labels: left out, or counted as 1.

    Returns
    -------
    float
        Between 0 and 1, larger is better; ``nan`` if every row is left out.

    Examples
    --------
    >>> from protolabel.metrics import average_precision
    >>> average_precision([[1, 0, 0], [0, 1, 0]], [[3, 2, 1], [3, 2, 1]])
    0.75
    """
    return _mean_of("average_precision", Y_true, scores, edge)


def ranking_loss(Y_true: Labels, scores: ArrayLike, *, edge: str = "exclude") -> float:
    """Fraction of (relevant, irrelevant) label pairs in wrong or tied order, averaged over rows.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows with no or all labels: left out, or counted as 0.

    Returns
    -------
    float
        Between 0 and 1, smaller is better; ``nan`` if every row is left out.

    Examples
    --------
    >>> from protolabel.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0], [0, 1, 0]], [[3, 2, 1], [3, 2, 1]])
    0.25
    """
    return _mean_of("ranking_loss", Y_true, scores, edge)


def coverage(Y_true: Labels, scores: ArrayLike, *, edge: str = "exclude") -> float:
    """Steps down the ranking needed to meet all relevant labels, averaged over rows.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows with no or all labels: left out, or kept with the value of
        ``sklearn.metrics.coverage_error`` minus one.

    Returns
    -------
    float
        Between 0 and ``n_labels - 1``, smaller is better; ``nan`` if every row is left out.

    Notes
    -----
    One less than ``sklearn.metrics.coverage_error``: a perfect ranking of one label has 0 steps.

    Examples
    --------
    >>> from protolabel.metrics import coverage
    >>> coverage([[1, 0, 0], [0, 1, 0]], [[3, 2, 1], [3, 2, 1]])
    0.5
    """
    return _mean_of("coverage", Y_true, scores, edge)


def one_error(Y_true: Labels, scores: ArrayLike, *, edge: str = "exclude") -> float:
    """Fraction of rows whose top-ranked label is not relevant.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows with no or all labels: left out, or counted as 1 and 0.

    Returns
    -------
    float
        Between 0 and 1, smaller is better; ``nan`` if every row is left out.

    Examples
    --------
    >>> from protolabel.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 0]], [[3, 2, 1], [3, 2, 1]])
    0.5
    """
    return _mean_of("one_error", Y_true, scores, edge)


def rank_rows(truth: Indicator, scores: Floats) -> Iterator[RankedRows]:
    """Sort the labels of each row, a block of rows at a time so that memory stays bounded."""
    n_samples, n_labels = truth.shape
    step = max(1, CELLS_PER_BLOCK // n_labels)
    positions = np.arange(n_labels)
    for start in range(0, n_samples, step):
        rows = slice(start, min(start + step, n_samples))
        order = np.argsort(-scores[rows], axis=1)
        ranked = np.take_along_axis(scores[rows], order, axis=1)
        relevant = np.take_along_axis(truth[rows].toarray() != 0, order, axis=1)
        begins = np.ones(ranked.shape, dtype=bool)
        begins[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
        ends = np.ones(ranked.shape, dtype=bool)
        ends[:, :-1] = begins[:, 1:]
        tie_start = np.maximum.accumulate(np.where(begins, positions, 0), axis=1)
        until = np.where(ends, positions + 1, n_labels)
        tie_end = np.minimum.accumulate(until[:, ::-1], axis=1)[:, ::-1]
        yield RankedRows(rows, order, relevant, tie_start, tie_end)


def rank_statistics(truth: Indicator, scores: Floats) -> RowRanking:
    """Compute the four ranking metrics of every row from one sort per row."""
    n_samples, n_labels = truth.shape
    values = np.empty((4, n_samples))
    n_relevant = np.diff(truth.indptr)
    for block in rank_rows(truth, scores):
        values[:, block.rows] = _block_statistics(block, n_relevant[block.rows])
    has_problem = (n_relevant > 0) & (n_relevant < n_labels)
    precision, loss, depth, error = values
    return RowRanking(precision, loss, depth, error, has_problem)


def means_over_rows(
    values: NDArray[np.float64], has_problem: NDArray[np.bool_], edge: str
) -> tuple[float, ...]:
    """Average the rows, (n_metrics, n_rows), that the edge convention keeps."""
    kept = values[:, has_problem] if edge == "exclude" else values
    if kept.shape[1] == 0:
        warnings.warn(
            f"None of the {len(has_problem)} row(s) has both a relevant and an irrelevant label; "
            "the ranking metrics are nan. In Python, edge='sklearn' counts such rows.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return (float("nan"),) * len(values)
    return tuple(float(of_metric.mean()) for of_metric in kept)


def _mean_of(metric: str, Y_true: Labels, scores: ArrayLike, edge: str) -> float:
    """Check the input and average one of the four metrics."""
    check_edge(edge)
    truth = as_indicator(Y_true, "Y_true")
    ranking = rank_statistics(truth, as_scores(scores, truth.shape, Y_true))
    values: NDArray[np.float64] = getattr(ranking, metric)
    return means_over_rows(values[None], ranking.has_problem, edge)[0]


def _block_statistics(block: RankedRows, n_relevant: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return average precision, ranking loss, coverage and one-error as rows of one array."""
    n_rows, n_labels = block.relevant.shape
    row, position = np.nonzero(block.relevant)
    rank = block.tie_end[row, position]
    relevant_so_far = np.cumsum(block.relevant, axis=1)
    relevant_above = relevant_so_far[row, rank - 1]
    n_irrelevant = n_labels - n_relevant
    is_edge = (n_relevant == 0) | (n_irrelevant == 0)

    precision = np.bincount(row, relevant_above / rank, minlength=n_rows)
    precision = np.where(is_edge, 1.0, precision / np.maximum(n_relevant, 1))
    wrong_pairs = np.bincount(row, rank - relevant_above, minlength=n_rows)
    loss = np.where(is_edge, 0.0, wrong_pairs / np.maximum(n_relevant * n_irrelevant, 1))
    deepest = np.zeros(n_rows)
    np.maximum.at(deepest, row, rank)
    top = block.tie_end[:, 0]
    top_is_wrong = relevant_so_far[np.arange(n_rows), top - 1] < top
    return np.stack([precision, loss, deepest - 1.0, top_is_wrong.astype(float)])
