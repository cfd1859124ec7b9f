"""Tuning of a unit: what is searched, and by which kind of search."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from protolabel.experiments.grid_search import search_grid
from protolabel.experiments.inner_folds import InnerFolds, Params
from protolabel.experiments.record import Search
from protolabel.experiments.unit import Unit
from protolabel.methods import Space, find_method


def tune_settings(
    unit: Unit,
    estimator: Any,
    X: Any,
    Y: Any,
    *,
    studies: Path | None = None,
    groups: NDArray[Any] | None = None,
) -> tuple[Params, Search]:
    """Best settings of a unit by inner folds.

    A grid is searched in full; a number of trials that is less than its combinations is spent by
    :mod:`protolabel.experiments.budgeted_search`.

    Parameters
    ----------
    unit : Unit
        Names the method, the kind of tuning and the seed.
    estimator : classifier
        The method's estimator; it is cloned, not fitted.
    X : ndarray or CSR of shape (n_samples, n_features)
        Training rows only.
    Y : CSR of shape (n_samples, n_labels)
        Their labels.
    studies : Path, default=None
        Folder that keeps what is known about candidates, to go on with it after a restart.
    groups : ndarray of shape (n_samples,) or None, default=None
        Rows that share an inner fold.

    Returns
    -------
    params : dict
        The chosen values.
    search : Search
        What was looked at.
    """
    space = search_space(unit)
    tunes_thresholds = unit.thresholds == "tuned"
    inner = InnerFolds(
        estimator, X, Y, seed=unit.seed, tunes_thresholds=tunes_thresholds, groups=groups
    )
    storage = None if studies is None else studies / f"{unit.key}.jsonl"
    n_combinations = math.prod(len(values) for values in space.values())
    if unit.tuning.isdecimal() and int(unit.tuning) < n_combinations:
        from protolabel.experiments.budgeted_search import search_with_budget  # noqa: PLC0415

        return search_with_budget(
            inner, space, n_trials=int(unit.tuning), seed=unit.seed, storage=storage
        )
    method = find_method(unit.method)
    is_shared = bool(space) and set(space) <= set(method.shared_parameters)
    hook = method.grid_scores if is_shared else None
    return search_grid(inner, space, hook=hook, storage=storage)


def search_space(unit: Unit) -> Space:
    """Values that a unit may choose from; those that its settings fix are left out."""
    method = find_method(unit.method)
    space: Space = dict(unit.space) or (
        method.coarse_space if unit.tuning == "grid" else method.space
    )
    fixed = dict(unit.settings)
    return {name: values for name, values in space.items() if name not in fixed}
