"""Any multi-label classifier with decision thresholds chosen on rows it has not seen."""

from __future__ import annotations

from typing import Any, Self

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
    offered_if_wrapped,
    score_rows,
    tags_of_wrapper,
)
from protolabel.decision._scores import keep_off_the_ends
from protolabel.decision.named_labels import NamedLabelsMixin
from protolabel.decision.thresholds import DecisionRule, ThresholdRule
from protolabel.decision.tuning import Objective, RuleName, check_rule, tune_thresholds
from protolabel.metrics import label_scores
from protolabel.preprocessing.labels import is_constant_label


class ThresholdedClassifier(MetaEstimatorMixin, NamedLabelsMixin, BaseEstimator):
    """A multi-label classifier whose decision thresholds are tuned by inner cross-validation.

    The thresholds are found on scores that each row got from a model trained without it, and are
    then applied to the model trained on all rows. Scores are those of ``decision_function``, or
    the logit of ``predict_proba`` where the estimator has no decision function.

    A one-dimensional ``y`` has exactly one class per row and no threshold to choose: it is
    predicted as the wrapped estimator does.

    Parameters
    ----------
    estimator : object
        A classifier with ``decision_function`` or ``predict_proba``.
    rule : {"rowwise", "prior_tilted", "global", "per_label", "cardinality", "fixed"}, \
            default="rowwise"
        How thresholds may differ: between labels along their priors and F1, with a handicap for
        labels behind the best one of their row; along their priors alone; not at all; freely but
        drawn towards a common one for rare labels; so that the mean number of labels is kept; or
        all at ``threshold``.
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
        What is maximised; "balanced" is the sum of the three others.
    threshold : float, default=0.0
        Threshold of the rule ``"fixed"``.
    shrinkage : float, default=100.0
        Strength of the pull towards the common threshold in the rule ``"per_label"``.
    at_least_one : bool, default=False
        Give rows that would get no label the one closest to its threshold.
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
    thresholds_ : ndarray of shape (n_labels,)
        No label is predicted at or below its threshold.
    decision_ : DecisionRule
        The thresholds, and the handicaps of the rule ``"rowwise"``.
    rule_ : ThresholdRule or None
        What the tuning found; None for the rule ``"fixed"`` and for one-dimensional targets.
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
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from protolabel.decision import ThresholdedClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=6, random_state=0)
    >>> model = OneVsRestClassifier(LogisticRegression(max_iter=1000))
    >>> ThresholdedClassifier(model, random_state=0).fit(X, Y).thresholds_.shape
    (6,)
    """

    def __init__(
        self,
        estimator: Any,
        *,
        rule: RuleName = "rowwise",
        objective: Objective = "balanced",
        threshold: float = 0.0,
        shrinkage: float = 100.0,
        at_least_one: bool = False,
        cv: Any = DEFAULT_FOLDS,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.objective = objective
        self.threshold = threshold
        self.shrinkage = shrinkage
        self.at_least_one = at_least_one
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None) -> Self:
        """Fit the estimator and choose the thresholds.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Training rows, passed on as they are.
        y : array-like or sparse of shape (n_samples, n_labels), or label sets
            0/1 labels; a one-dimensional target is passed on to the estimator.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together and share an inner fold; passed on to a splitter.

        Returns
        -------
        ThresholdedClassifier
            The fitted classifier.
        """
        check_rule(self.rule, self.objective)
        with all_or_nothing(self):
            targets, passed_on = fit_on_all_rows(self, X, y)
            self._kind = targets.kind
            n_labels = targets.matrix.shape[1]
            self.rule_: ThresholdRule | None = None
            self.decision_ = DecisionRule.of(
                np.full(n_labels, float(self.threshold) if self.rule == "fixed" else 0.0)
            )
            if self._kind == "multilabel" and self.rule != "fixed":
                held_out = held_out_scores(self, X, passed_on, targets, groups)
                self.rule_ = tune_thresholds(
                    self.rule,
                    held_out.scores,
                    targets.matrix[held_out.rows],
                    objective=self.objective,
                    shrinkage=self.shrinkage,
                )
                # A label that was never or always there keeps its constant decision.
                is_plain = is_constant_label(targets.matrix)
                self.decision_ = self.rule_.decision.with_plain_labels(is_plain)
        return self

    @property
    def thresholds_(self) -> NDArray[np.float64]:
        """Scores that labels have to exceed to be predicted."""
        check_is_fitted(self)
        return self.decision_.thresholds

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the labels whose score is high enough.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            0/1 predictions, or classes for a one-dimensional target.
        """
        check_is_fitted(self)
        if self._kind != "multilabel":
            return np.asarray(self.estimator_.predict(X))
        scores = score_rows(self.estimator_, X, self.thresholds_.size)
        return self.decision_.decide(scores, at_least_one=self.at_least_one)

    @offered_if_wrapped("decision_function")
    def decision_function(self, X: Any) -> NDArray[np.floating[Any]]:
        """Return the scores of the wrapped estimator, before thresholds.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Compare them with ``thresholds_``; rankings are not affected by thresholds.
        """
        check_is_fitted(self)
        if self._kind != "multilabel":
            return np.asarray(self.estimator_.decision_function(X))
        return label_scores(self.estimator_, X, n_labels=self.thresholds_.size)

    @offered_if_wrapped("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.floating[Any]]:
        """Return the probabilities of the wrapped estimator, one column per label.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Probabilities; thresholds do not change them. Those of certain models are kept a
            hair off 0 and 1, so that logits stay finite.
        """
        check_is_fitted(self)
        if self._kind != "multilabel":
            return np.asarray(self.estimator_.predict_proba(X))
        n_labels = self.thresholds_.size
        probabilities = label_scores(_ProbabilitiesOnly(self.estimator_), X, n_labels=n_labels)
        return keep_off_the_ends(probabilities)

    def __sklearn_tags__(self) -> Tags:
        return tags_of_wrapper(super().__sklearn_tags__(), self.estimator)


class _ProbabilitiesOnly:
    """A view of an estimator that hides its decision function."""

    def __init__(self, estimator: Any) -> None:
        self.predict_proba = estimator.predict_proba
        self.classes_ = getattr(estimator, "classes_", None)
