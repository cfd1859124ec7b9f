"""The result of one unit of work: one method on one fold of one dataset."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from typing import Any

_PACKAGES = ("protolabel", "torch", "scikit-learn", "numpy", "scipy")


@dataclass(frozen=True)
class Unit:
    """What is to be computed; equal units have equal results."""

    dataset: str
    method: str
    tuning: str
    fold: int
    n_folds: int
    seed: int


@dataclass(frozen=True)
class Record:
    """What was computed for a unit, with all that is needed to compute it again."""

    unit: Unit
    params: Mapping[str, Any]
    metrics: Mapping[str, float]
    n_train: int
    n_test: int
    tuning_seconds: float
    fit_seconds: float
    predict_seconds: float
    versions: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Record:
        """Rebuild a record from its plain dictionary."""
        known = {f.name for f in fields(cls)}
        if set(value) != known:
            raise ValueError(
                f"A record has the fields {sorted(value)}; expected {sorted(known)}. "
                "It was written by another version."
            )
        return cls(**{**value, "unit": Unit(**value["unit"])})


def installed_versions() -> dict[str, str]:
    """Versions that a result depends on."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
