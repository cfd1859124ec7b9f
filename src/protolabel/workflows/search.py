"""Search for settings of a method on a user's data, by inner folds."""

from __future__ import annotations

import hashlib
import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.datasets.matrix_digest import matrix_digest
from protolabel.exceptions import DatasetError
from protolabel.experiments.inner_folds import N_INNER_FOLDS
from protolabel.experiments.tuning import search_space, tune_settings
from protolabel.experiments.unit import Unit, check_tuning, freeze_settings
from protolabel.methods import find_method
from protolabel.workflows.inputs import fit_inputs
from protolabel.workflows.labelled_data import LabelledData

# The recommended configuration is in no paper, so it has no grid of one.
PNML_SPACE: Mapping[str, Sequence[Any]] = {
    "prototypes": ("single", "multiple"),
    "learning_rate": (1e-3, 3e-3, 1e-2),
    "embedding_dropout": (0.2, 0.5),
    "metric_penalty": (0.0, 1e-3),
}


@dataclass(frozen=True)
class SearchPlan:
    """What to search.

    Parameters
    ----------
    method : str
        Name of the method.
    tuning : str
        "grid", "full-grid", or a number of trials.
    settings : mapping of str to Any
        Parameters that are fixed.
    space : mapping of str to sequence
        Values to choose from; empty for the method's own.
    seed : int, default=0
        Seed of folds, search and method.
    """

    method: str
    tuning: str
    settings: Mapping[str, Any]
    space: Mapping[str, Sequence[Any]]
    seed: int = 0

    def check(self) -> None:
        """Refuse a plan that cannot be followed."""
        if self.tuning == "none":
            raise ValueError("A search of none was asked for; use grid, full-grid or a number.")
        check_tuning(self.tuning)
        twice = [name for name in self.space if name in self.settings]
        if twice:
            raise ValueError(
                f"{twice[0]!r} has a fixed value, {self.settings[twice[0]]!r}, and values to "
                "search; give one of the two."
            )
        if not search_space(self.unit("")):
            raise ValueError(
                f"The settings fix all that is searched of {self.method!r}, "
                f"{', '.join(self.settings)}; leave one of them out, or search others."
            )

    def unit(self, name: str) -> Unit:
        """The search as a unit of the bench."""
        space = self.space
        if not space and not find_method(self.method).space:
            if not self.method.startswith("pnml"):
                raise ValueError(
                    f"The method {self.method!r} has no values to search of its own; give some, "
                    "for example --space name=1,2,3."
                )
            space = PNML_SPACE
        return Unit(
            dataset=name,
            method=self.method,
            tuning=self.tuning,
            fold=0,
            n_folds=2,
            seed=self.seed,
            settings=freeze_settings(self.settings),
            space=freeze_settings({key: list(values) for key, values in space.items()}),
        )


@dataclass(frozen=True)
class SearchResult:
    """The best settings, their value, and how many were looked at."""

    settings: dict[str, Any]
    value: float
    n_candidates: int
    n_combinations: int


def search_settings(
    model: Any, data: LabelledData, plan: SearchPlan, *, storage: Path | None = None
) -> SearchResult:
    """Find the settings with the largest sum of the five metrics on three inner folds.

    Parameters
    ----------
    model : estimator
        The method with its fixed settings; it is cloned, not fitted.
    data : LabelledData
        All of it is used: keep the rows to measure the final model with elsewhere.
    plan : SearchPlan
    storage : Path or None, default=None
        Folder that keeps what is known about candidates, to go on after an interruption.

    Examples
    --------
    >>> from protolabel.workflows.file_options import FileOptions
    >>> from protolabel.workflows.labelled_data import read_labelled
    >>> from protolabel.workflows.method_settings import build_method
    >>> plan = SearchPlan("ml-knn", "grid", {}, {"n_neighbors": [3, 15]})
    >>> data = read_labelled("yeast", FileOptions())
    >>> search_settings(build_method("ml-knn", {}), data, plan).settings
    {'n_neighbors': 15}
    """
    rows = np.arange(data.Y.shape[0])
    X, Y = fit_inputs(data.content, rows).encode(data.content), sp.csr_array(data.Y)
    # Candidates that were tried on other data under the same name are not known.
    parts = [data.name, matrix_digest(X)[:16], matrix_digest(Y)[:16]]
    n_apart = len(rows) if data.groups is None else len(np.unique(data.groups))
    if n_apart < N_INNER_FOLDS:
        kind = "rows" if data.groups is None else "groups of rows"
        raise DatasetError(
            f"{data.name} has {n_apart} {kind}, too few for the {N_INNER_FOLDS} folds that "
            "settings are compared on"
        )
    if data.groups is not None:
        parts.append(hashlib.sha256(np.ascontiguousarray(data.groups).data).hexdigest()[:16])
    unit = plan.unit(" ".join(parts))
    space = search_space(unit)
    unknown = sorted(set(space) - set(model.get_params(deep=False)))
    if unknown:
        raise ValueError(f"The method {plan.method!r} has no parameter {unknown[0]!r} to search.")
    params, search = tune_settings(unit, model, X, Y, studies=storage, groups=data.groups)
    return SearchResult(
        settings=params,
        value=search.best_value,
        n_candidates=search.n_candidates,
        n_combinations=math.prod(len(values) for values in space.values()),
    )


def train_command(arguments: Sequence[str], settings: Mapping[str, Any]) -> str:
    """The command line that trains with the settings found.

    Examples
    --------
    >>> train_command(["my data.csv", "--n-labels", "3"], {"prototypes": "single", "c": 0.5})
    "protolabel train 'my data.csv' --n-labels 3 --set prototypes=single --set c=0.5 --model MODEL"
    """
    words = [*arguments]
    for name, value in settings.items():
        words += ["--set", f"{name}={_written(value)}"]
    return " ".join(["protolabel train", *(shlex.quote(word) for word in words), "--model MODEL"])


def _written(value: Any) -> str:
    """A value as ``--set`` reads it back."""
    return value if isinstance(value, str) else json.dumps(value)
