"""The scikit-learn surface that every multi-label classifier of the package shares.

A subclass brings ``_fit`` and ``_scores``; validation, the forms of targets and predictions,
and what scikit-learn expects of a classifier are here.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from protolabel.decision.rules import apply_thresholds
from protolabel.preprocessing.labels import Targets, encode_targets

# One order in memory: sums in another order differ in their last digits.
_ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
}


class MultilabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of the multi-label classifiers.

    Attributes
    ----------
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Raw features.
        y : array-like, sparse matrix or data frame of shape (n_samples, n_labels), or list
            A 0/1 label matrix, a list of label sets, or one class per row.
        """
        return self._fit_checked(X, y)

    def _fit_checked(self, X: Any, y: Any, **options: Any) -> Self:
        """Check rows and labels and learn from them; options go to ``_fit``."""
        X = validate_data(self, X, **_ROWS)
        targets = encode_targets(y)
        check_consistent_length(X, targets.matrix)
        self._fit(X, targets, **options)
        self._kind = targets.kind
        self.classes_ = targets.classes
        self.label_names_ = targets.names
        return self

    @abstractmethod
    def _fit(self, X: Any, targets: Targets) -> None:
        """Learn from validated rows, an ndarray or CSR, and encoded targets."""

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """Scores of validated rows, (n_samples, n_labels), above zero where a label is likely."""

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores into a 0/1 matrix."""
        return apply_thresholds(scores, 0.0)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores into numbers between 0 and 1."""
        return np.asarray(expit(scores))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores to rank labels by, comparable across the labels of a row.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a binary target
        """
        scores = self._scores(self._checked(X))
        return scores.ravel() if self._kind == "binary" else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every label, or of every class of a one-dimensional target.

        Returns
        -------
        ndarray of shape (n_samples, n_labels or n_classes)
        """
        scores = self._scores(self._checked(X))
        if self._kind == "multiclass":
            return np.asarray(softmax(scores, axis=1))
        positive = self._probabilities(scores)
        if self._kind == "multilabel":
            return positive
        if len(self.classes_) == 1:
            return np.ones_like(positive)
        return np.hstack([1 - positive, positive])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels of rows as a 0/1 matrix, or the class of a one-dimensional target."""
        scores = self._scores(self._checked(X))
        if self._kind == "multilabel":
            return self._decide(scores)
        if self._kind == "multiclass":
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        positive = (scores.ravel() > 0).astype(np.int64)
        return np.asarray(self.classes_[np.minimum(positive, len(self.classes_) - 1)])

    def predict_label_sets(self, X: Any) -> list[set[Any]]:
        """Names of the labels predicted for each row of a multi-label model.

        Examples
        --------
        >>> import numpy as np
        >>> from protolabel import PNMLClassifier
        >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
        >>> tags = [{"low"}] * 20 + [{"high", "rare"}] * 20
        >>> model = PNMLClassifier(random_state=0).fit(X, tags)
        >>> sorted(model.predict_label_sets([[1.0]])[0])
        ['high', 'rare']
        """
        check_is_fitted(self)
        if self._kind != "multilabel":
            raise ValueError(
                "predict_label_sets is for multi-label models; this one was fitted to one class "
                "per row, use predict."
            )
        return [set(self.label_names_[row.nonzero()]) for row in self.predict(X)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def _checked(self, X: Any, *, reset: bool = False) -> Any:
        """Rows as the model takes them; ``reset`` where it has not seen any."""
        if not reset:
            check_is_fitted(self)
        return validate_data(self, X, reset=reset, **_ROWS)
