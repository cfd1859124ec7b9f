"""Metrics as scikit-learn scorers, for cross-validation and grid search of multi-label models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.metrics.registry import Metric, get_metric
from protolabel.metrics.truth import as_columns, truth_columns


@dataclass(frozen=True)
class MultilabelScorer:
    """A callable ``scorer(estimator, X, Y)`` for which larger is always better.

    Parameters
    ----------
    metric : Metric
        What to compute.
    """

    metric: Metric

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        """Score a fitted estimator; losses are negated.

        Parameters
        ----------
        estimator : object
            A fitted multi-label classifier.
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.
        Y : array-like or sparse of shape (n_samples, n_labels), data frame, or label sets
            Their true labels. Frames and label sets are matched to the ``label_names_`` of the
            estimator, where it has any; a label that it was not fitted to counts as missed.

        Returns
        -------
        float
            The metric, negated if smaller is better.
        """
        truth, n_unseen = truth_columns(estimator, Y)
        if self.metric.uses_scores:
            scores = label_scores(estimator, X, n_labels=truth.shape[1] - n_unseen)
            second: Any = np.pad(scores, ((0, 0), (0, n_unseen)), constant_values=-np.inf)
        else:
            second = _with_empty_columns(as_columns(estimator.predict(X)), n_unseen)
        value = self.metric.function(truth, second)
        return value if self.metric.larger_is_better else -value


def make_scorer(name: str) -> MultilabelScorer:
    """Return a named metric as a scorer for scikit-learn's model selection.

    Parameters
    ----------
    name : str
        One of the keys of ``METRICS``.

    Returns
    -------
    MultilabelScorer
        Pass it as ``scoring``; losses are negated, as scikit-learn expects.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from protolabel.metrics import make_scorer
    >>> X, Y = make_multilabel_classification(n_samples=80, n_classes=3, random_state=0)
    >>> model = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    >>> search = GridSearchCV(model, {"estimator__C": [0.01, 1.0]}, cv=2,
    ...                       scoring=make_scorer("macro_f1"))
    >>> bool(search.fit(X, Y).best_score_ > 0)
    True
    """
    return MultilabelScorer(get_metric(name))


def label_scores(estimator: Any, X: Any, *, n_labels: int) -> NDArray[np.floating[Any]]:
    """Return one real score per row and label of any multi-label classifier.

    Parameters
    ----------
    estimator : object
        A fitted classifier with ``decision_function`` or ``predict_proba``. Probabilities may
        also come as scikit-learn's list of one ``(n_samples, 2)`` array per label.
    X : array-like or sparse of shape (n_samples, n_features)
        Rows to score.
    n_labels : int
        Number of labels the estimator was fitted on.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The decision function where there is one, else the probabilities.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from protolabel.metrics import label_scores
    >>> X, Y = make_multilabel_classification(n_samples=20, n_classes=3, random_state=0)
    >>> label_scores(KNeighborsClassifier().fit(X, Y), X, n_labels=3).shape
    (20, 3)
    """
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
        scores = scores.reshape(-1, 1) if scores.ndim == 1 else scores
    elif hasattr(estimator, "predict_proba"):
        scores = _stack_probabilities(estimator, estimator.predict_proba(X), n_labels)
    else:
        raise TypeError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba; ranking "
            "metrics and thresholds need a model that gives scores."
        )
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            f"{type(estimator).__name__} gave scores of shape {scores.shape}, expected "
            f"{n_labels} column(s), one per label."
        )
    return scores


def _stack_probabilities(
    estimator: Any, probabilities: Any, n_labels: int
) -> NDArray[np.floating[Any]]:
    """Bring the several forms of multi-label ``predict_proba`` into one matrix."""
    if not isinstance(probabilities, list):
        matrix: NDArray[np.floating[Any]] = np.asarray(probabilities)
        # Two columns for one label are the two classes of a binary target.
        if n_labels == 1 and matrix.shape[1] == 2:
            return matrix[:, 1:]
        # One column of ones is its only class, which may be that of rows without the label.
        if n_labels == 1 and matrix.shape[1] == 1 and _knows_only_zero(estimator):
            return 1 - matrix
        return matrix
    columns = []
    for label, part in enumerate(probabilities):
        if part.shape[1] == 2:
            columns.append(part[:, 1])
        else:  # the label was constant in training, so its only class has probability one
            columns.append(np.full(part.shape[0], float(estimator.classes_[label][0])))
    return np.column_stack(columns)


def _knows_only_zero(estimator: Any) -> bool:
    """Whether a classifier of another library saw only rows without its one label."""
    if hasattr(estimator, "label_names_"):
        return False  # Ours number their labels in ``classes_``.
    classes = getattr(estimator, "classes_", None)
    return isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.tolist() == [0]


def _with_empty_columns(predicted: Any, n_more: int) -> Any:
    if n_more == 0:
        return predicted
    empty = sparse.csr_array((predicted.shape[0], n_more), dtype=np.int64)
    return sparse.hstack([sparse.csr_array(predicted), empty], format="csr")
