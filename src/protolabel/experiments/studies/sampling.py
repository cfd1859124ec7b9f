"""Performance and training time under several rates of sampling rows for prototypes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from protolabel.experiments.figures.lines import Curve, Panel, draw_panels
from protolabel.experiments.studies.beside_published import published_metric
from protolabel.experiments.studies.findings import Cell, DataTable, Drawing, Findings, Section
from protolabel.experiments.studies.request import Request
from protolabel.experiments.studies.study import Material, Study
from protolabel.experiments.studies.sweep import (
    SweepPoint,
    find_points,
    sweep_points,
    with_settings,
)
from protolabel.experiments.tables import METRIC_TITLES, arm_title
from protolabel.experiments.unit import Arm

Rates = tuple[float, float]
Row = tuple[Cell, ...]
# The paper's figure has no numbers to read: from all rows down to fewer than its run-time table.
RATES: tuple[Rates, ...] = ((1, 1), (1, 0.5), (1, 0.1), (0.5, 0.1), (0.5, 0.05), (0.1, 0.01))
_IN_RUNTIME_TABLE: tuple[Rates, ...] = ((1, 0.5), (1, 0.1), (0.5, 0.05))
_SHOWN = ("micro_f1", "macro_f1")
_COLUMNS = (
    *("dataset", "method", "positive_rate", "negative_rate", "in_runtime_table", "metric"),
    *("mean", "sd", "published", "difference", "folds", "fit_seconds", "fit_cpu_seconds"),
)


class Sampling(Study):
    """The figure on instance sampling rates."""

    name = "sampling"
    title = "Influence of the sampling rates"
    methods: ClassVar[tuple[str, ...]] = ("pnml-single",)
    datasets: ClassVar[tuple[str, ...]] = ("arts",)
    grows = False

    def arms(self, request: Request) -> tuple[Arm, ...]:
        """Every method at all rates."""
        return tuple(arm for base in super().arms(request) for arm in rate_arms(base).values())

    def findings(self, material: Material) -> Findings:
        """One section for each dataset and method."""
        points = sweep_points(material.records)
        sections, rows = [], []
        for dataset in dict.fromkeys(point.dataset for point in points):
            for base in super().arms(material.request):
                found = find_points(points, dataset, rate_arms(base))
                if found:
                    sections.append(_section(dataset, base, found))
                    rows += _rows(dataset, base, found)
        return Findings(
            tuple(sections),
            (DataTable("sampling", _COLUMNS, tuple(rows)),),
            (
                (
                    "paper",
                    "a figure without numbers: PNML-single on *arts*, performance nearly the "
                    "same under all rates while the run time drops. Its rates are not in the "
                    "text; (1, 0.5), (1, 0.1) and (0.5, 0.05) are those of its run-time table",
                ),
            ),
            _summary(rows),
        )


def rate_arms(base: Arm) -> dict[Rates, Arm]:
    """The arm of each pair of rates, positive rate first."""
    return {
        (positive, negative): with_settings(
            base, positive_rate=float(positive), negative_rate=float(negative)
        )
        for positive, negative in RATES
    }


def _rows(dataset: str, base: Arm, found: Mapping[Rates, SweepPoint]) -> list[Row]:
    rows: list[Row] = []
    for rates, point in found.items():
        for metric in METRIC_TITLES:
            published = published_metric(dataset, base.method, metric)
            mean = point.mean(metric)
            rows.append(
                (
                    *(dataset, arm_title(base), *rates),
                    "yes" if rates in _IN_RUNTIME_TABLE else "no",
                    *(metric, mean, point.deviation(metric), published),
                    None if published is None else mean - published,
                    *(len(point.records), point.fit_seconds, point.fit_cpu_seconds),
                )
            )
    return rows


def _section(dataset: str, base: Arm, found: Mapping[Rates, SweepPoint]) -> Section:
    names = [f"{positive:g}, {negative:g}" for positive, negative in found]
    points = list(found.values())
    slowest = points[0].fit_cpu_seconds
    curves = [
        Curve(
            METRIC_TITLES[metric],
            [point.mean(metric) for point in points],
            [point.deviation(metric) for point in points],
        )
        for metric in _SHOWN
    ]
    seconds = [point.fit_cpu_seconds for point in points]
    time_curve = Curve("", seconds, [0.0] * len(seconds))
    rates_title = "rates (positive, negative)"
    panels = [
        Panel("Performance", rates_title, "mean over the folds", names, curves),
        Panel("Training time", rates_title, "s", names, [time_curve], from_zero=True),
    ]
    return Section(
        f"{dataset}, {arm_title(base)}",
        "Means over the folds with the standard deviation (value of the main table, which was "
        "tuned and whose rates are not stated; ours minus published). Time of all fits, in "
        "processor seconds, which a busy machine disturbs less than the clock, and as a "
        "share of that of the first row.",
        ("positive, negative rate", *METRIC_TITLES.values(), "folds", "fit time", "share"),
        tuple(
            (
                name,
                *(_cell(dataset, base, point, metric) for metric in METRIC_TITLES),
                str(len(point.records)),
                f"{point.fit_cpu_seconds:.1f} s",
                f"{point.fit_cpu_seconds / slowest:.2f}" if slowest else "",
            )
            for name, point in zip(names, points, strict=True)
        ),
        (
            Drawing(
                f"sampling-{dataset}-{base.method}".replace(":", "-"),
                f"F1 and training time of {arm_title(base)} on {dataset} by sampling rates",
                draw_panels(panels, share_y=False),
                size=(9.0, 3.6),
            ),
        ),
    )


def _cell(dataset: str, base: Arm, point: SweepPoint, metric: str) -> str:
    """Mean and deviation, and the published value of the method with the difference to it."""
    mean, published = point.mean(metric), published_metric(dataset, base.method, metric)
    text = point.describe(metric)
    if published is None:
        return text
    return f"{text} ({published:.3f}, {mean - published:+.3f})"


def _summary(rows: Sequence[Row]) -> dict[str, object]:
    found: dict[str, object] = {}
    for row in rows:
        values = dict(zip(_COLUMNS, row, strict=True))
        name = f"{row[0]} {row[1]} {row[2]:g},{row[3]:g}"
        found[name] = {"folds": values["folds"], "fit_cpu_seconds": values["fit_cpu_seconds"]}
    return found
