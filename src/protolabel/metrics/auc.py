"""Area under the ROC curve of labels and of all cells, on top of scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score

from protolabel.metrics._inputs import Floats, Indicator, Labels, as_indicator, as_scores


def macro_auc(Y_true: Labels, scores: ArrayLike) -> float:
    """Mean area under the ROC curve of the labels that have positive and negative rows.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant; compared within a label only.

    Returns
    -------
    float
        Between 0 and 1, larger is better, ties count one half; ``nan`` if no label has both.

    Examples
    --------
    >>> from protolabel.metrics import macro_auc
    >>> macro_auc([[1, 0], [0, 0], [1, 0]], [[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    1.0
    """
    truth = as_indicator(Y_true, "Y_true")
    areas = label_auc(truth, as_scores(scores, truth.shape, Y_true))
    known = areas[~np.isnan(areas)]
    return float(known.mean()) if known.size else _undefined("No label")


def micro_auc(Y_true: Labels, scores: ArrayLike) -> float:
    """Area under the ROC curve of all (row, label) cells pooled.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    scores : array-like of shape (n_samples, n_labels)
        Larger means more relevant; must be comparable across rows and labels.

    Returns
    -------
    float
        Between 0 and 1, larger is better, ties count one half; ``nan`` if all cells are alike.

    Examples
    --------
    >>> from protolabel.metrics import micro_auc
    >>> micro_auc([[1, 0], [0, 1]], [[0.9, 0.4], [0.6, 0.5]])
    0.75
    """
    truth = as_indicator(Y_true, "Y_true")
    checked = as_scores(scores, truth.shape, Y_true)
    if truth.nnz in (0, checked.size):
        return _undefined("Not one cell")
    return float(roc_auc_score((truth != 0).toarray().ravel(), _orderable(checked).ravel()))


def label_auc(truth: Indicator, scores: Floats) -> NDArray[np.float64]:
    """Return the area of each label, ``nan`` where all rows are alike."""
    by_label = truth.tocsc()
    n_samples, n_labels = truth.shape
    n_positive = np.diff(by_label.indptr)
    areas = np.full(n_labels, np.nan)
    ordered = _orderable(scores)
    for label in np.flatnonzero((n_positive > 0) & (n_positive < n_samples)):
        column = np.zeros(n_samples, dtype=np.int8)
        column[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = 1
        areas[label] = roc_auc_score(column, ordered[:, label])
    return areas


def _orderable(scores: Floats) -> Floats:
    """Replace infinite scores, which scikit-learn refuses, by the largest finite numbers."""
    return scores if np.isfinite(scores).all() else np.nan_to_num(scores)


def _undefined(what: str) -> float:
    """Warn that there is nothing to order."""
    warnings.warn(
        f"{what} has both a positive and a negative to compare; the area is nan.",
        UndefinedMetricWarning,
        stacklevel=3,
    )
    return float("nan")
