"""What is to be computed: one arm of an experiment on one fold of one dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

Settings = tuple[tuple[str, Any], ...]
Thresholds = Literal["none", "tuned"]
THRESHOLDS: tuple[Thresholds, ...] = ("none", "tuned")
GRIDS = ("grid", "full-grid")
KEY_LENGTH = 20


@dataclass(frozen=True)
class Arm:
    """A method as it enters an experiment.

    Parameters
    ----------
    method : str
        Name of the method, see :data:`protolabel.methods.METHODS`.
    tuning : str, default="none"
        ``"none"``; ``"grid"``, the reduced grid of the method; ``"full-grid"``, the grid of the
        paper; or a number of trials of a budgeted search in the grid of the paper, as ``"30"``.
    thresholds : {"none", "tuned"}, default="none"
        The decisions of the method itself, or thresholds tuned by inner cross-validation.
    settings : tuple of pairs, default=()
        Parameters in place of the method's own, sorted by name; see :func:`freeze_settings`.
    space : tuple of pairs, default=()
        Names and values to search in place of the method's own grid.

    Examples
    --------
    >>> Arm("pnml", settings=freeze_settings({"max_epochs": 1})).label
    'pnml(max_epochs=1)'
    """

    method: str
    tuning: str = "none"
    thresholds: str = "none"
    settings: Settings = ()
    space: Settings = ()

    def __post_init__(self) -> None:
        check_tuning(self.tuning)
        if self.thresholds not in THRESHOLDS:
            raise ValueError(
                f"thresholds={self.thresholds!r} is unknown; use one of {', '.join(THRESHOLDS)}."
            )

    @property
    def label(self) -> str:
        """The method with what distinguishes it from its plain form."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.method}({settings})" if settings else self.method

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "method": self.method,
            "tuning": self.tuning,
            "thresholds": self.thresholds,
            "settings": dict(self.settings),
            "space": dict(self.space),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Rebuild an arm from its plain dictionary."""
        return cls(
            method=value["method"],
            tuning=value["tuning"],
            thresholds=value["thresholds"],
            settings=freeze_settings(value["settings"]),
            space=freeze_settings(value["space"]),
        )


@dataclass(frozen=True)
class Unit:
    """One fold of one dataset for one arm; equal units have equal results.

    The fields after ``seed`` are those of :class:`Arm`.

    Examples
    --------
    >>> unit = Unit("yeast", "pnml", tuning="none", fold=0, n_folds=5, seed=0)
    >>> unit.arm
    Arm(method='pnml', tuning='none', thresholds='none', settings=(), space=())
    >>> len(unit.key)
    20
    """

    dataset: str
    method: str
    tuning: str
    fold: int
    n_folds: int
    seed: int
    thresholds: str = "none"
    settings: Settings = ()
    space: Settings = ()

    @classmethod
    def of(cls, dataset: str, arm: Arm, *, fold: int, n_folds: int, seed: int) -> Self:
        """Put an arm on a fold of a dataset."""
        return cls(
            dataset=dataset,
            method=arm.method,
            tuning=arm.tuning,
            fold=fold,
            n_folds=n_folds,
            seed=seed,
            thresholds=arm.thresholds,
            settings=arm.settings,
            space=arm.space,
        )

    @property
    def arm(self) -> Arm:
        """What is compared, without dataset and fold."""
        return Arm(self.method, self.tuning, self.thresholds, self.settings, self.space)

    @property
    def key(self) -> str:
        """A short name that is the same in every process and on every machine."""
        return digest(self.to_json())

    def __str__(self) -> str:
        return f"{self.dataset} {self.arm.label} fold {self.fold + 1}/{self.n_folds}"

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "dataset": self.dataset,
            "fold": self.fold,
            "n_folds": self.n_folds,
            "seed": self.seed,
            **self.arm.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Rebuild a unit from its plain dictionary."""
        return cls.of(
            value["dataset"],
            Arm.from_json(value),
            fold=value["fold"],
            n_folds=value["n_folds"],
            seed=value["seed"],
        )


def check_tuning(tuning: str) -> None:
    """Refuse a tuning that is neither a known name nor a number of trials."""
    if tuning == "none" or tuning in GRIDS:
        return
    if not (tuning.isdecimal() and int(tuning) > 0 and str(int(tuning)) == tuning):
        raise ValueError(
            f"tuning={tuning!r} is unknown; use none, {', '.join(GRIDS)} or a number of trials."
        )


def freeze_settings(settings: Mapping[str, Any] | Sequence[tuple[str, Any]]) -> Settings:
    """Make settings hashable and independent of their order.

    Parameters
    ----------
    settings : mapping, or sequence of pairs
        Names and values, each a number, string, bool, None or a list of such.

    Returns
    -------
    tuple of pairs
        Sorted by name, lists as tuples.

    Examples
    --------
    >>> freeze_settings({"k": 5, "a": [1, 2]})
    (('a', (1, 2)), ('k', 5))
    """
    return tuple(sorted((name, _freeze(name, value)) for name, value in dict(settings).items()))


def _freeze(name: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_freeze(name, item) for item in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"The setting {name!r} is a {type(value).__name__}; expected a number, string, bool, None "
        "or a list of such, so that it can be stored with the results."
    )


def digest(value: Any) -> str:
    """Short hash of a JSON value, independent of the order of its keys."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:KEY_LENGTH]
