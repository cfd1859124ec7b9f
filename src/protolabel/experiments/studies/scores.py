"""Complete tables of one metric, published or our own, as the tests want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protolabel.experiments.comparison import score_table
from protolabel.experiments.published import METRICS, published_table
from protolabel.experiments.record import Record
from protolabel.experiments.studies.provenance import arm_name
from protolabel.metrics import get_metric

RANKING_METRICS = ("average_precision", "ranking_loss")
# As in the paper: it ranks labels and chooses no sets of them, unless thresholds are tuned for it.
RANKING_ONLY = ("parabel",)


@dataclass(frozen=True)
class Scores:
    """One metric: datasets in rows, methods in columns, none missing.

    Parameters
    ----------
    metric : str
        Name.
    datasets, methods : tuple of str
        Rows and columns.
    values : ndarray of shape (n_datasets, n_methods)
        Means over the folds.
    """

    metric: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def larger_is_better(self) -> bool:
        """Direction of the metric."""
        return get_metric(self.metric).larger_is_better

    def signed(self) -> NDArray[np.float64]:
        """The values, turned so that larger is better."""
        return self.values if self.larger_is_better else -self.values


def published_scores() -> list[Scores]:
    """The main table of the paper, metric by metric."""
    tables = [published_table(metric) for metric in METRICS]
    return [Scores(t.metric, t.datasets, t.methods, t.values) for t in tables]


def own_scores(records: Sequence[Record]) -> list[Scores]:
    """The records of a run, metric by metric, on datasets that every method has finished.

    Parameters
    ----------
    records : sequence of Record
        Records of one run.

    Returns
    -------
    list of Scores
        Without metrics that fewer than two methods have.
    """
    found = []
    for metric in METRICS:
        used = [
            record for record in records if metric in RANKING_METRICS or not _only_ranks(record)
        ]
        table = score_table(used, metric)
        if len(table.arms) > 1 and table.datasets:
            names = tuple(arm_name(arm) for arm in table.arms)
            found.append(Scores(metric, table.datasets, names, table.values))
    return found


def _only_ranks(record: Record) -> bool:
    return record.unit.method in RANKING_ONLY and record.unit.thresholds != "tuned"
