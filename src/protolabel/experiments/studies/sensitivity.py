"""How much the three searched parameters of the paper matter, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from protolabel.methods import CONCENTRATIONS, LOSS_WEIGHTS

GRIDS: Mapping[str, tuple[float, ...]] = {
    "metric_penalty": LOSS_WEIGHTS,
    "correlation_penalty": LOSS_WEIGHTS,
    "concentration": CONCENTRATIONS,
}
SYMBOLS = {"metric_penalty": "λ1", "correlation_penalty": "λ2", "concentration": "α"}
_SHOWN = "micro_f1"


@dataclass(frozen=True)
class Sweep:
    """All values of one parameter on one dataset.

    Parameters
    ----------
    dataset : str
        Name.
    base : Arm
        The method without the parameter.
    parameter : str
        Name.
    points : mapping of value to SweepPoint
        In the order of the grid.
    """

    dataset: str
    base: Arm
    parameter: str
    points: Mapping[float, SweepPoint]

    def spread(self, metric: str) -> float:
        """Largest mean minus smallest mean."""
        means = [point.mean(metric) for point in self.points.values()]
        return max(means) - min(means)


class Sensitivity(Study):
    """The figure on parameter sensitivity."""

    name = "sensitivity"
    title = "Sensitivity to the searched parameters"
    methods: ClassVar[tuple[str, ...]] = ("pnml-multiple",)
    datasets: ClassVar[tuple[str, ...]] = ("emotions",)
    grows = False

    def arms(self, request: Request) -> tuple[Arm, ...]:
        """Every value of every parameter, the others fixed."""
        return tuple(
            arm
            for base in super().arms(request)
            for parameter in parameters_of(base)
            for arm in value_arms(base, parameter).values()
        )

    def findings(self, material: Material) -> Findings:
        """Curves of micro-F1 as in the paper, and all metrics as data."""
        points = sweep_points(material.records)
        sections, sweeps = [], []
        for dataset in dict.fromkeys(point.dataset for point in points):
            for base in super().arms(material.request):
                found = [
                    Sweep(dataset, base, name, find_points(points, dataset, value_arms(base, name)))
                    for name in parameters_of(base)
                ]
                found = [sweep for sweep in found if sweep.points]
                sections += _sections(found)
                sweeps += found
        return Findings(
            tuple(sections),
            (_table(sweeps),),
            (
                (
                    "paper",
                    "a figure without numbers: micro-F1 of PNML-multiple on *emotions*. Its grid "
                    "of λ1 and λ2 lists 5e-6 twice; the first of them is taken as 5e-7",
                ),
            ),
            {
                f"{sweep.dataset} {sweep.base.method} {sweep.parameter}": sweep.spread(_SHOWN)
                for sweep in sweeps
            },
        )


def parameters_of(base: Arm) -> list[str]:
    """The parameters that have an effect on a method and are not set by hand."""
    fixed = dict(base.settings)
    without = {"concentration"} if base.method == "pnml-single" else set()
    return [name for name in GRIDS if name not in fixed and name not in without]


def value_arms(base: Arm, parameter: str) -> dict[float, Arm]:
    """The arm of each value of a parameter."""
    return {value: with_settings(base, **{parameter: value}) for value in GRIDS[parameter]}


def held_values(sweeps: Sequence[Sweep]) -> dict[str, list[float]]:
    """The values that each parameter had while another one was varied, from the records.

    Parameters
    ----------
    sweeps : sequence of Sweep
        Those of one method on one dataset.

    Returns
    -------
    dict of str to list of float
        One value for each parameter, unless the records were made under different presets.
    """
    held: dict[str, dict[float, None]] = {}
    for sweep in sweeps:
        for point in sweep.points.values():
            for record in point.records:
                params = record.configuration.get("params", {})
                for name in GRIDS:
                    if name != sweep.parameter and name in params:
                        held.setdefault(name, {})[params[name]] = None
    return {name: list(values) for name, values in held.items()}


def _sections(sweeps: Sequence[Sweep]) -> list[Section]:
    if not sweeps:
        return []
    dataset, base = sweeps[0].dataset, sweeps[0].base
    published = published_metric(dataset, base.method, _SHOWN)
    held = held_values(sweeps)
    panels = []
    for sweep in sweeps:
        values, points = list(sweep.points), list(sweep.points.values())
        marked = [values.index(v) for v in held.get(sweep.parameter, []) if v in values]
        panels.append(
            Panel(
                SYMBOLS[sweep.parameter],
                sweep.parameter,
                METRIC_TITLES[_SHOWN],
                [f"{value:g}" for value in values],
                [
                    Curve(
                        "", [p.mean(_SHOWN) for p in points], [p.deviation(_SHOWN) for p in points]
                    )
                ],
                marked=marked,
                reference=published,
                reference_title="published, tuned",
            )
        )
    fixed_text = ", ".join(
        f"{SYMBOLS[name]} = {' or '.join(f'{value:g}' for value in held[name])}"
        for name in GRIDS
        if name in held
    )
    drawing = Drawing(
        f"sensitivity-{dataset}-{base.method}".replace(":", "-"),
        f"{METRIC_TITLES[_SHOWN]} of {arm_title(base)} on {dataset} by each parameter",
        draw_panels(panels, share_y=True),
        size=(3.4 * len(panels), 3.4),
    )
    overview = Section(
        f"{dataset}, {arm_title(base)}",
        f"One parameter at a time, the others at {fixed_text} (dotted lines). Bands are standard "
        "deviations over the folds. Range: largest mean minus smallest mean over the grid.",
        ("parameter", *(f"range of {title}" for title in METRIC_TITLES.values())),
        tuple(
            (
                f"{sweep.parameter} ({SYMBOLS[sweep.parameter]})",
                *(f"{sweep.spread(metric):.3f}" for metric in METRIC_TITLES),
            )
            for sweep in sweeps
        ),
        (drawing,),
    )
    return [overview, *(_value_section(sweep, published) for sweep in sweeps)]


def _value_section(sweep: Sweep, published: float | None) -> Section:
    rows = []
    for value, point in sweep.points.items():
        mean = point.mean(_SHOWN)
        rows.append(
            (
                f"{value:g}",
                *(point.describe(metric) for metric in METRIC_TITLES),
                "" if published is None else f"{published:.3f}",
                "" if published is None else f"{mean - published:+.3f}",
            )
        )
    columns = (sweep.parameter, *METRIC_TITLES.values(), "published Micro-F1", "difference")
    return Section(f"{sweep.dataset}, {SYMBOLS[sweep.parameter]}", "", columns, tuple(rows))


def _table(sweeps: Sequence[Sweep]) -> DataTable:
    columns = ("dataset", "method", "arm", "parameter", "value", "metric", "mean", "sd", "folds")
    rows: list[tuple[Cell, ...]] = []
    for sweep in sweeps:
        for value, point in sweep.points.items():
            for metric in METRIC_TITLES:
                published = published_metric(sweep.dataset, sweep.base.method, metric)
                mean = point.mean(metric)
                rows.append(
                    (
                        *(sweep.dataset, sweep.base.method, arm_title(sweep.base)),
                        *(sweep.parameter, value, metric, mean, point.deviation(metric)),
                        *(len(point.records), published),
                        None if published is None else mean - published,
                    )
                )
    return DataTable("sensitivity", (*columns, "published", "difference"), tuple(rows))
