"""The figures printed in the paper, and what follows from them when counted again.

The data lie beside this module, with their source in ``data/SOURCE.md``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from protolabel.experiments.statistics import (
    FriedmanTest,
    SignTest,
    critical_difference,
    friedman_test,
    rank_methods,
    sign_test,
)
from protolabel.metrics import get_metric

METRICS = ("accuracy", "micro_f1", "macro_f1", "average_precision", "ranking_loss")
TABLES = ("main", "ablation")
PRINTED_BEST_OF_75 = 55


@dataclass(frozen=True)
class PublishedValue:
    """One cell of a table: a metric of a method on a dataset."""

    table: str
    method: str
    dataset: str
    metric: str
    value: float


@dataclass(frozen=True)
class PublishedRuntime:
    """Training hours of the two modes on one dataset, with the sampling rates used."""

    dataset: str
    n_samples: int
    n_features: int
    n_labels: int
    rate_positive: float
    rate_negative: float
    hours_single: float
    hours_multiple: float


@dataclass(frozen=True)
class PublishedTable:
    """One metric of a table: datasets in rows, methods in columns, none missing."""

    metric: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def larger_is_better(self) -> bool:
        """Direction of the metric."""
        return get_metric(self.metric).larger_is_better


@dataclass(frozen=True)
class PairRecount:
    """One method against another over all metrics and datasets both have."""

    table: str
    method: str
    against: str
    counted: SignTest
    printed: str | None


@dataclass(frozen=True)
class RankRecount:
    """Average rank of a method in one metric, by both tie rules and as printed."""

    metric: str
    method: str
    competition_rank: float
    mid_rank: float
    printed: float


@dataclass(frozen=True)
class MetricRecount:
    """The rank tests of one metric of the main table."""

    metric: str
    n_methods: int
    n_datasets: int
    friedman: FriedmanTest
    critical_difference: float


@dataclass(frozen=True)
class BestRecount:
    """Cases in which a PNML mode is better than every baseline."""

    method: str
    n_cases: int
    outright: int
    with_ties: int
    printed: int


@dataclass(frozen=True)
class Recount:
    """Everything that can be counted again from the printed values."""

    pairs: tuple[PairRecount, ...]
    ranks: tuple[RankRecount, ...]
    metrics: tuple[MetricRecount, ...]
    best: tuple[BestRecount, ...]


@cache
def load_published() -> tuple[PublishedValue, ...]:
    """Return every printed metric value.

    Returns
    -------
    tuple of PublishedValue
        The main and the ablation table.

    Examples
    --------
    >>> from protolabel.experiments.published import load_published
    >>> len(load_published())
    780
    """
    return tuple(
        PublishedValue(
            row["table"], row["method"], row["dataset"], row["metric"], float(row["value"])
        )
        for row in _rows_of("published.csv")
    )


@cache
def load_runtime() -> tuple[PublishedRuntime, ...]:
    """Return the printed training times.

    Returns
    -------
    tuple of PublishedRuntime
        One entry per dataset of the runtime table; *yeast* and *medical* are in no other table.

    Examples
    --------
    >>> from protolabel.experiments.published import load_runtime
    >>> max(load_runtime(), key=lambda row: row.hours_multiple).dataset
    'corel5k'
    """
    return tuple(
        PublishedRuntime(
            dataset=row["dataset"],
            n_samples=int(row["n_samples"]),
            n_features=int(row["n_features"]),
            n_labels=int(row["n_labels"]),
            rate_positive=float(row["rate_positive"]),
            rate_negative=float(row["rate_negative"]),
            hours_single=float(row["hours_single"]),
            hours_multiple=float(row["hours_multiple"]),
        )
        for row in _rows_of("runtime.csv")
    )


def published_table(metric: str, *, table: str = "main") -> PublishedTable:
    """Return one metric as a matrix; methods without the metric are left out.

    Parameters
    ----------
    metric : str
        ``accuracy``, ``micro_f1``, ``macro_f1``, ``average_precision`` or ``ranking_loss``.
    table : {"main", "ablation"}, default="main"
        Which table of the paper.

    Returns
    -------
    PublishedTable
        Datasets and methods in the paper's order.

    Examples
    --------
    >>> from protolabel.experiments.published import published_table
    >>> published_table("accuracy").values.shape
    (15, 7)
    >>> published_table("ranking_loss").values.shape
    (15, 8)
    """
    if metric not in METRICS:
        raise ValueError(f"metric is {metric!r}, expected one of {', '.join(METRICS)}.")
    if table not in TABLES:
        raise ValueError(f"table is {table!r}, expected one of {', '.join(TABLES)}.")
    cells = {
        (entry.dataset, entry.method): entry.value
        for entry in load_published()
        if entry.table == table and entry.metric == metric
    }
    datasets = tuple(dict.fromkeys(dataset for dataset, _ in cells))
    methods = tuple(dict.fromkeys(method for _, method in cells))
    values = np.array([[cells[dataset, method] for method in methods] for dataset in datasets])
    return PublishedTable(metric, datasets, methods, values)


def published_value(dataset: str, method: str, metric: str, *, table: str = "main") -> float | None:
    """Return one printed value, or None where the paper has none.

    Parameters
    ----------
    dataset, method, metric : str
        Names as in the table.
    table : {"main", "ablation"}, default="main"
        Which table of the paper.

    Returns
    -------
    float or None
        The mean over five folds.

    Examples
    --------
    >>> from protolabel.experiments.published import published_value
    >>> published_value("emotions", "PNML-single", "accuracy")
    0.489
    """
    return _by_cell().get((table, method, dataset, metric))


def recount() -> Recount:
    """Count wins, ranks and critical differences again from the printed values.

    Returns
    -------
    Recount
        All pairs of methods of both tables, average ranks by both tie rules, the rank tests, and
        how often a PNML mode beats all baselines.

    Examples
    --------
    >>> from protolabel.experiments.published import recount
    >>> [(pair.against, str(pair.counted), pair.printed) for pair in recount().pairs
    ...  if pair.method == "PNML-multiple" and pair.against == "CAMEL"]
    [('CAMEL', '64/0/11', '59/0/16')]
    """
    return Recount(
        pairs=tuple(pair for table in TABLES for pair in _pairs_of(table)),
        ranks=tuple(rank for metric in METRICS for rank in _ranks_of(metric)),
        metrics=tuple(_metric_tests(metric) for metric in METRICS),
        best=tuple(_best_of(method) for method in ("PNML-single", "PNML-multiple")),
    )


def signed_cases(method: str, *, table: str = "main") -> dict[tuple[str, str], float]:
    """Return all values of a method by (dataset, metric), turned so that larger is better.

    Parameters
    ----------
    method : str
        A method of the table.
    table : {"main", "ablation"}, default="main"
        Which table of the paper.

    Returns
    -------
    dict of (str, str) to float
        75 cases for most methods, 30 for Parabel.

    Examples
    --------
    >>> from protolabel.experiments.published import signed_cases
    >>> len(signed_cases("BR")), len(signed_cases("Parabel"))
    (75, 30)
    """
    cases = {
        (entry.dataset, entry.metric): (
            entry.value if get_metric(entry.metric).larger_is_better else -entry.value
        )
        for entry in load_published()
        if entry.table == table and entry.method == method
    }
    if not cases:
        known = ", ".join(_methods_of(table))
        raise ValueError(f"{table!r} has no method {method!r}; it has {known}.")
    return cases


@cache
def _by_cell() -> dict[tuple[str, str, str, str], float]:
    """Index the values once."""
    return {
        (entry.table, entry.method, entry.dataset, entry.metric): entry.value
        for entry in load_published()
    }


def _pairs_of(table: str) -> Iterator[PairRecount]:
    """Compare all pairs; the paper's own methods stand first in a pair."""
    printed = {
        (row["method"], row["against"]): f"{row['wins']}/{row['ties']}/{row['losses']}"
        for row in _rows_of("comparisons.csv")
        if row["table"] == table
    }
    for against, method in combinations(_methods_of(table), 2):
        first, second = signed_cases(method, table=table), signed_cases(against, table=table)
        common = [case for case in first if case in second]
        counted = sign_test([first[case] for case in common], [second[case] for case in common])
        yield PairRecount(table, method, against, counted, printed.get((method, against)))


def _ranks_of(metric: str) -> Iterator[RankRecount]:
    """Average ranks of the main table."""
    table = published_table(metric)
    competition, middle = (
        rank_methods(table.values, larger_is_better=table.larger_is_better, ties=rule).mean(axis=0)
        for rule in ("min", "average")
    )
    printed = {
        row["method"]: float(row["rank"])
        for row in _rows_of("average_ranks.csv")
        if row["metric"] == metric
    }
    for method, lowest, mean in zip(table.methods, competition, middle, strict=True):
        yield RankRecount(metric, method, float(lowest), float(mean), printed[method])


def _metric_tests(metric: str) -> MetricRecount:
    """Friedman's test and Nemenyi's critical difference."""
    table = published_table(metric)
    n_datasets, n_methods = table.values.shape
    ranks = rank_methods(table.values, larger_is_better=table.larger_is_better)
    return MetricRecount(
        metric,
        n_methods,
        n_datasets,
        friedman_test(ranks),
        critical_difference(n_methods, n_datasets),
    )


def _best_of(method: str) -> BestRecount:
    """Count the cases in which no baseline is better."""
    baselines = [signed_cases(name) for name in _methods_of("main") if not name.startswith("PNML")]
    own = signed_cases(method)
    margins = [
        value - max(other[case] for other in baselines if case in other)
        for case, value in own.items()
    ]
    return BestRecount(
        method=method,
        n_cases=len(margins),
        outright=sum(margin > 0 for margin in margins),
        with_ties=sum(margin >= 0 for margin in margins),
        printed=PRINTED_BEST_OF_75,
    )


def _methods_of(table: str) -> tuple[str, ...]:
    """Return the methods of a table in the paper's order, the paper's own last."""
    names = dict.fromkeys(row.method for row in load_published() if row.table == table)
    return tuple(sorted(names, key=lambda name: name.startswith("PNML")))


def _rows_of(name: str) -> list[dict[str, str]]:
    """Read one of the data files that are part of the package."""
    text = files("protolabel.experiments").joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
