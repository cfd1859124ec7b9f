"""Section of a run: what was searched and what was chosen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protolabel.experiments.record import Record, Search
from protolabel.experiments.tables import records_by_arm
from protolabel.experiments.unit import Arm
from protolabel.report.page import Section


@dataclass(frozen=True)
class Choice:
    """One method on one dataset.

    Parameters
    ----------
    dataset, method : str
        Where.
    n_candidates, n_pruned : float
        Combinations looked at and given up early, means over the folds.
    values : sequence of (parameter, text)
        Chosen values, each with the number of folds that chose it.
    """

    dataset: str
    method: str
    n_candidates: float
    n_pruned: float
    values: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Tuning:
    """What every tuned method could choose from, and what it chose."""

    spaces: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    choices: Sequence[Choice]


def tuning_section(records: Sequence[Record], names: Mapping[Arm, str]) -> Section:
    """Searched values by method, chosen values by dataset and method."""
    choices, spaces = [], {}
    for (dataset, arm), group in records_by_arm(records).items():
        searches = [record.search for record in group if record.search is not None]
        if not searches and not any(record.params for record in group):
            continue
        choices.append(_choice(dataset, names[arm], group, searches))
        for search in searches:
            spaces[names[arm]] = [(name, show(value)) for name, value in search.space.items()]
    return Section("tuning", "Tuning", "tuning.html", Tuning(list(spaces.items()), choices))


def show(value: Any) -> str:
    """A setting as people write it.

    Examples
    --------
    >>> show([1e-07, 0.01]), show("grid"), show(None)
    ('1e-07, 0.01', 'grid', 'none')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(show(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, default=str)


def _choice(
    dataset: str, method: str, group: Sequence[Record], searches: Sequence[Search]
) -> Choice:
    counts: dict[str, Counter[str]] = {}
    for record in group:
        for name, value in record.params.items():
            counts.setdefault(name, Counter())[show(value)] += 1
    return Choice(
        dataset,
        method,
        n_candidates=float(np.mean([search.n_candidates for search in searches] or [0])),
        n_pruned=float(np.mean([search.n_pruned for search in searches] or [0])),
        values=[(name, _tally(counter, len(group))) for name, counter in counts.items()],
    )


def _tally(counter: Counter[str], n_folds: int) -> str:
    if len(counter) == 1 and counter.total() == n_folds:
        return next(iter(counter))
    return ", ".join(f"{text} (×{count})" for text, count in counter.most_common())
