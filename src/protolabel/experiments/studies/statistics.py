"""The paper's sign test, and tests that fit the purpose, on published values and on our own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from protolabel.experiments.protocol import Protocol
from protolabel.experiments.published import recount
from protolabel.experiments.record import Record
from protolabel.experiments.statistics import (
    SignTest,
    bayesian_signed_rank,
    critical_difference,
    critical_difference_diagram,
    friedman_test,
    rank_methods,
    sign_test,
)
from protolabel.experiments.store import RecordStore
from protolabel.experiments.studies.findings import Cell, DataTable, Drawing, Findings, Section
from protolabel.experiments.studies.provenance import describe_records
from protolabel.experiments.studies.request import Request
from protolabel.experiments.studies.scores import Scores, own_scores, published_scores
from protolabel.experiments.studies.study import Material, Study
from protolabel.experiments.tables import METRIC_TITLES

PUBLISHED, OWN = "published", "own"
Row = tuple[Cell, ...]


class Statistics(Study):
    """The table of pairwise comparisons, and what else can be said."""

    name = "statistics"
    title = "Which differences between methods mean something"
    is_drawn_by_matplotlib = False
    options: ClassVar[frozenset[str]] = frozenset({"records"})

    def protocols(self, request: Request) -> tuple[Protocol, ...]:  # noqa: ARG002
        """Nothing is computed: the records are those of another study."""
        return ()

    def findings(self, material: Material) -> Findings:
        """All tests on the published values, and on our records where there are any."""
        named = material.request.records
        folder = material.run.parent.parent / "main" / "run" if named is None else Path(named)
        records = _read_records(folder, is_named=named is not None)
        sources = {PUBLISHED: published_scores()}
        own = own_scores(records) if records else []
        if own:
            sources[OWN] = own
        signs = [row for name, scores in sources.items() for row in sign_rows(name, scores)]
        ranks = [row for name, scores in sources.items() for row in rank_rows(name, scores)]
        tests = [row for name, scores in sources.items() for row in friedman_rows(name, scores)]
        bayes = [*_published_bayesian_rows(), *bayesian_rows(OWN, own)]
        return Findings(
            tuple(_sections(sources, signs, ranks, tests, bayes)),
            (
                DataTable("sign_tests", _SIGN_COLUMNS, tuple(signs)),
                DataTable("ranks", _RANK_COLUMNS, tuple(ranks)),
                DataTable("friedman", _FRIEDMAN_COLUMNS, tuple(tests)),
                DataTable("bayesian", _BAYESIAN_COLUMNS, tuple(bayes)),
            ),
            (("own records", _describe_own(folder, records, own)), *describe_records(records)),
            {
                "n_own_datasets": {
                    scores.metric: len(scores.datasets) for scores in sources.get(OWN, [])
                },
                "n_sign_tests": len(signs),
            },
        )


_SIGN_COLUMNS = (
    *("values", "method", "against", "win", "tie", "lose", "cases", "threshold", "superior"),
    *("p_exact", "printed"),
)
_RANK_COLUMNS = ("values", "metric", "method", "average_rank", "datasets")
_FRIEDMAN_COLUMNS = (
    *("values", "metric", "methods", "datasets", "chi_square", "p_chi_square", "f", "p_f"),
    "critical_difference",
)
_BAYESIAN_COLUMNS = (
    *("values", "metric", "method", "against", "datasets", "p_better", "p_equivalent"),
    *("p_worse", "decision"),
)


def sign_rows(source: str, tables: Sequence[Scores]) -> list[Row]:
    """The paper's sign test of each form of PNML against every other method.

    Parameters
    ----------
    source : {"published", "own"}
        Where the values are from; the counts that the paper prints stand beside its own.
    tables : sequence of Scores
        One for each metric.
    """
    printed = {
        (pair.method, pair.against): pair.printed
        for pair in recount().pairs
        if source == PUBLISHED and pair.table == "main"
    }
    return [
        (
            *(source, first, second, test.wins, test.ties, test.losses, test.n_cases),
            *(test.threshold, "yes" if test.is_superior else "no", test.p_value),
            printed.get((first, second)),
        )
        for first, second in _pairs(tables)
        for test in [_sign(tables, first, second)]
    ]


def rank_rows(source: str, tables: Sequence[Scores]) -> list[Row]:
    """Average mid-ranks of all methods."""
    return [
        (source, scores.metric, method, rank, len(scores.datasets))
        for scores in tables
        for method, rank in _average_ranks(scores).items()
    ]


def friedman_rows(source: str, tables: Sequence[Scores]) -> list[Row]:
    """Friedman's test and Nemenyi's critical difference; they need two datasets."""
    rows: list[Row] = []
    for scores in tables:
        n_datasets, n_methods = scores.values.shape
        if n_datasets < 2:
            continue
        test = friedman_test(rank_methods(scores.signed()))
        rows.append(
            (
                *(source, scores.metric, n_methods, n_datasets),
                *(test.chi_square, test.p_chi_square, test.f_statistic, test.p_f),
                critical_difference(n_methods, n_datasets),
            )
        )
    return rows


def bayesian_rows(source: str, tables: Sequence[Scores]) -> list[Row]:
    """The Bayesian signed-rank test of each form of PNML against every other method."""
    rows: list[Row] = []
    for scores in tables:
        signed = scores.signed()
        for first, second in _pairs([scores]):
            left, right = scores.methods.index(first), scores.methods.index(second)
            found = bayesian_signed_rank(signed[:, left] - signed[:, right])
            rows.append(
                (
                    *(source, scores.metric, first, second, len(scores.datasets)),
                    *(found.first_better, found.equivalent, found.second_better),
                    {"first": "better", "second": "worse"}.get(found.decide(), found.decide()),
                )
            )
    return rows


@cache
def _published_bayesian_rows() -> tuple[Row, ...]:
    """The slow part of the tests on the published values, whose answer never changes."""
    return tuple(bayesian_rows(PUBLISHED, published_scores()))


def _read_records(folder: Path, *, is_named: bool) -> list[Record]:
    records = RecordStore(folder).read()
    if is_named and not any(record.is_ok for record in records):
        raise ValueError(
            f"{folder} holds no records; name the folder of a run, which has a records.jsonl."
        )
    return [record for record in records if record.is_ok]


def _describe_own(folder: Path, records: Sequence[Record], tables: Sequence[Scores]) -> str:
    """Say whose records were looked at, and whether they are of any use."""
    if not records:
        return "there are none yet, so these are the published values alone"
    name = f"`{folder.parent.name}/{folder.name}`"
    if not tables:
        return f"those of {name} are of no use: no dataset has all folds of two or more methods"
    return f"those of {name}, on the datasets of which every method has all folds"


def _pairs(tables: Sequence[Scores]) -> Iterator[tuple[str, str]]:
    """Each form of PNML with every other method, two forms of PNML once."""
    names = list(dict.fromkeys(name for scores in tables for name in scores.methods))
    ours = [name for name in names if name.startswith("PNML")]
    for first in ours:
        for second in names:
            if second not in ours or ours.index(second) < ours.index(first):
                yield first, second


def _sign(tables: Sequence[Scores], first: str, second: str) -> SignTest:
    left: list[float] = []
    right: list[float] = []
    for scores in tables:
        if first in scores.methods and second in scores.methods:
            signed = scores.signed()
            left += signed[:, scores.methods.index(first)].tolist()
            right += signed[:, scores.methods.index(second)].tolist()
    return sign_test(left, right)


def _average_ranks(scores: Scores) -> dict[str, float]:
    ranks = rank_methods(scores.signed()).mean(axis=0)
    return dict(zip(scores.methods, ranks.tolist(), strict=True))


def _sections(
    sources: dict[str, list[Scores]],
    signs: Sequence[Row],
    ranks: Sequence[Row],
    tests: Sequence[Row],
    bayes: Sequence[Row],
) -> Iterator[Section]:
    yield Section(
        "Sign test of the paper",
        "Win/tie/lose over datasets and metrics; superior if the wins reach V/2 + 1.96 sqrt(V)/2. "
        "The printed counts do not all follow from the printed values, and one printed row stands "
        "for both modes. Metrics of one dataset depend on each other: such counts overstate the "
        "evidence.",
        ("values", "method", "against", "win/tie/lose", "printed", "threshold", "superior", "p"),
        tuple(
            (
                *(str(cell) for cell in row[:3]),
                f"{row[3]}/{row[4]}/{row[5]}",
                str(row[10] or ""),
                f"{row[7]:.3f}",
                str(row[8]),
                f"{row[9]:.2g}",
            )
            for row in signs
        ),
    )
    yield Section(
        "Friedman test and critical difference",
        "By metric, with datasets as cases; the critical difference is Nemenyi's at 0.05.",
        ("values", "metric", "methods", "datasets", "F (Iman-Davenport)", "p", "CD"),
        tuple(
            (
                str(row[0]),
                METRIC_TITLES[str(row[1])],
                str(row[2]),
                str(row[3]),
                f"{row[6]:.2f}",
                f"{row[7]:.1e}",
                f"{row[8]:.3f}",
            )
            for row in tests
        ),
    )
    for source, tables in sources.items():
        yield _rank_section(source, tables, ranks)
    yield Section(
        "Bayesian signed-rank test",
        "Posterior probability that, of three outcomes on datasets of this kind, the most frequent "
        "is: the method is better by more than 0.01, within 0.01, or worse by more than 0.01. A "
        "decision needs 0.95; it does not say that every dataset has that outcome.",
        ("values", "metric", "method", "against", "better", "equivalent", "worse", "decision"),
        tuple(
            (
                str(row[0]),
                METRIC_TITLES[str(row[1])],
                str(row[2]),
                str(row[3]),
                *(f"{cell:.3f}" for cell in row[5:8]),
                str(row[8]),
            )
            for row in bayes
        ),
    )


def _rank_section(source: str, tables: Sequence[Scores], ranks: Sequence[Row]) -> Section:
    metrics = [scores.metric for scores in tables]
    found = {(row[1], row[2]): row[3] for row in ranks if row[0] == source}
    methods = list(dict.fromkeys(name for scores in tables for name in scores.methods))
    return Section(
        f"Average ranks, {source} values",
        "Mid-ranks, 1 is best. Bars of the diagrams join methods that Nemenyi's test cannot tell "
        "apart.",
        ("method", *(METRIC_TITLES[metric] for metric in metrics)),
        tuple(
            (
                name,
                *(f"{found[m, name]:.2f}" if (m, name) in found else "" for m in metrics),
            )
            for name in methods
        ),
        tuple(_diagram(source, scores) for scores in tables if len(scores.datasets) > 1),
    )


def _diagram(source: str, scores: Scores) -> Drawing:
    n_datasets, n_methods = scores.values.shape
    title = f"{METRIC_TITLES[scores.metric]}, {source} values, {n_datasets} datasets"
    svg = critical_difference_diagram(
        _average_ranks(scores), critical_difference(n_methods, n_datasets), title=title
    )
    return Drawing(f"ranks-{source}-{scores.metric}", title, svg=svg)
