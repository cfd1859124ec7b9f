"""The main table: five metrics of all methods on all datasets, and the average ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from protolabel.experiments.published import published_table
from protolabel.experiments.record import Record
from protolabel.experiments.statistics import rank_methods
from protolabel.experiments.studies.beside_published import (
    agreement_drawing,
    cells_table,
    compare_cells,
    metric_sections,
)
from protolabel.experiments.studies.findings import DataTable, Findings, Section
from protolabel.experiments.studies.provenance import arm_name
from protolabel.experiments.studies.scores import Scores, own_scores
from protolabel.experiments.studies.study import Material, Study
from protolabel.experiments.tables import METRIC_TITLES, published_title
from protolabel.experiments.unit import Arm

RankRow = tuple[str, str, float, float | None, float | None, int]
_HOW_TO_READ = (
    "Ours (published, ours minus published), means over the folds. For ranking loss a negative "
    "difference is a better value. The paper gives no deviations and does not say how it split "
    "the rows or tuned the methods; ours are in the CSV."
)


class MainResults(Study):
    """The table of results of the paper."""

    name = "main"
    title = "Main results beside the published table"
    methods: ClassVar[tuple[str, ...]] = (
        *("br", "ml-knn", "mltsvm", "jfsc", "camel", "parabel"),
        *("pnml-single", "pnml-multiple", "pnml"),
    )
    datasets: ClassVar[tuple[str, ...]] = published_table("accuracy").datasets

    def findings(self, material: Material) -> Findings:
        """Cells, ranks and a drawing of the agreement."""
        cells = compare_cells(material.records)
        ranks = rank_rows(material.records)
        sections = [
            Section(
                "Agreement",
                _HOW_TO_READ,
                drawings=agreement_drawing(cells, "agreement"),
            ),
            *metric_sections(cells),
        ]
        if ranks:
            sections.append(_rank_section(ranks))
        compared = [cell.difference for cell in cells if cell.difference is not None]
        return Findings(
            tuple(sections),
            (cells_table(cells, "main"), _rank_table(ranks)),
            summary={
                "n_cells": len(cells),
                "n_compared": len(compared),
                "largest_difference": max(map(abs, compared), default=None),
            },
        )


def rank_rows(records: Sequence[Record]) -> list[RankRow]:
    """Average mid-ranks, ours and the paper's on the same datasets and methods.

    Parameters
    ----------
    records : sequence of Record
        Records of one run.

    Returns
    -------
    list of tuple
        Metric; method; our rank among all methods; our rank and the published one among the
        methods that are in both tables, None for the others; number of datasets.
    """
    arms = {arm_name(record.unit.arm): record.unit.arm for record in records if record.is_ok}
    rows: list[RankRow] = []
    for scores in own_scores(records):
        among_all = _mid_ranks(scores)
        shared, published = _shared_ranks(scores, arms)
        rows += [
            (
                scores.metric,
                name,
                among_all[name],
                shared.get(name),
                published.get(name),
                len(scores.datasets),
            )
            for name in scores.methods
        ]
    return rows


def _mid_ranks(scores: Scores) -> dict[str, float]:
    ranks = rank_methods(scores.values, larger_is_better=scores.larger_is_better).mean(axis=0)
    return dict(zip(scores.methods, ranks.tolist(), strict=True))


def _shared_ranks(
    scores: Scores, arms: dict[str, Arm]
) -> tuple[dict[str, float], dict[str, float]]:
    """Ranks among the methods and datasets that the paper has too, ours and the paper's."""
    table = published_table(scores.metric)
    titles = {name: published_title(arms[name].method) or "" for name in scores.methods}
    # Two forms of one method cannot both stand for its published row: the first does.
    chosen = {title: name for name, title in reversed(titles.items()) if title in table.methods}
    names = [name for name in scores.methods if chosen.get(titles[name]) == name]
    datasets = [dataset for dataset in scores.datasets if dataset in table.datasets]
    if len(names) < 2 or not datasets:
        return {}, {}
    ours = scores.values[
        [[scores.datasets.index(dataset)] for dataset in datasets],
        [scores.methods.index(name) for name in names],
    ]
    theirs = table.values[
        [[table.datasets.index(dataset)] for dataset in datasets],
        [table.methods.index(titles[name]) for name in names],
    ]
    shared, published = (
        _mid_ranks(Scores(scores.metric, tuple(datasets), tuple(names), values))
        for values in (ours, theirs)
    )
    return shared, published


def _rank_table(ranks: Sequence[RankRow]) -> DataTable:
    columns = ("metric", "method", "rank", "rank_among_shared", "published_rank", "datasets")
    return DataTable("ranks", columns, tuple(ranks))


def _rank_section(ranks: Sequence[RankRow]) -> Section:
    text = (
        "Mid-ranks, 1 is best, averaged over the datasets that every method has finished. The "
        "published ranks are those of the published values on the same datasets and among the "
        "same methods; the paper prints ranks that give tied methods the best of theirs."
    )
    columns = ("metric", "method", "rank", "among the paper's methods", "published", "difference")
    rows = []
    for metric, name, rank, shared, published, _ in ranks:
        both = shared is not None and published is not None
        rows.append(
            (
                METRIC_TITLES[metric],
                name,
                f"{rank:.2f}",
                f"{shared:.2f}" if shared is not None else "",
                f"{published:.2f}" if published is not None else "",
                f"{shared - published:+.2f}" if both else "",  # type: ignore[operator]
            )
        )
    return Section("Average ranks", text, columns, tuple(rows))
