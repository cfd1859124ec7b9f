"""Section of a run: average ranks and critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from protolabel.experiments.comparison import Ranking, rank_arms
from protolabel.experiments.record import Record
from protolabel.experiments.statistics import critical_difference_diagram
from protolabel.experiments.unit import Arm
from protolabel.report.names import metric_title
from protolabel.report.page import Section
from protolabel.report.svg import shorten


@dataclass(frozen=True)
class MetricRanking:
    """One metric: its ranking, or why there is none.

    Parameters
    ----------
    metric, title : str
        Name and title of the metric.
    ranking : Ranking or None
        Average ranks and tests.
    diagram : Markup or None
        Critical-difference diagram; None for one dataset.
    reason : str
        Why something is missing.
    """

    metric: str
    title: str
    ranking: Ranking | None
    diagram: Markup | None
    reason: str


@dataclass(frozen=True)
class Rankings:
    """All metrics, and the table of average ranks: a row for each method."""

    metrics: Sequence[MetricRanking]
    rows: Sequence[tuple[str, Sequence[float]]]

    @property
    def ranked(self) -> list[MetricRanking]:
        """Metrics that have a ranking."""
        return [metric for metric in self.metrics if metric.ranking is not None]


def rank_metrics(
    records: Sequence[Record], names: Mapping[Arm, str], metrics: Sequence[str]
) -> Rankings:
    """Rank the methods by each metric on the datasets that all of them have finished."""
    found = [_rank_metric(records, names, metric) for metric in metrics]
    by_arm: dict[Arm, list[float]] = {}
    for metric in found:
        if metric.ranking is not None:
            ranking = metric.ranking
            for arm, rank in zip(ranking.table.arms, ranking.average_ranks, strict=True):
                by_arm.setdefault(arm, []).append(rank)
    rows = sorted(
        ((names[arm], ranks) for arm, ranks in by_arm.items()), key=lambda row: sum(row[1])
    )
    return Rankings(found, rows)


def rankings_section(rankings: Rankings) -> Section:
    """Show average ranks and diagrams."""
    return Section("ranks", "Average ranks", "rankings.html", rankings)


def _rank_metric(records: Sequence[Record], names: Mapping[Arm, str], metric: str) -> MetricRanking:
    title = metric_title(metric)
    try:
        ranking = rank_arms(records, metric)
    except ValueError as error:
        # One method, no complete dataset or a metric without a value: the page says which.
        return MetricRanking(metric, title, None, None, str(error))
    if ranking.critical_difference is None:
        reason = "One dataset does not tell whether differences of ranks mean anything."
        return MetricRanking(metric, title, ranking, None, reason)
    short = _short_names([names[arm] for arm in ranking.table.arms])
    diagram = critical_difference_diagram(
        dict(zip(short, ranking.average_ranks, strict=True)),
        ranking.critical_difference,
        title=f"Average rank by {title}",
    )
    return MetricRanking(metric, title, ranking, Markup(diagram), "")


def _short_names(names: Sequence[str]) -> list[str]:
    """Names for a narrow place, still all different."""
    short: list[str] = []
    for name in names:
        candidate, number = shorten(name), 1
        while candidate in short:
            number += 1
            candidate = f"{shorten(name, 20)} #{number}"
        short.append(candidate)
    return short
