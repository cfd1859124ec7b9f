"""Tables made from records alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import stdev

import numpy as np
from rich.markup import escape
from rich.table import Table

from protolabel.experiments.published import published_value
from protolabel.experiments.record import Record
from protolabel.experiments.unit import Arm
from protolabel.methods import METHODS
from protolabel.metrics import get_metric

METRIC_TITLES = {
    "accuracy": "Accuracy",
    "micro_f1": "Micro-F1",
    "macro_f1": "Macro-F1",
    "average_precision": "Avg. prec.",
    "ranking_loss": "Rank. loss",
}
Means = dict[tuple[str, Arm], dict[str, float]]


def metric_table(title: str, rows: Mapping[str, Mapping[str, float]]) -> Table:
    """One row per method, one column per metric, the best value of each column in bold."""
    table = Table(title=title)
    table.add_column("Method", no_wrap=True)
    for name, heading in METRIC_TITLES.items():
        arrow = "↑" if get_metric(name).larger_is_better else "↓"
        table.add_column(f"{heading} {arrow}", justify="right")
    best = {
        name: (max if get_metric(name).larger_is_better else min)(
            row[name] for row in rows.values()
        )
        for name in METRIC_TITLES
    }
    for method, row in rows.items():
        cells = [
            f"[bold]{row[name]:.3f}[/bold]" if row[name] == best[name] else f"{row[name]:.3f}"
            for name in METRIC_TITLES
        ]
        table.add_row(method, *cells)
    return table


def records_by_arm(records: Iterable[Record]) -> dict[tuple[str, Arm], list[Record]]:
    """Successful records by dataset and arm, in the order of their first record."""
    groups: dict[tuple[str, Arm], list[Record]] = {}
    for record in records:
        if record.is_ok:
            groups.setdefault((record.unit.dataset, record.unit.arm), []).append(record)
    return groups


def fold_means(records: Iterable[Record]) -> Means:
    """Mean of each metric over the folds, by dataset and arm.

    Folds are taken in their order: the mean does not depend on which of them was done first.
    """
    return {
        key: {
            name: float(np.mean([record.metrics[name] for record in _in_order(group)]))
            for name in group[0].metrics
        }
        for key, group in records_by_arm(records).items()
    }


def fold_spreads(records: Iterable[Record]) -> Means:
    """Standard deviation of each metric between the folds; nan where there is only one."""
    return {
        key: {
            name: stdev(record.metrics[name] for record in group) if len(group) > 1 else math.nan
            for name in group[0].metrics
        }
        for key, group in records_by_arm(records).items()
    }


def comparison_table(records: Sequence[Record], *, with_spread: bool = False) -> Table:
    """Means over the folds with the published value of the same method in brackets."""
    groups, means = records_by_arm(records), fold_means(records)
    spreads = fold_spreads(records) if with_spread else {}
    title = "Mean ± standard deviation over the folds" if with_spread else "Mean over the folds"
    table = Table(title=f"{title} (published value)")
    add_arm_columns(table, [arm for _, arm in groups], "Dataset")
    table.add_column("Folds", no_wrap=True)
    for heading in METRIC_TITLES.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for (dataset, arm), group in groups.items():
        values = means[dataset, arm]
        cells = [
            _beside_published(
                f"{values[name]:.3f}" + (f" ±{spreads[dataset, arm][name]:.3f}" if spreads else ""),
                dataset,
                published_title(arm.method),
                name,
            )
            for name in METRIC_TITLES
        ]
        seeds = {record.unit.seed for record in group}
        folds = f"{len(group)}/{group[0].unit.n_folds * len(seeds)}"
        folds += f" of {len(seeds)} seeds" if len(seeds) > 1 else ""
        table.add_row(dataset, *arm_cells(table, arm), folds, *cells)
    return table


def add_arm_columns(table: Table, arms: Iterable[Arm], *first: str) -> None:
    """Add columns for the method and for what its arms differ in, after the given ones."""
    arms = list(arms)
    for heading in (*first, "Method"):
        table.add_column(heading, overflow="fold")
    for heading, kinds in (
        ("Tuning", {arm.tuning for arm in arms}),
        ("Thresholds", {arm.thresholds for arm in arms}),
    ):
        if kinds != {"none"}:
            table.add_column(heading, no_wrap=True)


def arm_cells(table: Table, arm: Arm) -> list[str]:
    """The cells of an arm in the columns that :func:`add_arm_columns` added."""
    headings = {str(column.header) for column in table.columns}
    cells = {"Method": arm_title(arm), "Tuning": arm.tuning, "Thresholds": arm.thresholds}
    return [escape(cell) for heading, cell in cells.items() if heading in headings]


def arm_title(arm: Arm) -> str:
    """Title of the method with its settings; the bare name of a method unknown here."""
    title = METHODS[arm.method].title if arm.method in METHODS else arm.method
    return title + arm.label.removeprefix(arm.method)


def published_title(method: str) -> str | None:
    """Row of the published table that a method is compared with, None if there is none."""
    return METHODS[method].published_title if method in METHODS else None


def _in_order(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: (record.unit.seed, record.unit.fold))


def _beside_published(value: str, dataset: str, method: str | None, metric: str) -> str:
    published = None if method is None else published_value(dataset, method, metric)
    return value if published is None else f"{value} ({published:.3f})"
