"""What ``protolabel benchmark`` prints for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from protolabel.experiments.comparison import Difference, Ranking
from protolabel.experiments.live import describe
from protolabel.experiments.record import Record
from protolabel.experiments.status import RunStatus
from protolabel.experiments.tables import (
    METRIC_TITLES,
    add_arm_columns,
    arm_cells,
    comparison_table,
)

_ENDLESS = 10_000


def print_whole(table: Table) -> None:
    """Print a table in its full width: a figure that is cut off is of no use."""
    endless = Console(width=_ENDLESS)
    needed = Measurement.get(endless, endless.options, table).maximum
    Console(width=max(Console().width, needed)).print(table)


def print_table(records: Sequence[Record], *, with_spread: bool = False) -> None:
    """Means over the folds beside the published values."""
    print_whole(comparison_table(records, with_spread=with_spread))


def print_status(status: RunStatus) -> None:
    """Counts by dataset and method, and the failures."""
    console = Console()
    table = Table()
    add_arm_columns(table, [arm for _, arm in status.by_arm], "Dataset")
    for heading in ("Done", "Running", "Failed", "Missing"):
        table.add_column(heading, justify="right", no_wrap=True)
    for (dataset, arm), count in status.by_arm.items():
        counts = (count.done, count.running, count.failed, count.missing)
        table.add_row(dataset, *arm_cells(table, arm), *map(str, counts))
    print_whole(table)
    overall = status.overall
    text = (
        f"{overall.done} of {overall.total} units done, {overall.running} running, "
        f"{overall.failed} failed, {overall.missing} missing."
    )
    if status.seconds_left:
        text += f" About {timedelta(seconds=round(status.seconds_left))} of computing are left."
    console.print(text, highlight=False, soft_wrap=True)
    for record in status.failures:
        console.print(describe(record), highlight=False, markup=False, soft_wrap=True)


def print_rankings(rankings: Sequence[Ranking]) -> None:
    """Average ranks of the methods, a column for each metric."""
    first = rankings[0].table
    n_datasets = len(first.datasets)
    table = Table(title=f"Average rank over {n_datasets} dataset{'s' if n_datasets > 1 else ''}")
    add_arm_columns(table, first.arms)
    for ranking in rankings:
        table.add_column(METRIC_TITLES[ranking.table.metric], justify="right", no_wrap=True)
    for position, arm in enumerate(first.arms):
        ranks = [f"{ranking.average_ranks[position]:.2f}" for ranking in rankings]
        table.add_row(*arm_cells(table, arm), *ranks)
    blank = [""] * (len(table.columns) - len(rankings) - 1)
    if all(ranking.friedman is not None for ranking in rankings):
        table.add_section()
        p_values = [f"{r.friedman.p_f:.2g}" for r in rankings if r.friedman is not None]
        table.add_row("Friedman test, p", *blank, *p_values)
        limits = [f"{ranking.critical_difference:.2f}" for ranking in rankings]
        table.add_row("Critical difference at 5 %", *blank, *limits)
    print_whole(table)


def ranking_to_json(ranking: Ranking) -> dict[str, Any]:
    """A ranking as a plain dictionary."""
    return {
        "metric": ranking.table.metric,
        "datasets": list(ranking.table.datasets),
        "arms": [
            arm.to_json() | {"average_rank": rank}
            for arm, rank in zip(ranking.table.arms, ranking.average_ranks, strict=True)
        ],
        "friedman_p": None if ranking.friedman is None else ranking.friedman.p_f,
        "critical_difference": ranking.critical_difference,
    }


def print_differences(found: Sequence[Difference]) -> None:
    """What the second run is better by, a column for each metric."""
    table = Table(title="Gain of the second run")
    add_arm_columns(table, [difference.arm for difference in found], "Dataset")
    for heading in METRIC_TITLES.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for start in range(0, len(found), len(METRIC_TITLES)):
        row = found[start : start + len(METRIC_TITLES)]
        gains = [f"{difference.gain:+.3f}" for difference in row]
        table.add_row(row[0].dataset, *arm_cells(table, row[0].arm), *gains)
    table.add_section()
    means = [
        np.mean([difference.gain for difference in found if difference.metric == metric])
        for metric in METRIC_TITLES
    ]
    blank = [""] * (len(table.columns) - len(means) - 1)
    table.add_row("Mean", *blank, *(f"{mean:+.3f}" for mean in means))
    print_whole(table)
