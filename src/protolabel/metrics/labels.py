"""A report with one line per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from protolabel.metrics._inputs import (
    Labels,
    as_indicator_pair,
    as_scores,
    refuse_scores_of_either_order,
)
from protolabel.metrics.auc import label_auc
from protolabel.metrics.bipartition import label_counts


@dataclass(frozen=True)
class LabelReport:
    """Metrics of one label.

    Parameters
    ----------
    label : str
        Name of the label.
    n_true, n_predicted, n_hits : int
        Rows that have the label, that were given it, and both.
    precision, recall, f1 : float
        0 where undefined.
    auc : float
        Area under the ROC curve; ``nan`` without scores or if all rows are alike.
    """

    label: str
    n_true: int
    n_predicted: int
    n_hits: int
    precision: float
    recall: float
    f1: float
    auc: float


def label_report(
    Y_true: Labels,
    Y_pred: Labels,
    scores: ArrayLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> tuple[LabelReport, ...]:
    """Measure every label on its own.

    Parameters
    ----------
    Y_true, Y_pred : array-like or sparse of shape (n_samples, n_labels)
        True and predicted 0/1 labels.
    scores : array-like of shape (n_samples, n_labels), default=None
        Larger means more relevant; needed for the area under the ROC curve only.
    label_names : sequence of str, default=None
        Names; the column numbers when None.

    Returns
    -------
    tuple of LabelReport
        One entry per label, in column order.

    Examples
    --------
    >>> from protolabel.metrics import label_report
    >>> report = label_report([[1, 0], [1, 1]], [[1, 0], [0, 1]], label_names=["sea", "sky"])
    >>> [(line.label, line.recall) for line in report]
    [('sea', 0.5), ('sky', 1.0)]
    """
    if scores is not None:
        refuse_scores_of_either_order(Y_true, Y_pred, scores)
    truth, predicted = as_indicator_pair(Y_true, Y_pred)
    n_labels = truth.shape[1]
    names = [str(label) for label in range(n_labels)] if label_names is None else label_names
    if len(names) != n_labels:
        raise ValueError(f"label_names has {len(names)} names but Y_true has {n_labels} labels.")
    counts = label_counts(truth, predicted)
    areas = np.full(n_labels, np.nan)
    if scores is not None:
        areas = label_auc(truth, as_scores(scores, truth.shape, Y_true))
    lines = zip(names, counts.true, counts.predicted, counts.hits, areas, strict=True)
    return tuple(
        LabelReport(
            label=str(name),
            n_true=int(n_true),
            n_predicted=int(n_predicted),
            n_hits=int(n_hits),
            precision=float(n_hits / max(n_predicted, 1)),
            recall=float(n_hits / max(n_true, 1)),
            f1=float(2 * n_hits / max(n_true + n_predicted, 1)),
            auc=float(area),
        )
        for name, n_true, n_predicted, n_hits, area in lines
    )
