"""Decision thresholds by the name of their rule."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from protolabel.decision._scores import as_label_matrix
from protolabel.decision.objectives import check_objective
from protolabel.decision.thresholds import (
    ThresholdRule,
    match_cardinality,
    tune_global,
    tune_per_label,
    tune_prior_tilted,
    tune_rowwise,
)

RuleName = Literal["rowwise", "prior_tilted", "global", "per_label", "cardinality", "fixed"]
Objective = Literal["balanced", "accuracy", "micro_f1", "macro_f1"]
RULES: tuple[RuleName, ...] = get_args(RuleName)


def check_rule(rule: str, objective: str, *, parameter: str = "rule") -> None:
    """Refuse a rule or an objective that does not exist."""
    if rule not in RULES:
        known = ", ".join(repr(name) for name in RULES)
        raise ValueError(f"{parameter} is {rule!r}, expected one of {known}.")
    check_objective(objective)


def tune_thresholds(
    rule: RuleName,
    scores: ArrayLike,
    Y: Any,
    *,
    objective: Objective = "balanced",
    shrinkage: float = 100.0,
    rng: np.random.Generator | None = None,
) -> ThresholdRule:
    """Choose thresholds by the named rule, on scores of rows the model has not seen.

    Parameters
    ----------
    rule : {"rowwise", "prior_tilted", "global", "per_label", "cardinality"}
        ``"fixed"`` has nothing to tune and is refused.
    scores : array-like of shape (n_samples, n_labels)
    Y : array-like or sparse of shape (n_samples, n_labels)
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
    shrinkage : float, default=100.0
        Strength of the pull towards the common threshold in the rule ``"per_label"``.
    rng : numpy.random.Generator, default=None

    Examples
    --------
    >>> import numpy as np
    >>> scores, Y = np.array([[2.0, 1.0], [1.5, -1.0]]), np.array([[1, 0], [1, 0]])
    >>> tune_thresholds("cardinality", scores, Y).thresholds.shape
    (2,)
    """
    check_rule(rule, objective)
    if rule == "rowwise":
        return tune_rowwise(scores, Y, objective=objective, rng=rng)
    if rule == "prior_tilted":
        return tune_prior_tilted(scores, Y, objective=objective, rng=rng)
    if rule == "global":
        return tune_global(scores, Y, objective=objective, rng=rng)
    if rule == "per_label":
        return tune_per_label(scores, Y, objective=objective, shrinkage=shrinkage, rng=rng)
    if rule == "cardinality":
        truth = as_label_matrix(Y, np.shape(scores))
        return match_cardinality(scores, truth.sum() / truth.shape[0])
    raise ValueError("The rule 'fixed' has no threshold to tune.")
