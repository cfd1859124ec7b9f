"""Search a grid one hyper-parameter at a time by cross-validation inside the training rows.

A full product of the paper's grids has hundreds of cells; changing one coordinate at a time
visits a few dozen and finds the same settings where they do not interact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold


@dataclass(frozen=True)
class Trial:
    """One setting and the score it got on the inner folds."""

    params: Mapping[str, Any]
    score: float


@dataclass(frozen=True)
class SearchResult:
    """The best setting found and all that were tried."""

    best_params: Mapping[str, Any]
    trials: tuple[Trial, ...]


def coordinate_search(
    estimator: Any,
    X: Any,
    Y: Any,
    space: Mapping[str, Sequence[Any]],
    *,
    n_splits: int = 5,
    seed: int = 0,
) -> SearchResult:
    """Improve one hyper-parameter after the other, in the order of the search space.

    Parameters
    ----------
    estimator : classifier
        Cloned for every trial; its own values are the starting point.
    X : array-like or sparse of shape (n_samples, n_features)
    Y : array-like or sparse of shape (n_samples, n_labels)
    space : mapping of str to sequence
        Values to try for each parameter.
    n_splits : int, default=5
        Inner folds; a single split of a few hundred rows is too noisy to tell settings apart.
    seed : int, default=0

    Returns
    -------
    SearchResult
        A value replaces the current one only if its score is higher.
    """
    splits = list(MultilabelStratifiedKFold(n_splits, random_state=seed).split(X, Y))
    trials: list[Trial] = []

    def score(params: Mapping[str, Any]) -> float:
        for trial in trials:
            if dict(trial.params) == dict(params):
                return trial.score
        value = float(np.mean([_split_score(estimator, params, X, Y, *s) for s in splits]))
        trials.append(Trial(dict(params), value))
        return value

    best = {name: estimator.get_params()[name] for name in space}
    for name, values in space.items():
        for value in values:
            candidate = best | {name: value}
            if score(candidate) > score(best):
                best = candidate
    return SearchResult(best, tuple(trials))


def _split_score(
    estimator: Any,
    params: Mapping[str, Any],
    X: Any,
    Y: Any,
    train: np.ndarray,
    test: np.ndarray,
) -> float:
    """Sum of the five metrics of the paper on one inner fold, ranking loss counted against it."""
    model = clone(estimator).set_params(**params).fit(X[train], Y[train])
    result = evaluate(Y[test], model.predict(X[test]), model.decision_function(X[test]))
    return sum(result.values()) - 2 * result["ranking_loss"]
