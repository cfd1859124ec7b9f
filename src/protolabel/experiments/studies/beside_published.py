"""Means over the folds beside the published values: the cells that tables are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from protolabel.experiments.figures.scatter import draw_agreement
from protolabel.experiments.published import published_value
from protolabel.experiments.record import Record
from protolabel.experiments.studies.findings import DataTable, Drawing, Section
from protolabel.experiments.studies.provenance import arm_name
from protolabel.experiments.tables import METRIC_TITLES, published_title, records_by_arm
from protolabel.experiments.unit import Arm
from protolabel.metrics import get_metric


@dataclass(frozen=True)
class ComparedCell:
    """A metric of an arm on a dataset, ours and published.

    Parameters
    ----------
    dataset : str
        Name.
    arm : Arm
        What was run.
    metric : str
        Name.
    mean, deviation : float
        Over the folds; the deviation has n - 1 in its denominator and is NaN for one fold.
    n_folds : int
        Folds that the mean is over.
    published : float or None
        Value of the paper, where it has one.
    """

    dataset: str
    arm: Arm
    metric: str
    mean: float
    deviation: float
    n_folds: int
    published: float | None

    @property
    def difference(self) -> float | None:
        """Ours minus published."""
        return None if self.published is None else self.mean - self.published

    def __str__(self) -> str:
        if self.difference is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.published:.3f}, {self.difference:+.3f})"


def compare_cells(records: Iterable[Record], *, table: str = "main") -> list[ComparedCell]:
    """All cells of the five metrics.

    Parameters
    ----------
    records : iterable of Record
        Records of one run.
    table : {"main", "ablation"}, default="main"
        Table of the paper to compare with.

    Returns
    -------
    list of ComparedCell
        By dataset and arm, in the order of the records.
    """
    cells = []
    for (dataset, arm), group in records_by_arm(records).items():
        ordered = sorted(group, key=lambda record: (record.unit.seed, record.unit.fold))
        for metric in METRIC_TITLES:
            values = np.array([record.metrics[metric] for record in ordered])
            cells.append(
                ComparedCell(
                    dataset,
                    arm,
                    metric,
                    float(values.mean()),
                    float(values.std(ddof=1)) if values.size > 1 else float("nan"),
                    values.size,
                    published_metric(dataset, arm.method, metric, table=table),
                )
            )
    return cells


def published_metric(
    dataset: str, method: str, metric: str, *, table: str = "main"
) -> float | None:
    """The printed value of a method by our name; None where the paper has none."""
    title = published_title(method)
    return None if title is None else published_value(dataset, title, metric, table=table)


def cells_table(cells: Sequence[ComparedCell], name: str) -> DataTable:
    """One row for each cell."""
    columns = ("dataset", "method", "tuning", "thresholds", "arm", "metric")
    values = ("mean", "sd", "folds", "published", "difference")
    return DataTable(
        name,
        (*columns, *values),
        tuple(
            (
                cell.dataset,
                cell.arm.method,
                cell.arm.tuning,
                cell.arm.thresholds,
                arm_name(cell.arm),
                cell.metric,
                cell.mean,
                cell.deviation,
                cell.n_folds,
                cell.published,
                cell.difference,
            )
            for cell in cells
        ),
    )


def metric_sections(cells: Sequence[ComparedCell]) -> list[Section]:
    """A section for each metric: datasets in rows, arms in columns."""
    arms = list(dict.fromkeys(cell.arm for cell in cells))
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    found = {(cell.dataset, cell.arm, cell.metric): str(cell) for cell in cells}
    sections = []
    for metric, title in METRIC_TITLES.items():
        direction = "larger" if get_metric(metric).larger_is_better else "smaller"
        sections.append(
            Section(
                f"{title} ({direction} is better)",
                columns=("dataset", *(arm_name(arm) for arm in arms)),
                rows=tuple(
                    (dataset, *(found.get((dataset, arm, metric), "") for arm in arms))
                    for dataset in datasets
                ),
            )
        )
    return sections


def agreement_drawing(cells: Sequence[ComparedCell], name: str) -> tuple[Drawing, ...]:
    """Our values against the published ones; none where the paper has none of them."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for cell in cells:
        if cell.published is not None:
            pairs.setdefault(arm_name(cell.arm), []).append((cell.published, cell.mean))
    if not pairs:
        return ()
    draw = draw_agreement(pairs, "published", "ours")
    caption = "Every metric of every dataset: ours against published"
    return (Drawing(name, caption, draw, size=(5.5, 5.0)),)
