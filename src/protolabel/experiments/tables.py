"""Tables made from records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from rich.table import Table

from protolabel.experiments.published import published_value
from protolabel.experiments.record import Record
from protolabel.methods import METHODS

METRIC_TITLES = {
    "accuracy": "Accuracy",
    "micro_f1": "Micro-F1",
    "macro_f1": "Macro-F1",
    "average_precision": "Avg. prec.",
    "ranking_loss": "Rank. loss",
}


def metric_table(title: str, rows: Mapping[str, Mapping[str, float]]) -> Table:
    """One row per method, one column per metric, the best value of each column in bold."""
    table = Table(title=title)
    table.add_column("Method", no_wrap=True)
    for name, heading in METRIC_TITLES.items():
        arrow = "↓" if name == "ranking_loss" else "↑"
        table.add_column(f"{heading} {arrow}", justify="right")
    best = {
        name: (min if name == "ranking_loss" else max)(row[name] for row in rows.values())
        for name in METRIC_TITLES
    }
    for method, row in rows.items():
        cells = [
            f"[bold]{row[name]:.3f}[/bold]" if row[name] == best[name] else f"{row[name]:.3f}"
            for name in METRIC_TITLES
        ]
        table.add_row(method, *cells)
    return table


def fold_means(records: Iterable[Record]) -> dict[tuple[str, str, str], dict[str, float]]:
    """Mean of each metric over the folds, by dataset, method and tuning."""
    groups: dict[tuple[str, str, str], list[Mapping[str, float]]] = {}
    for record in records:
        unit = record.unit
        groups.setdefault((unit.dataset, unit.method, unit.tuning), []).append(record.metrics)
    return {
        key: {name: float(np.mean([m[name] for m in metrics])) for name in METRIC_TITLES}
        for key, metrics in groups.items()
    }


def comparison_table(records: Sequence[Record]) -> Table:
    """Means over the folds with the published value of the same method in brackets."""
    table = Table(title="Mean over the folds (published value)")
    for heading in ("Dataset", "Method", "Tuning", "Folds"):
        table.add_column(heading, no_wrap=True)
    for heading in METRIC_TITLES.values():
        table.add_column(heading, justify="right")
    for (dataset, method, tuning), means in fold_means(records).items():
        n_folds = sum(
            (r.unit.dataset, r.unit.method, r.unit.tuning) == (dataset, method, tuning)
            for r in records
        )
        title = METHODS[method].title
        cells = [_beside_published(means[name], dataset, title, name) for name in METRIC_TITLES]
        table.add_row(dataset, title, tuning, str(n_folds), *cells)
    return table


def _beside_published(value: float, dataset: str, method: str, metric: str) -> str:
    published = published_value(dataset, method, metric)
    return f"{value:.3f}" if published is None else f"{value:.3f} ({published:.3f})"
