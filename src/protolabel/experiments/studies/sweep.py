"""Folds of arms that differ in one or two settings, gathered by the values of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protolabel.experiments.record import Record
from protolabel.experiments.unit import Arm, freeze_settings


@dataclass(frozen=True)
class SweepPoint:
    """One arm on one dataset.

    Parameters
    ----------
    dataset : str
        Name.
    arm : Arm
        With the settings in question.
    records : tuple of Record
        Its folds, in order.
    """

    dataset: str
    arm: Arm
    records: tuple[Record, ...]

    def mean(self, metric: str) -> float:
        """Mean of a metric over the folds."""
        return float(np.mean([record.metrics[metric] for record in self.records]))

    def deviation(self, metric: str) -> float:
        """Standard deviation over the folds, NaN for a single one."""
        values = [record.metrics[metric] for record in self.records]
        return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")

    def describe(self, metric: str) -> str:
        """Mean and, of several folds, standard deviation."""
        mean, deviation = self.mean(metric), self.deviation(metric)
        return f"{mean:.3f}" if np.isnan(deviation) else f"{mean:.3f} ± {deviation:.3f}"

    @property
    def fit_seconds(self) -> float:
        """Seconds on the clock of all fits."""
        return sum(record.times.fit for record in self.records)

    @property
    def fit_cpu_seconds(self) -> float:
        """Seconds of processor time of all fits."""
        return sum(record.times.fit_cpu for record in self.records)


def with_settings(arm: Arm, **settings: Any) -> Arm:
    """An arm with further settings, which go before its own.

    Examples
    --------
    >>> with_settings(Arm("pnml"), max_epochs=2).label
    'pnml(max_epochs=2)'
    """
    merged = freeze_settings(dict(arm.settings) | settings)
    return Arm(arm.method, arm.tuning, arm.thresholds, merged, arm.space)


def sweep_points(records: Iterable[Record]) -> list[SweepPoint]:
    """Successful records by dataset and arm."""
    groups: dict[tuple[str, Arm], list[Record]] = {}
    for record in records:
        if record.is_ok:
            groups.setdefault((record.unit.dataset, record.unit.arm), []).append(record)
    return [
        SweepPoint(dataset, arm, tuple(sorted(group, key=lambda record: record.unit.fold)))
        for (dataset, arm), group in groups.items()
    ]


def find_points(
    points: Sequence[SweepPoint], dataset: str, arms: Mapping[Any, Arm]
) -> dict[Any, SweepPoint]:
    """The points of a dataset by the value that their arms stand for; missing ones left out."""
    known = {(point.dataset, point.arm): point for point in points}
    return {value: known[dataset, arm] for value, arm in arms.items() if (dataset, arm) in known}
