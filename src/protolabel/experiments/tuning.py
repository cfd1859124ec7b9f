"""Grid search by cross-validation inside the training rows of a fold."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import GridSearchCV

from protolabel.methods import Method
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

N_INNER_FOLDS = 3


def tuned_params(method: Method, estimator: Any, X: Any, Y: Any, seed: int) -> dict[str, Any]:
    """Best values of a method's coarse grid by inner folds.

    Parameters
    ----------
    method : Method
    estimator : classifier
        The method's estimator; it is cloned, not fitted.
    X : ndarray or CSR of shape (n_samples, n_features)
        Training rows only.
    Y : CSR of shape (n_samples, n_labels)
    seed : int
        Seed of the inner folds.
    """
    search = GridSearchCV(
        estimator,
        {name: list(values) for name, values in method.coarse_space.items()},
        scoring=sum_of_metrics,
        cv=MultilabelStratifiedKFold(N_INNER_FOLDS, shuffle=True, random_state=seed),
        refit=False,
        error_score="raise",
    )
    return dict(search.fit(X, Y).best_params_)


def sum_of_metrics(estimator: Any, X: Any, Y: Any) -> float:
    """The five metrics of the paper added up, ranking loss counted against the method."""
    result = evaluate(Y, estimator.predict(X), estimator.decision_function(X))
    return sum(result.values()) - 2 * result["ranking_loss"]
