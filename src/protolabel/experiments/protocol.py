"""A protocol: everything an experiment computes, fixed before it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from protolabel.experiments.compute import PAPER_METRICS
from protolabel.experiments.configuration import build_estimator, tunes_own_thresholds
from protolabel.experiments.data import check_dataset
from protolabel.experiments.unit import Arm, Unit, freeze_settings
from protolabel.methods import find_method
from protolabel.metrics import get_metric


@dataclass(frozen=True)
class Protocol:
    """Every arm on every fold of every dataset.

    Parameters
    ----------
    datasets : tuple of str
        Names, see :func:`protolabel.experiments.data.dataset_of`.
    arms : tuple of Arm
        Methods with their settings or search space, tuning budget and thresholds.
    n_folds : int, default=5
        Folds of the cross-validation.
    seed : int, default=0
        Seed of the folds and of the methods.
    metrics : tuple of str, default=the five of the paper
        Names from :data:`protolabel.metrics.METRICS`; the five are always computed.

    Examples
    --------
    >>> protocol = Protocol(("yeast",), (Arm("pnml"), Arm("pnml-single")), n_folds=2)
    >>> [str(unit) for unit in protocol.units()][:2]
    ['yeast pnml fold 1/2', 'yeast pnml fold 2/2']
    """

    datasets: tuple[str, ...]
    arms: tuple[Arm, ...]
    n_folds: int = 5
    seed: int = 0
    metrics: tuple[str, ...] = PAPER_METRICS

    def __post_init__(self) -> None:
        for name, values in (("dataset", self.datasets), ("method", self.arms)):
            if not values:
                raise ValueError(f"A protocol needs at least one {name}; none was given.")
        if self.n_folds < 2:
            raise ValueError(f"n_folds={self.n_folds} cannot be used; expected at least 2.")
        for dataset in self.datasets:
            check_dataset(dataset)
        for arm in self.arms:
            find_method(arm.method)
        for metric in self.metrics:
            get_metric(metric)

    def units(self) -> list[Unit]:
        """All units, those of a dataset together, each once."""
        return list(
            dict.fromkeys(
                Unit.of(dataset, arm, fold=fold, n_folds=self.n_folds, seed=self.seed)
                for dataset in self.datasets
                for arm in self.arms
                for fold in range(self.n_folds)
            )
        )

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "datasets": list(self.datasets),
            "arms": [arm.to_json() for arm in self.arms],
            "n_folds": self.n_folds,
            "seed": self.seed,
            "metrics": list(self.metrics),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Rebuild a protocol from its plain dictionary."""
        return cls(
            datasets=tuple(value["datasets"]),
            arms=tuple(Arm.from_json(arm) for arm in value["arms"]),
            n_folds=value["n_folds"],
            seed=value["seed"],
            metrics=tuple(value["metrics"]),
        )


def plan_arms(
    methods: Sequence[str],
    *,
    tuning: str = "none",
    thresholds: str = "none",
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[Arm, ...]:
    """The arms of several methods under the same rules.

    A method without anything to search is not tuned, and one that tunes its own thresholds keeps
    them; their arms say so.

    Parameters
    ----------
    methods : sequence of str
        Names of methods.
    tuning : str, default="none"
        See :class:`~protolabel.experiments.unit.Arm`.
    thresholds : {"none", "tuned"}, default="none"
        See :class:`~protolabel.experiments.unit.Arm`.
    settings : mapping of method to settings, default=None
        Parameters in place of a method's own.

    Returns
    -------
    tuple of Arm
        One for each method, in the given order.

    Examples
    --------
    >>> [(arm.method, arm.tuning) for arm in plan_arms(["pnml", "pnml-single"], tuning="grid")]
    [('pnml', 'none'), ('pnml-single', 'grid')]
    """
    settings = settings or {}
    unused = set(settings) - set(methods)
    if unused:
        raise ValueError(
            f"There are settings for {', '.join(sorted(unused))}, which is not among the methods "
            f"{', '.join(methods)}."
        )
    return tuple(
        _plan_arm(Arm(name, tuning, thresholds, settings=freeze_settings(settings.get(name, {}))))
        for name in methods
    )


def _plan_arm(arm: Arm) -> Arm:
    """Take away what the method cannot use."""
    method = find_method(arm.method)
    searchable = method.coarse_space if arm.tuning == "grid" else method.space
    left = set(searchable) - {name for name, _ in arm.settings}
    try:
        estimator = build_estimator(arm, seed=0)
    except TypeError as error:
        raise ValueError(
            f"The method {arm.method!r} cannot be built with {dict(arm.settings)}: {error}."
        ) from error
    tuning = arm.tuning if left else "none"
    if tuning.isdecimal():
        # Better now than in every unit.
        from protolabel.experiments.budgeted_search import import_optuna  # noqa: PLC0415

        import_optuna()
    return Arm(
        arm.method,
        tuning,
        "none" if tunes_own_thresholds(estimator) else arm.thresholds,
        arm.settings,
    )
