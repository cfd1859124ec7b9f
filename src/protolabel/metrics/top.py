"""Metrics of the first few labels of a ranking, for large label sets.

A tie across the cut is worth its expectation over all orders of the tied labels, as in
scikit-learn's ``ndcg_score``, so that no value depends on the order of the label columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

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
from protolabel.metrics.ranking import rank_rows


def precision_at_k(Y_true: Labels, scores: ArrayLike, *, k: int) -> float:
    """Fraction of relevant labels among the ``k`` best-scored ones, averaged over rows.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    k : int
        Number of labels looked at.

    Returns
    -------
    float
        Between 0 and 1, larger is better. Rows without labels count as 0.

    Examples
    --------
    >>> from protolabel.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 1], [0, 1, 0]], [[3, 2, 1], [3, 2, 1]], k=2)
    0.5
    """
    truth, checked = _checked(Y_true, scores, k)
    gain = _gain_per_row(truth, checked, _shares_of_top(k), None)
    return float(gain.mean() / k)


def ndcg_at_k(Y_true: Labels, scores: ArrayLike, *, k: int, edge: str = "exclude") -> float:
    """Discounted gain of the ``k`` best-scored labels over the best possible one.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    k : int
        Number of labels looked at.
    edge : {"exclude", "sklearn"}, default="exclude"
        Rows without labels: left out, or counted as 0.

    Returns
    -------
    float
        Between 0 and 1, larger is better; ``nan`` if every row is left out.

    Examples
    --------
    >>> from protolabel.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[0, 1, 0]], [[3, 2, 1]], k=2), 4)
    0.6309
    """
    check_edge(edge)
    truth, checked = _checked(Y_true, scores, k)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    cumulative = np.concatenate([[0.0], np.cumsum(discounts)])
    gain = _gain_per_row(truth, checked, cumulative, None)
    n_relevant = np.diff(truth.indptr)
    ideal = cumulative[np.minimum(n_relevant, k)]
    has_labels = n_relevant > 0
    values = np.zeros(gain.size)
    np.divide(gain, ideal, out=values, where=has_labels)
    if edge == "sklearn":
        return float(values.mean())
    if not has_labels.any():
        warnings.warn(
            f"None of the {gain.size} row(s) has a label; nDCG is nan. "
            "In Python, edge='sklearn' counts such rows as 0.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return float("nan")
    return float(values[has_labels].mean())


def label_propensities(Y_train: Labels, *, a: float = 0.55, b: float = 1.5) -> NDArray[np.float64]:
    """Estimate how likely a true label is to be recorded, from how often it is.

    Parameters
    ----------
    Y_train : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels of the training rows.
    a : float, default=0.55
        Exponent of the model; the default is the one for data without better knowledge.
    b : float, default=1.5
        Offset of the counts, likewise.

    Returns
    -------
    ndarray of shape (n_labels,)
        Between 0 and 1, rising with the frequency of the label.

    References
    ----------
    Jain, Prabhu, Varma. Extreme multi-label loss functions for recommendation, tagging, ranking
    and other missing label applications. KDD 2016.

    Examples
    --------
    >>> from protolabel.metrics import label_propensities
    >>> rare, frequent = label_propensities([[0, 1], [0, 1], [1, 1], [0, 0]])
    >>> bool(rare < frequent)
    True
    """
    truth = as_indicator(Y_train, "Y_train")
    counts = np.asarray(truth.sum(axis=0), dtype=np.float64)
    # Fewer than three rows would make the constant negative; log N >= 1 keeps it a probability.
    scale = max(np.log(truth.shape[0]) - 1, 0.0) * (b + 1) ** a
    propensities: NDArray[np.float64] = 1 / (1 + scale * (counts + b) ** -a)
    return propensities


def propensity_scored_precision_at_k(
    Y_true: Labels, scores: ArrayLike, propensities: ArrayLike, *, k: int
) -> float:
    """Precision at ``k`` in which rarely recorded labels weigh more, over the best possible one.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    propensities : array-like of shape (n_labels,)
        From :func:`label_propensities` on the training labels.
    k : int
        Number of labels looked at.

    Returns
    -------
    float
        Between 0 and 1, larger is better; ``nan`` if no row has a label.

    Examples
    --------
    >>> from protolabel.metrics import propensity_scored_precision_at_k
    >>> propensity_scored_precision_at_k([[1, 0], [0, 1]], [[2, 1], [2, 1]], [0.8, 0.2], k=1)
    0.2
    """
    truth, checked = _checked(Y_true, scores, k)
    weights = np.asarray(propensities, dtype=np.float64)
    if weights.shape != (truth.shape[1],) or not ((weights > 0) & (weights <= 1)).all():
        raise ValueError(
            f"propensities has shape {weights.shape}, expected ({truth.shape[1]},) with values in "
            "(0, 1]; compute them with label_propensities(Y_train)."
        )
    gains = 1 / weights
    reached = _gain_per_row(truth, checked, _shares_of_top(k), gains).sum()
    possible = _largest_sums(truth, gains, k)
    return float(reached / possible) if possible else float("nan")


def at_k(metric: Callable[..., float], k: int) -> Callable[[Labels, ArrayLike], float]:
    """Fix the cut of a metric, so that it has the signature of the others.

    Parameters
    ----------
    metric : callable
        :func:`precision_at_k` or :func:`ndcg_at_k`.
    k : int
        Number of labels looked at.

    Returns
    -------
    callable
        A function of ``Y_true`` and ``scores``.

    Examples
    --------
    >>> from protolabel.metrics import precision_at_k
    >>> from protolabel.metrics.top import at_k
    >>> at_k(precision_at_k, 1)([[1, 0]], [[2, 1]])
    1.0
    """

    def with_fixed_k(Y_true: Labels, scores: ArrayLike) -> float:
        """Call the metric with the fixed cut."""
        return metric(Y_true, scores, k=k)

    return with_fixed_k


def _checked(Y_true: Labels, scores: ArrayLike, k: int) -> tuple[Indicator, Floats]:
    """Check truth, scores and the cut."""
    truth = as_indicator(Y_true, "Y_true")
    if not 1 <= k <= truth.shape[1] or int(k) != k:
        raise ValueError(
            f"k is {k!r}, expected a whole number between 1 and the {truth.shape[1]} labels."
        )
    return truth, as_scores(scores, truth.shape, Y_true)


def _shares_of_top(k: int) -> NDArray[np.float64]:
    """Return the cumulative worth of the first positions when each counts as one."""
    return np.arange(k + 1, dtype=np.float64)


def _largest_sums(truth: Indicator, gains: NDArray[np.float64], k: int) -> float:
    """Sum the ``k`` largest gains among the relevant labels of every row."""
    n_relevant = np.diff(truth.indptr)
    row = np.repeat(np.arange(truth.shape[0]), n_relevant)
    falling = np.lexsort((-gains[truth.indices], row))
    place = np.arange(row.size) - np.repeat(truth.indptr[:-1], n_relevant)
    return float(gains[truth.indices][falling][place < k].sum())


def _gain_per_row(
    truth: Indicator,
    scores: Floats,
    cumulative: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Sum the expected worth of the relevant labels; ``cumulative[r]`` is that of r positions."""
    gain = np.empty(truth.shape[0])
    k = cumulative.size - 1
    for block in rank_rows(truth, scores):
        row, position = np.nonzero(block.relevant)
        start, end = block.tie_start[row, position], block.tie_end[row, position]
        worth = (cumulative[np.minimum(end, k)] - cumulative[np.minimum(start, k)]) / (end - start)
        if weights is not None:
            worth *= weights[block.order[row, position]]
        gain[block.rows] = np.bincount(row, worth, minlength=block.relevant.shape[0])
    return gain
