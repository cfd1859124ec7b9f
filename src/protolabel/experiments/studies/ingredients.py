"""What each ingredient of the recommended configuration brings, one changed at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from protolabel.experiments.statistics import rank_methods
from protolabel.experiments.studies.findings import Cell, DataTable, Findings, Section
from protolabel.experiments.studies.request import Request
from protolabel.experiments.studies.study import Material, Study
from protolabel.experiments.studies.sweep import SweepPoint, sweep_points, with_settings
from protolabel.experiments.tables import METRIC_TITLES
from protolabel.experiments.unit import Arm
from protolabel.metrics import get_metric

_BASE = "as it is"
_COLUMNS = ("group", "change", "dataset", "metric", "base", "changed", "gain_of_base", "folds")


@dataclass(frozen=True)
class Group:
    """Changes that are compared with the same base.

    Parameters
    ----------
    title : str
        What the base is.
    settings : mapping
        Parameters of the base.
    changes : mapping of name to settings
        Further parameters of each variant.
    """

    title: str
    settings: Mapping[str, Any]
    changes: Mapping[str, Mapping[str, Any]]

    def arms(self, base: Arm) -> dict[str, Arm]:
        """The base and its variants by name."""
        variants = {_BASE: {}, **self.changes}
        return {
            name: with_settings(base, **(dict(self.settings) | dict(change)))
            for name, change in variants.items()
        }


_NETWORK = {"n_landmarks": 0, "n_trees": 0}
GROUPS = (
    Group(
        "The whole",
        {},
        {
            "without the kernel regression": {"n_landmarks": 0},
            "without the forest": {"n_trees": 0},
            "network alone": _NETWORK,
            "features standardised": {"feature_scaling": "auto"},
            "thresholds that do not follow the row": {"thresholds": "prior_tilted"},
        },
    ),
    Group(
        "Effort",
        {},
        {
            "effort fast": {"effort": "fast"},
            "effort best": {"effort": "best"},
            "compact": {"compact": True},
        },
    ),
    # Without companions, which would hide what the network does.
    Group(
        "The network alone",
        _NETWORK,
        {
            "uniform class prior": {"class_prior": "uniform"},
            "no dropout": {"input_dropout": 0.0, "embedding_dropout": 0.0},
            "full metric": {"metric_rank": None},
            "Euclidean distance": {"metric": "euclidean"},
            "single prototypes": {"prototypes": "single"},
            "constant learning rate": {"schedule": "constant", "learning_rate": 1e-3},
            "two members": {"n_members": 2},
            "raw features": {"feature_scaling": "none"},
            "hidden layer of 256": {"hidden_dim": 256},
            "thresholds at probability 1/2": {"thresholds": "fixed"},
            "one threshold for all labels": {"thresholds": "global"},
            "one free threshold per label": {"thresholds": "per_label"},
        },
    ),
)


@dataclass(frozen=True)
class Effect:
    """A variant and its base on one dataset."""

    group: str
    change: str
    base: SweepPoint
    changed: SweepPoint

    def gain(self, metric: str) -> float:
        """How much better the base is; positive where the ingredient pays."""
        sign = 1 if get_metric(metric).larger_is_better else -1
        return sign * (self.base.mean(metric) - self.changed.mean(metric))


class Ingredients(Study):
    """Why the recommended configuration is what it is."""

    name = "ingredients"
    title = "Ingredients of the recommended configuration"
    methods: ClassVar[tuple[str, ...]] = ("pnml",)
    datasets: ClassVar[tuple[str, ...]] = (
        *("emotions", "flags", "genbase", "image", "scene", "yeast", "enron", "arts"),
        *("science", "education"),
    )
    grows = False

    def arms(self, request: Request) -> tuple[Arm, ...]:
        """Every variant of every group, each once."""
        return tuple(
            dict.fromkeys(
                arm
                for base in super().arms(request)
                for group in GROUPS
                for arm in group.arms(base).values()
            )
        )

    def findings(self, material: Material) -> Findings:
        """Mean gains and ranks over the datasets, and all cells as data."""
        points = {(point.dataset, point.arm): point for point in sweep_points(material.records)}
        datasets = list(dict.fromkeys(dataset for dataset, _ in points))
        sections: list[Section] = []
        effects: list[Effect] = []
        for base in super().arms(material.request):
            for group in GROUPS:
                arms = group.arms(base)
                known = [d for d in datasets if all((d, arm) in points for arm in arms.values())]
                if known:
                    found = _effects(group, arms, known, points)
                    sections.append(_section(group, arms, known, points, found))
                    effects += found
        return Findings(
            tuple(sections),
            (DataTable("ingredients", _COLUMNS, tuple(_rows(effects))),),
            summary={
                f"{change} ({group})": _mean_gains(effects, group, change)
                for group, change in dict.fromkeys((e.group, e.change) for e in effects)
            },
        )


def _effects(
    group: Group,
    arms: Mapping[str, Arm],
    datasets: Sequence[str],
    points: Mapping[tuple[str, Arm], SweepPoint],
) -> list[Effect]:
    return [
        Effect(group.title, name, points[dataset, arms[_BASE]], points[dataset, arm])
        for name, arm in arms.items()
        if name != _BASE
        for dataset in datasets
    ]


def _section(
    group: Group,
    arms: Mapping[str, Arm],
    datasets: Sequence[str],
    points: Mapping[tuple[str, Arm], SweepPoint],
    effects: Sequence[Effect],
) -> Section:
    ranks = {
        metric: rank_methods(
            [[points[d, arm].mean(metric) for arm in arms.values()] for d in datasets],
            larger_is_better=get_metric(metric).larger_is_better,
        ).mean(axis=0)
        for metric in METRIC_TITLES
    }
    rows = []
    for position, name in enumerate(arms):
        cells = []
        for metric in METRIC_TITLES:
            rank = f"{ranks[metric][position]:.1f}"
            if name == _BASE:
                cells.append(rank)
                continue
            gains = [effect.gain(metric) for effect in effects if effect.change == name]
            cells.append(f"{np.mean(gains):+.3f} ({_wins(gains)}) {rank}")
        seconds = sum(points[d, arms[name]].fit_cpu_seconds for d in datasets)
        rows.append((name, *cells, f"{seconds:.0f} s"))
    return Section(
        group.title,
        f"Over {', '.join(datasets)}: how much the base is ahead of each change in the mean "
        "(positive: the ingredient pays; datasets on which the base is better / worse) and the "
        "average rank of each row within this table. Time: of all fits, in processor seconds.",
        ("change", *METRIC_TITLES.values(), "fit time"),
        tuple(rows),
    )


def _wins(gains: Sequence[float]) -> str:
    return f"{sum(gain > 0 for gain in gains)}/{sum(gain < 0 for gain in gains)}"


def _rows(effects: Sequence[Effect]) -> list[tuple[Cell, ...]]:
    return [
        (
            *(effect.group, effect.change, effect.base.dataset, metric),
            *(effect.base.mean(metric), effect.changed.mean(metric), effect.gain(metric)),
            len(effect.changed.records),
        )
        for effect in effects
        for metric in METRIC_TITLES
    ]


def _mean_gains(effects: Sequence[Effect], group: str, change: str) -> dict[str, float]:
    own = [effect for effect in effects if (effect.group, effect.change) == (group, change)]
    return {
        metric: float(np.mean([effect.gain(metric) for effect in own])) for metric in METRIC_TITLES
    }
