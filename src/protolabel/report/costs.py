"""Section of a run: how long it took, what it needed and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protolabel.experiments.record import Record
from protolabel.experiments.tables import records_by_arm
from protolabel.experiments.unit import Arm
from protolabel.report.page import Section


@dataclass(frozen=True)
class Cost:
    """One method on one dataset: means over its folds, in seconds and megabytes."""

    dataset: str
    method: str
    n_folds: int
    tuning: float
    fit: float
    predict: float
    memory_mb: float


@dataclass(frozen=True)
class Failure:
    """A unit that was not computed."""

    unit: str
    method: str
    message: str
    traceback: str


@dataclass(frozen=True)
class Costs:
    """Times and failures."""

    rows: Sequence[Cost]
    failures: Sequence[Failure]


def costs_section(records: Sequence[Record], names: Mapping[Arm, str]) -> Section:
    """Times and memory of every method on every dataset, and the failures."""
    rows = [
        Cost(
            dataset,
            names[arm],
            len(group),
            tuning=_mean([record.times.tuning for record in group]),
            fit=_mean([record.times.fit for record in group]),
            predict=_mean([record.times.predict for record in group]),
            memory_mb=max(record.peak_memory_mb for record in group),
        )
        for (dataset, arm), group in records_by_arm(records).items()
    ]
    failures = [_failure(record, names) for record in records if not record.is_ok]
    return Section("costs", "Times and failures", "costs.html", Costs(rows, failures))


def _failure(record: Record, names: Mapping[Arm, str]) -> Failure:
    error = (record.error or "").strip()
    unit = record.unit
    return Failure(
        unit=f"{unit.dataset}, fold {unit.fold + 1} of {unit.n_folds}, seed {unit.seed}",
        method=names[unit.arm],
        message=error.splitlines()[-1] if error else "no message",
        traceback=error,
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
