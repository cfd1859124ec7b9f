"""Any multi-label classifier with probabilities that mean what they say."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from protolabel.all_or_nothing import all_or_nothing
from protolabel.decision._cross_fitting import (
    DEFAULT_FOLDS,
    fit_on_all_rows,
    held_out_scores,
    score_rows,
    tags_of_wrapper,
)
from protolabel.decision.calibration import LabelCalibration, fit_calibration
from protolabel.decision.named_labels import NamedLabelsMixin


class CalibratedMultilabelClassifier(MetaEstimatorMixin, NamedLabelsMixin, BaseEstimator):
    """A multi-label classifier with probabilities calibrated by inner cross-validation.

    The maps from scores to probabilities are fitted on scores that each row got from a model
    trained without it, and are then applied to the model trained on all rows. A one-dimensional
    ``y`` is calibrated class by class, and the probabilities of a row are made to sum to 1.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    method : {"sigmoid", "isotonic", "beta"}, default="sigmoid"
        Family of the maps.
    shrinkage : float, default=20.0
        Strength of the pull towards the map common to all labels, for labels with few positive
        or few negative rows. Without effect on one-dimensional targets.
    cv : int, splitter, iterable of (train, test) or None, default=5
        Inner folds, stratified over all labels, or any splitter, for instance a single split.
    random_state : int, RandomState or None, default=None
        Seed of the inner folds.
    n_jobs : int or None, default=None
        Inner folds fitted at the same time.

    Attributes
    ----------
    estimator_ : object
        The estimator fitted on all rows.
    calibration_ : LabelCalibration
        The fitted maps.
    classes_ : ndarray
        Label columns, or the classes of a one-dimensional target.
    label_names_ : ndarray
        Names of the labels.
    n_features_in_ : int
        Number of features, if the wrapped estimator knows it.
    feature_names_in_ : ndarray of str
        Names of the features, if the wrapped estimator knows them.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from sklearn.svm import LinearSVC
    >>> from protolabel.decision import CalibratedMultilabelClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = CalibratedMultilabelClassifier(OneVsRestClassifier(LinearSVC()), random_state=0)
    >>> model.fit(X, Y).predict_proba(X).shape
    (200, 4)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["sigmoid", "isotonic", "beta"] = "sigmoid",
        shrinkage: float = 20.0,
        cv: Any = DEFAULT_FOLDS,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.shrinkage = shrinkage
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None) -> Self:
        """Fit the estimator and the maps to probabilities.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, passed on as they are.
        y : array-like or sparse of shape (n_samples, n_labels), or label sets
            0/1 labels, or a one-dimensional target.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together and share an inner fold; passed on to a splitter.

        Returns
        -------
        CalibratedMultilabelClassifier
            The fitted classifier.
        """
        with all_or_nothing(self):
            targets, passed_on = fit_on_all_rows(self, X, y)
            self._kind = targets.kind
            held_out = held_out_scores(self, X, passed_on, targets, groups)
            self.calibration_: LabelCalibration = fit_calibration(
                held_out.scores,
                targets.matrix[held_out.rows],
                method=self.method,
                shrinkage=self.shrinkage if targets.kind == "multilabel" else 0.0,
            )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return calibrated probabilities.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            One column per label, or per class of a one-dimensional target.
        """
        check_is_fitted(self)
        scores = score_rows(self.estimator_, X, len(self.calibration_.maps))
        probabilities = self.calibration_.probabilities(scores)
        if self._kind == "multilabel":
            return probabilities
        if self._kind == "binary":
            return np.column_stack([1 - probabilities, probabilities])
        normalised: NDArray[np.float64] = probabilities / probabilities.sum(axis=1, keepdims=True)
        return normalised

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels that are more probable than not, or the most probable class.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            0/1 predictions, or classes for a one-dimensional target.
        """
        probabilities = self.predict_proba(X)
        if self._kind == "multilabel":
            return (probabilities > 0.5).astype(np.int64)
        predicted: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def __sklearn_tags__(self) -> Tags:
        return tags_of_wrapper(super().__sklearn_tags__(), self.estimator)
