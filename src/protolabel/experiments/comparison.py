"""Comparisons made from records alone: arms of one run, and two runs cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.experiments.record import Record
from protolabel.experiments.statistics import (
    FriedmanTest,
    critical_difference,
    friedman_test,
    rank_methods,
)
from protolabel.experiments.tables import METRIC_TITLES, fold_means, records_by_arm
from protolabel.experiments.unit import Arm
from protolabel.metrics import get_metric


@dataclass(frozen=True)
class ScoreTable:
    """One metric of a run: datasets in rows, arms in columns, none missing.

    Parameters
    ----------
    metric : str
        Name of the metric.
    datasets : tuple of str
        Datasets on which every arm has all folds.
    arms : tuple of Arm
        The arms.
    values : ndarray of shape (n_datasets, n_arms)
        Means over the folds.
    """

    metric: str
    datasets: tuple[str, ...]
    arms: tuple[Arm, ...]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of the arms of a run by one metric.

    Parameters
    ----------
    table : ScoreTable
        What was ranked.
    average_ranks : tuple of float
        One for each arm; 1 is best.
    friedman : FriedmanTest or None
        Whether the arms differ at all; None for one dataset.
    critical_difference : float or None
        Difference of ranks that is significant at 5 % (Nemenyi).
    """

    table: ScoreTable
    average_ranks: tuple[float, ...]
    friedman: FriedmanTest | None
    critical_difference: float | None


@dataclass(frozen=True)
class Difference:
    """One metric of one arm on one dataset in two runs."""

    dataset: str
    arm: Arm
    metric: str
    first: float
    second: float

    @property
    def gain(self) -> float:
        """What the second run is better by."""
        larger = get_metric(self.metric).larger_is_better
        return self.second - self.first if larger else self.first - self.second

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "dataset": self.dataset,
            **self.arm.to_json(),
            "metric": self.metric,
            "first": self.first,
            "second": self.second,
            "gain": self.gain,
        }


def score_table(records: Sequence[Record], metric: str) -> ScoreTable:
    """Means of one metric on the datasets that all arms have finished.

    Parameters
    ----------
    records : sequence of Record
        Records of one run.
    metric : str
        Name of the metric.

    Returns
    -------
    ScoreTable
        Input of :mod:`protolabel.experiments.statistics`.
    """
    groups = records_by_arm(records)
    arms = tuple(dict.fromkeys(arm for _, arm in groups))
    datasets = tuple(
        dataset
        for dataset in dict.fromkeys(dataset for dataset, _ in groups)
        if _are_complete([groups.get((dataset, arm), []) for arm in arms])
    )
    means = fold_means(records)
    values = np.array(
        [[means[dataset, arm][metric] for arm in arms] for dataset in datasets], dtype=np.float64
    ).reshape(len(datasets), len(arms))
    return ScoreTable(metric, datasets, arms, values)


def _are_complete(arms: Sequence[Sequence[Record]]) -> bool:
    """Whether all arms of a dataset have all folds of the same seeds."""
    folds = [{(r.unit.seed, r.unit.n_folds, r.unit.fold) for r in group} for group in arms]
    whole = {(seed, n, fold) for seed, n, _ in set().union(*folds) for fold in range(n)}
    return bool(whole) and all(found == whole for found in folds)


def rank_arms(records: Sequence[Record], metric: str) -> Ranking:
    """Rank the arms of a run on every dataset and average the ranks.

    Parameters
    ----------
    records : sequence of Record
        Records of one run.
    metric : str
        Name of the metric.

    Returns
    -------
    Ranking
        Average ranks with the Friedman test.
    """
    table = score_table(records, metric)
    n_datasets, n_arms = table.values.shape
    if n_arms < 2:
        raise ValueError(
            f"Only {table.arms[0].label} has records; ranks need at least two methods. "
            "Compare two runs by naming both folders."
        )
    if n_datasets == 0:
        raise ValueError(
            "There is no dataset on which all methods have all folds of the same seeds; "
            "see `protolabel benchmark status` for what is missing, and keep seeds that not all "
            "methods have in a folder of their own."
        )
    larger = get_metric(metric).larger_is_better
    ranks = rank_methods(table.values, larger_is_better=larger)
    is_testable = n_datasets > 1
    return Ranking(
        table,
        tuple(float(rank) for rank in ranks.mean(axis=0)),
        friedman_test(ranks) if is_testable else None,
        critical_difference(n_arms, n_datasets) if is_testable else None,
    )


def differences(first: Sequence[Record], second: Sequence[Record]) -> list[Difference]:
    """The means that two runs share.

    Parameters
    ----------
    first, second : sequence of Record
        Records of the two runs.

    Returns
    -------
    list of Difference
        By dataset, arm and metric, as in the first run. Where a run lacks folds, both means are
        over the folds that both have.
    """
    ours, theirs = records_by_arm(first), records_by_arm(second)
    found = []
    for key, group in ours.items():
        other = {record.unit: record for record in theirs.get(key, [])}
        pairs = [(record, other[record.unit]) for record in group if record.unit in other]
        if not pairs:
            continue
        means = [fold_means(side)[key] for side in zip(*pairs, strict=True)]
        found += [
            Difference(*key, metric, means[0][metric], means[1][metric]) for metric in METRIC_TITLES
        ]
    return found
