"""Training time of one fold beside the hours of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from protolabel.experiments.figures.bars import draw_bars
from protolabel.experiments.figures.canvas import Draw
from protolabel.experiments.protocol import Protocol
from protolabel.experiments.published import PublishedRuntime, load_runtime
from protolabel.experiments.studies.findings import DataTable, Drawing, Findings, Section
from protolabel.experiments.studies.provenance import arm_name
from protolabel.experiments.studies.request import Request
from protolabel.experiments.studies.study import Material, Study
from protolabel.experiments.studies.sweep import SweepPoint, sweep_points, with_settings
from protolabel.experiments.unit import Arm

_PUBLISHED = {row.dataset: row for row in load_runtime()}
_HOURS = {"pnml-single": "hours_single", "pnml-multiple": "hours_multiple"}


@dataclass(frozen=True)
class TimedPoint:
    """Mean training time of a fold of one arm, ours and published.

    Parameters
    ----------
    point : SweepPoint
        Its folds.
    published : float or None
        Hours of the paper.
    """

    point: SweepPoint
    published: float | None

    @property
    def seconds(self) -> float:
        """Mean seconds of a fold, on the clock."""
        return self.point.fit_seconds / len(self.point.records)

    @property
    def cpu_seconds(self) -> float:
        """Mean processor seconds of a fold."""
        return self.point.fit_cpu_seconds / len(self.point.records)

    @property
    def hours(self) -> float:
        """Mean hours of a fold, on the clock."""
        return self.seconds / 3600

    @property
    def difference(self) -> float | None:
        """Ours minus published, in hours."""
        return None if self.published is None else self.hours - self.published

    @property
    def speedup(self) -> float | None:
        """Published hours by ours."""
        return None if self.published is None else self.published / self.hours


class Runtime(Study):
    """The run-time table of the supplement."""

    name = "runtime"
    title = "Training time of one fold"
    methods: ClassVar[tuple[str, ...]] = tuple(_HOURS)
    datasets: ClassVar[tuple[str, ...]] = tuple(_PUBLISHED)
    first_folds = 1

    def protocols(self, request: Request) -> tuple[Protocol, ...]:
        """A protocol for each dataset, with the sampling rates of the paper."""
        return tuple(
            Protocol(
                (dataset,),
                tuple(_with_rates(arm, _PUBLISHED.get(dataset)) for arm in self.arms(request)),
                n_folds=request.folds,
                seed=request.random_seed,
            )
            for dataset in request.datasets or self.datasets
        )

    def findings(self, material: Material) -> Findings:
        """The table, with the ratio of the two modes."""
        points = [
            TimedPoint(point, _published_hours(point)) for point in sweep_points(material.records)
        ]
        return Findings(
            (_section(points), _ratio_section(points)),
            (_table(points),),
            (
                (
                    "paper",
                    "one Nvidia 1080 Ti and Keras; batches of 128, 40 epochs. Ours: one thread "
                    "of a processor, batches and epochs as in the paper unless the command says "
                    "otherwise. *yeast* and *medical* are in no other table of the paper",
                ),
            ),
            {
                f"{timed.point.dataset} {timed.point.arm.method}": {
                    "seconds": timed.seconds,
                    "speedup": timed.speedup,
                }
                for timed in points
            },
        )


def _with_rates(arm: Arm, published: PublishedRuntime | None) -> Arm:
    if published is None or "positive_rate" in dict(arm.settings):
        return arm
    return with_settings(
        arm, positive_rate=published.rate_positive, negative_rate=published.rate_negative
    )


def _published_hours(point: SweepPoint) -> float | None:
    row = _PUBLISHED.get(point.dataset)
    if row is None or point.arm.method not in _HOURS:
        return None
    return float(getattr(row, _HOURS[point.arm.method]))


def _table(points: Sequence[TimedPoint]) -> DataTable:
    columns = ("dataset", "method", "arm", "folds", "train_rows", "fit_seconds", "fit_cpu_seconds")
    further = ("peak_memory_mb", "fit_hours", "published_hours", "difference_hours", "speedup")
    return DataTable(
        "runtime",
        (*columns, *further),
        tuple(
            (
                timed.point.dataset,
                timed.point.arm.method,
                arm_name(timed.point.arm),
                len(timed.point.records),
                timed.point.records[0].n_train,
                timed.seconds,
                timed.cpu_seconds,
                max(record.peak_memory_mb for record in timed.point.records),
                timed.hours,
                timed.published,
                timed.difference,
                timed.speedup,
            )
            for timed in points
        ),
    )


def _section(points: Sequence[TimedPoint]) -> Section:
    rows = tuple(
        (
            timed.point.dataset,
            arm_name(timed.point.arm),
            str(len(timed.point.records)),
            f"{timed.seconds:.1f} s",
            f"{timed.cpu_seconds:.1f} s",
            f"{timed.hours:.4f}",
            "" if timed.published is None else f"{timed.published:.3f}",
            "" if timed.difference is None else f"{timed.difference:+.4f}",
            "" if timed.speedup is None else f"{timed.speedup:.1f}",
        )
        for timed in points
    )
    columns = ("dataset", "method", "folds", "clock", "processor", "hours", "published hours")
    return Section(
        "Time of a fit, mean over the folds",
        "The rates are those of the paper's table. Difference: ours minus published, in hours.",
        (*columns, "difference", "published / ours"),
        rows,
        (Drawing("runtime", "Training time of a fold", _bars(points), size=(8.0, 4.0)),),
    )


def _ratio_section(points: Sequence[TimedPoint]) -> Section:
    rows = []
    for dataset in dict.fromkeys(timed.point.dataset for timed in points):
        by_method = {t.point.arm.method: t for t in points if t.point.dataset == dataset}
        if not set(_HOURS) <= set(by_method):
            continue
        single, multiple = (by_method[method] for method in _HOURS)
        published = (
            f"{multiple.published / single.published:.1f}"
            if single.published and multiple.published
            else ""
        )
        rows.append((dataset, f"{multiple.cpu_seconds / single.cpu_seconds:.1f}", published))
    return Section(
        "Multiple prototypes against single ones",
        "Ratio of the processor times, which does not depend on the machine as times do.",
        ("dataset", "multiple / single", "published"),
        tuple(rows),
    )


def _bars(points: Sequence[TimedPoint]) -> Draw:
    datasets = list(dict.fromkeys(timed.point.dataset for timed in points))
    series: dict[str, list[float | None]] = {}
    for method in dict.fromkeys(timed.point.arm.method for timed in points):
        found = {t.point.dataset: t for t in points if t.point.arm.method == method}
        series[f"{method}, ours"] = [found[d].hours if d in found else None for d in datasets]
        published = [found[d].published if d in found else None for d in datasets]
        if any(value is not None for value in published):
            series[f"{method}, paper"] = published
    return draw_bars(datasets, series, "hours (logarithmic)")
