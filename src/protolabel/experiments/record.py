"""The result of one unit of work, with all that is needed to compute it again."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from typing import Any, Literal, Self

from protolabel.experiments.unit import Unit
from protolabel.metrics import EdgeCases

FORMAT = 2
_PACKAGES = ("protolabel", "torch", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Times:
    """Seconds on the clock and of processor time, by stage."""

    tuning: float = 0.0
    fit: float = 0.0
    predict: float = 0.0
    tuning_cpu: float = 0.0
    fit_cpu: float = 0.0
    predict_cpu: float = 0.0

    @property
    def total(self) -> float:
        """Seconds on the clock of all stages."""
        return self.tuning + self.fit + self.predict


@dataclass(frozen=True)
class Search:
    """What tuning looked at.

    Parameters
    ----------
    space : mapping of str to list
        Values that were allowed.
    n_candidates : int
        Candidates scored on at least one inner fold.
    n_pruned : int
        Candidates given up before the last inner fold.
    best_value : float
        Criterion of the chosen candidate, see :mod:`protolabel.experiments.inner_folds`.
    """

    space: Mapping[str, Any]
    n_candidates: int
    n_pruned: int
    best_value: float


@dataclass(frozen=True)
class Record:
    """What was computed for a unit.

    Parameters
    ----------
    unit : Unit
        What was asked for; it names the seed.
    status : {"ok", "failed"}
        A failed unit has an ``error`` and no metrics.
    metrics : mapping of str to float
        Metrics on the test part.
    edge_cases : EdgeCases or None
        Edge cases of the test part; None in a failed record or one of format 1.
    n_train, n_test : int
        Rows of the two parts; 0 where the unit failed before the split.
    params : mapping
        Settings that tuning chose.
    search : Search or None
        What tuning looked at; None without tuning.
    configuration : mapping
        Class and parameters of the fitted estimator, nested ones included.
    configuration_hash : str
        Equal for equal configurations; "" where there is none.
    times : Times
        Duration of the stages.
    peak_memory_mb : float
        Largest resident memory of the process while it computed the unit.
    versions : mapping of str to str
        Python and the packages a result depends on.
    error : str or None
        Traceback of a failed unit.
    format : int
        Version of this list of fields.
    """

    unit: Unit
    status: Literal["ok", "failed"]
    metrics: Mapping[str, float]
    edge_cases: EdgeCases | None
    n_train: int
    n_test: int
    params: Mapping[str, Any]
    search: Search | None
    configuration: Mapping[str, Any]
    configuration_hash: str
    times: Times
    peak_memory_mb: float
    versions: Mapping[str, str]
    error: str | None = None
    format: int = field(default=FORMAT)

    @property
    def is_ok(self) -> bool:
        """Whether the unit was computed."""
        return self.status == "ok"

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary; a metric without a value becomes None."""
        value = asdict(self)
        value["unit"] = self.unit.to_json()
        value["metrics"] = {
            name: None if math.isnan(metric) else metric for name, metric in self.metrics.items()
        }
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Rebuild a record from its plain dictionary, also one of format 1."""
        if "format" not in value:
            value = _from_format_1(value)
        known = {f.name for f in fields(cls)}
        if value["format"] != FORMAT or set(value) != known:
            raise ValueError(
                f"A record of format {value['format']} has the fields {sorted(value)}; expected "
                f"format {FORMAT} with {sorted(known)}. It was written by another version."
            )
        edge, search = value["edge_cases"], value["search"]
        return cls(
            **{
                **value,
                "unit": Unit.from_json(value["unit"]),
                "metrics": {
                    name: math.nan if metric is None else metric
                    for name, metric in value["metrics"].items()
                },
                "edge_cases": None if edge is None else EdgeCases(**edge),
                "search": None if search is None else Search(**search),
                "times": Times(**value["times"]),
            }
        )


def installed_versions() -> dict[str, str]:
    """Versions that a result depends on."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def _from_format_1(value: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a record of the first format, which had no such field, into the present one."""
    kept = {name: value[name] for name in ("metrics", "n_train", "n_test", "params", "versions")}
    plain = {"thresholds": "none", "settings": {}, "space": {}}
    return kept | {
        "format": FORMAT,
        "unit": value["unit"] | plain,
        "status": "ok",
        "edge_cases": None,
        "search": None,
        "configuration": {},
        "configuration_hash": "",
        "times": {stage: value[f"{stage}_seconds"] for stage in ("tuning", "fit", "predict")},
        "peak_memory_mb": 0.0,
        "error": None,
    }
