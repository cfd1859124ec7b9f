"""Section of a run: every metric as a table of datasets and methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protolabel.experiments.published import published_value
from protolabel.experiments.record import Record
from protolabel.experiments.tables import METRIC_TITLES, published_title, records_by_arm
from protolabel.experiments.unit import Arm
from protolabel.report.names import larger_is_better, metric_title
from protolabel.report.page import Section

# Tables print this many digits, and what looks equal counts as equal.
DIGITS = 3


@dataclass(frozen=True)
class Cell:
    """One method on one dataset by one metric.

    Parameters
    ----------
    mean : float
        Over the folds.
    deviation : float or None
        Standard deviation over the folds; None for a single one.
    folds : str or None
        "3 of 5" where some are missing.
    published : float or None
        What the paper prints.
    gain : float or None
        What the mean is better by than the published value, in the direction of the metric.
    is_best : bool
        Whether no method is better on this dataset, to the digits shown.
    """

    mean: float
    deviation: float | None
    folds: str | None
    published: float | None
    gain: float | None
    is_best: bool

    @property
    def difference(self) -> float | None:
        """Mean minus published value."""
        return None if self.published is None else self.mean - self.published

    @property
    def standing(self) -> str:
        """Beside the published value, to the digits shown: gain, loss or equal."""
        gain = round(self.gain or 0.0, DIGITS)
        return "gain" if gain > 0 else "loss" if gain < 0 else "equal"


@dataclass(frozen=True)
class MetricTable:
    """Datasets in rows, methods in columns; None where a method has no record."""

    metric: str
    title: str
    larger_is_better: bool
    rows: Mapping[str, Sequence[Cell | None]]


@dataclass(frozen=True)
class Results:
    """The tables of a run."""

    methods: Sequence[str]
    tables: Sequence[MetricTable]


def results_section(tables: Sequence[MetricTable], methods: Sequence[str]) -> Section:
    """Tables of all metrics, with the published values where there are any."""
    return Section("results", "Results", "results.html", Results(methods, tables))


def metrics_of(records: Sequence[Record]) -> list[str]:
    """Metrics of the successful records, those of the paper first."""
    found = {name for record in records if record.is_ok for name in record.metrics}
    return [*(name for name in METRIC_TITLES if name in found), *sorted(found - set(METRIC_TITLES))]


def metric_table(records: Sequence[Record], names: Mapping[Arm, str], metric: str) -> MetricTable:
    """One metric of a run."""
    groups = records_by_arm(records)
    datasets = list(dict.fromkeys(dataset for dataset, _ in groups))
    larger = larger_is_better(metric)
    rows = {}
    for dataset in datasets:
        values = {
            arm: [r.metrics[metric] for r in groups[dataset, arm] if metric in r.metrics]
            for arm in names
            if (dataset, arm) in groups
        }
        rounded = [round(float(np.mean(v)), DIGITS) for v in values.values() if v]
        known = [value for value in rounded if not math.isnan(value)]
        best = (max if larger else min)(known, default=math.nan)
        rows[dataset] = [
            _cell(dataset, arm, metric, values[arm], groups[dataset, arm], best)
            if values.get(arm) and math.isfinite(np.mean(values[arm]))
            else None
            for arm in names
        ]
    return MetricTable(metric, metric_title(metric), larger, rows)


def published_counterpart(dataset: str, method: str, metric: str) -> float | None:
    """The value that the paper prints for a method, in its main or its ablation table."""
    title = published_title(method)
    if title is None:
        return None
    main = published_value(dataset, title, metric)
    return main if main is not None else published_value(dataset, title, metric, table="ablation")


def _cell(
    dataset: str,
    arm: Arm,
    metric: str,
    values: Sequence[float],
    group: Sequence[Record],
    best: float,
) -> Cell:
    mean = float(np.mean(values))
    published = published_counterpart(dataset, arm.method, metric)
    gain = None
    if published is not None:
        gain = mean - published if larger_is_better(metric) else published - mean
    n_folds = group[0].unit.n_folds
    return Cell(
        mean=mean,
        deviation=float(np.std(values, ddof=1)) if len(values) > 1 else None,
        folds=None if len(group) % n_folds == 0 else f"{len(group)} of {n_folds}",
        published=published,
        gain=gain,
        is_best=round(mean, DIGITS) == best,
    )
