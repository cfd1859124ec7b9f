"""The metrics by name: what each needs and which direction is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from numpy.typing import ArrayLike

from protolabel.metrics._inputs import Labels, refuse_scores_of_either_order
from protolabel.metrics.auc import macro_auc, micro_auc
from protolabel.metrics.bipartition import (
    accuracy,
    example_f1,
    hamming_loss,
    macro_f1,
    micro_f1,
    subset_accuracy,
)
from protolabel.metrics.ranking import average_precision, coverage, one_error, ranking_loss
from protolabel.metrics.top import at_k, ndcg_at_k, precision_at_k


@dataclass(frozen=True)
class Metric:
    """A metric that can be asked for by name.

    Parameters
    ----------
    name : str
        Its name.
    function : callable
        Called with the truth and with predictions or scores.
    uses_scores : bool
        Whether the second argument is a score matrix rather than predicted labels.
    larger_is_better : bool
        Direction.
    """

    name: str
    function: Callable[..., float]
    uses_scores: bool
    larger_is_better: bool


def _of_labels(function: Callable[..., float], *, larger: bool = True) -> Metric:
    """Register a metric of predicted label sets under its own name."""
    return Metric(function.__name__, function, uses_scores=False, larger_is_better=larger)


def _of_scores(function: Callable[..., float], *, larger: bool = True) -> Metric:
    """Register a metric of scores under its own name."""
    return Metric(function.__name__, function, uses_scores=True, larger_is_better=larger)


_ALL = [
    _of_labels(accuracy),
    _of_labels(micro_f1),
    _of_labels(macro_f1),
    _of_scores(average_precision),
    _of_scores(ranking_loss, larger=False),
    Metric("macro_f1_of_present", partial(macro_f1, zero_division=math.nan), False, True),
    _of_labels(example_f1),
    _of_labels(hamming_loss, larger=False),
    _of_labels(subset_accuracy),
    _of_scores(coverage, larger=False),
    _of_scores(one_error, larger=False),
    _of_scores(macro_auc),
    _of_scores(micro_auc),
    *(Metric(f"precision_at_{k}", at_k(precision_at_k, k), True, True) for k in (1, 3, 5)),
    *(Metric(f"ndcg_at_{k}", at_k(ndcg_at_k, k), True, True) for k in (1, 3, 5)),
]

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
"""Every metric that has no parameters of its own, the paper's five first."""


def get_metric(name: str) -> Metric:
    """Look up a metric.

    Parameters
    ----------
    name : str
        One of the keys of ``METRICS``.

    Returns
    -------
    Metric
        The metric.

    Examples
    --------
    >>> from protolabel.metrics import get_metric
    >>> get_metric("ranking_loss").larger_is_better
    False
    """
    if name not in METRICS:
        raise ValueError(f"there is no metric {name!r}; choose from {', '.join(METRICS)}.")
    return METRICS[name]


def evaluate_by_name(
    Y_true: Labels, Y_pred: Labels, scores: ArrayLike, *, names: Sequence[str] | None = None
) -> dict[str, float]:
    """Compute any of the named metrics.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant.
    names : sequence of str, default=None
        Names from ``METRICS``; all that the number of labels allows when None.

    Returns
    -------
    dict of str to float
        One entry per name, in the given order.

    Examples
    --------
    >>> from protolabel.metrics import evaluate_by_name
    >>> evaluate_by_name([[1, 0]], [[1, 1]], [[2, 1]], names=["hamming_loss", "one_error"])
    {'hamming_loss': 0.5, 'one_error': 0.0}
    """
    if names is None:
        n_labels = Y_true.shape[1] if hasattr(Y_true, "shape") else len(Y_true[0])
        names = [name for name in METRICS if _cut_of(name) <= n_labels]
    metrics = [get_metric(name) for name in names]
    if len({metric.uses_scores for metric in metrics}) > 1:
        refuse_scores_of_either_order(Y_true, Y_pred, scores)
    return {
        metric.name: metric.function(Y_true, scores if metric.uses_scores else Y_pred)
        for metric in metrics
    }


def _cut_of(name: str) -> int:
    """Return the number of labels a metric needs."""
    return int(name.rpartition("_at_")[2]) if "_at_" in name else 1
