"""What settings are worth: one criterion for all methods, on inner folds of the training rows.

The criterion is the sum of the five metrics of the paper, ranking loss counted against the method,
as a mean over three inner folds. Where the unit has tuned thresholds, the decisions are taken with
thresholds tuned on the scores of the same inner test part. The value of settings thus does not
depend on thresholds that are replaced anyhow, and costs no further fits; that it is a little
optimistic is the same for all candidates.
"""

from __future__ import annotations

import warnings
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import has_fit_parameter

from protolabel.decision.decision_rule import apply_thresholds
from protolabel.decision.tuning import tune_thresholds
from protolabel.experiments.configuration import plain_json
from protolabel.methods import GridScores, Space
from protolabel.metrics import evaluate, label_scores
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

N_INNER_FOLDS = 3
Params = dict[str, Any]


class InnerFolds:
    """Training rows of a unit in inner folds, and what a candidate is worth on one of them.

    Parameters
    ----------
    estimator : classifier
        The method's estimator; it is cloned, not fitted.
    X : ndarray or CSR of shape (n_samples, n_features)
        Training rows only.
    Y : CSR of shape (n_samples, n_labels)
        Their labels.
    seed : int
        Seed of the inner folds.
    tunes_thresholds : bool
        Whether decisions are taken with tuned thresholds.
    groups : ndarray of shape (n_samples,) or None, default=None
        Rows that share an inner fold; an estimator that takes groups is told them.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        Y: Any,
        *,
        seed: int,
        tunes_thresholds: bool,
        groups: NDArray[Any] | None = None,
    ):
        self.estimator = estimator
        self.X, self.Y = X, Y
        self.groups = groups
        self.tunes_thresholds = tunes_thresholds
        splitter = MultilabelStratifiedKFold(N_INNER_FOLDS, shuffle=True, random_state=seed)
        self.folds = list(splitter.split(X, Y, groups))

    def score(self, params: Params, fold: int) -> float:
        """Criterion of one candidate on one fold."""
        train, test = self.folds[fold]
        model = clone(self.estimator).set_params(**params)
        options = {}
        if self.groups is not None and has_fit_parameter(model, "groups"):
            options["groups"] = self.groups[train]
        model.fit(self.X[train], self.Y[train], **options)
        X_test, truth = self.X[test], self.Y[test]
        scores = label_scores(model, X_test, n_labels=truth.shape[1])
        predicted = None if self.tunes_thresholds else model.predict(X_test)
        return self._criterion(truth, predicted, scores)

    def score_grid(self, hook: GridScores, space: Space, fold: int) -> list[tuple[Params, float]]:
        """Criterion of all candidates on one fold, by a method's own way through the grid."""
        train, test = self.folds[fold]
        results = hook(clone(self.estimator), space, self.X[train], self.Y[train], self.X[test])
        return [
            (dict(params), self._criterion(self.Y[test], predicted, scores))
            for params, scores, predicted in results
        ]

    def _criterion(self, truth: Any, predicted: Any, scores: Any) -> float:
        if self.tunes_thresholds:
            rule = tune_thresholds("prior_tilted", scores, truth, rng=np.random.default_rng(0))
            predicted = apply_thresholds(scores, rule.thresholds)
        return sum_of_metrics(truth, predicted, scores)


def sum_of_metrics(Y_true: Any, Y_pred: Any, scores: Any) -> float:
    """The criterion of tuning on one set of rows; metrics that they leave undefined do not count.

    Examples
    --------
    >>> sum_of_metrics([[1, 0]], [[1, 0]], [[2.0, 1.0]])
    3.5
    """
    signs = {"ranking_loss": -1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        result = evaluate(Y_true, Y_pred, scores)
    return sum(signs.get(name, 1) * value for name, value in result.items() if isfinite(value))


def plain_space(space: Space) -> dict[str, Any]:
    """A search space as plain JSON, for a record."""
    return {name: plain_json(list(values)) for name, values in space.items()}
