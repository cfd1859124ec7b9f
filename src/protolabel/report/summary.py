"""Section of a run: what came out of it, on one screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from protolabel.experiments.folder import RunFolder
from protolabel.experiments.record import Record
from protolabel.experiments.unit import Arm
from protolabel.report.names import larger_is_better
from protolabel.report.page import Section, duration
from protolabel.report.rankings import Rankings
from protolabel.report.results import DIGITS, MetricTable


@dataclass(frozen=True)
class Leader:
    """Who is best by a metric.

    Parameters
    ----------
    title : str
        Title of the metric.
    larger_is_better : bool
        Its direction.
    method : str
        Method with the best average rank.
    rank : float
        That rank.
    n_best : int
        Datasets on which it is best or shares the first place.
    n_datasets : int
        Datasets that were ranked.
    p_value : float or None
        Probability of ranks that differ so much by chance (Iman and Davenport).
    """

    title: str
    larger_is_better: bool
    method: str
    rank: float
    n_best: int
    n_datasets: int
    p_value: float | None


@dataclass(frozen=True)
class AgainstPublished:
    """A method against the values printed for it, over datasets and metrics."""

    method: str
    better: int
    equal: int
    worse: int
    mean_gain: float


@dataclass(frozen=True)
class Summary:
    """Key figures."""

    tiles: Sequence[tuple[str, str]]
    leaders: Sequence[Leader]
    against_published: Sequence[AgainstPublished]
    n_failed: int


def summary_section(
    folder: RunFolder,
    records: Sequence[Record],
    names: Mapping[Arm, str],
    tables: Sequence[MetricTable],
    rankings: Rankings,
) -> Section:
    """Sizes, leaders and the comparison with the paper."""
    done = [record for record in records if record.is_ok]
    failed = len(records) - len(done)
    n_asked = len(set(folder.units()) | {record.unit for record in records})
    tiles = [
        ("datasets", str(len({record.unit.dataset for record in records}))),
        ("methods", str(len(names))),
        ("folds done", f"{len(done)} of {n_asked}"),
        ("failed", str(failed)),
        ("computing time", duration(sum(record.times.total for record in records))),
    ]
    content = Summary(
        tiles=tiles,
        leaders=_leaders(names, rankings),
        against_published=_against_published(list(names.values()), tables),
        n_failed=failed,
    )
    return Section("summary", "Summary", "summary.html", content)


def _leaders(names: Mapping[Arm, str], rankings: Rankings) -> list[Leader]:
    found = []
    for metric in rankings.ranked:
        ranking = metric.ranking
        assert ranking is not None
        first = int(np.argmin(ranking.average_ranks))
        larger = larger_is_better(metric.metric)
        values = ranking.table.values.round(DIGITS)
        best = values.max(axis=1) if larger else values.min(axis=1)
        found.append(
            Leader(
                title=metric.title,
                larger_is_better=larger,
                method=names[ranking.table.arms[first]],
                rank=ranking.average_ranks[first],
                n_best=int((values[:, first] == best).sum()),
                n_datasets=len(values),
                p_value=None if ranking.friedman is None else ranking.friedman.p_f,
            )
        )
    return found


def _against_published(
    methods: Sequence[str], tables: Sequence[MetricTable]
) -> list[AgainstPublished]:
    found = []
    for position, method in enumerate(methods):
        cells = [row[position] for table in tables for row in table.rows.values()]
        gains = [
            round(cell.gain, DIGITS) for cell in cells if cell is not None and cell.gain is not None
        ]
        if gains:
            found.append(
                AgainstPublished(
                    method,
                    better=sum(gain > 0 for gain in gains),
                    equal=sum(gain == 0 for gain in gains),
                    worse=sum(gain < 0 for gain in gains),
                    mean_gain=float(np.mean(gains)),
                )
            )
    return found
