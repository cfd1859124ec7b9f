"""What was asked of a study, kept beside its results so that they can be drawn again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from protolabel.datasets.writers.atomic import replace_when_done
from protolabel.experiments.unit import Settings, freeze_settings

_FILE = "request.json"


@dataclass(frozen=True)
class Request:
    """The choices that change what a study computes; None leaves one to the study.

    Parameters
    ----------
    datasets, methods : tuple of str or None, default=None
        In place of those of the study.
    tuning, thresholds : str or None, default=None
        See :class:`~protolabel.experiments.unit.Arm`.
    settings : tuple of (method, settings), default=()
        Parameters in place of a method's own, see :func:`make_request`.
    epochs : int or None, default=None
        Training epochs of every form of PNML.
    n_folds, seed : int or None, default=None
        Of the cross-validation; 5 and 0 if None.
    first_folds : int or None, default=None
        Compute the first so many folds only.
    records : str or None, default=None
        A run to look at in place of the study's own, where a study does that.

    Examples
    --------
    >>> Request(datasets=("yeast",), epochs=2).command("ablation", Path("out"))
    'protolabel reproduce ablation --datasets yeast --epochs 2 --output out'
    """

    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    tuning: str | None = None
    thresholds: str | None = None
    settings: tuple[tuple[str, Settings], ...] = ()
    epochs: int | None = None
    n_folds: int | None = None
    seed: int | None = None
    first_folds: int | None = None
    records: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether everything is left to the study."""
        return self == Request()

    @property
    def given(self) -> set[str]:
        """Names of the choices that were made."""
        return {f.name for f in fields(self) if getattr(self, f.name) != f.default}

    def only(self, names: Iterable[str]) -> Self:
        """Forget all choices but those of these names."""
        kept = set(names)
        forgotten: dict[str, Any] = {f.name: f.default for f in fields(self) if f.name not in kept}
        return replace(self, **forgotten)

    @property
    def folds(self) -> int:
        """Number of folds."""
        return 5 if self.n_folds is None else self.n_folds

    @property
    def random_seed(self) -> int:
        """Seed of the folds and of the methods."""
        return 0 if self.seed is None else self.seed

    def settings_of(self, methods: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Settings by method, with the epochs of PNML among them."""
        found: dict[str, dict[str, Any]] = {method: dict(pairs) for method, pairs in self.settings}
        if self.epochs is not None:
            for method in methods:
                if method.startswith("pnml"):
                    found[method] = {"max_epochs": self.epochs} | found.get(method, {})
        unused = set(found) - set(methods)
        if unused:
            raise ValueError(
                f"There are settings for {', '.join(sorted(unused))}, which is not among the "
                f"methods {', '.join(methods)}."
            )
        return found

    def restricted_to(self, methods: Sequence[str]) -> Self:
        """Leave out the settings of other methods, for several studies at once."""
        kept = tuple(pair for pair in self.settings if pair[0] in methods)
        return replace(self, settings=kept)

    def command(self, study: str, output: Path) -> str:
        """The command that asks for this."""
        words = ["protolabel", "reproduce", study]
        for option, values in (("--datasets", self.datasets), ("--methods", self.methods)):
            if values is not None:
                words += [option, ",".join(values)]
        for method, pairs in self.settings:
            for name, value in pairs:
                words += ["--set", f"{method}.{name}={json.dumps(value)}"]
        for option, value in (
            ("--epochs", self.epochs),
            ("--tuning", self.tuning),
            ("--thresholds", self.thresholds),
            ("--folds", self.n_folds),
            ("--first-folds", self.first_folds),
            ("--seed", self.seed),
            ("--records", self.records),
        ):
            if value is not None:
                words += [option, str(value)]
        return shlex.join([*words, "--output", str(output)])

    def save(self, folder: Path) -> None:
        """Keep the request in the folder of a study."""
        value = {f.name: getattr(self, f.name) for f in fields(self)}
        value["settings"] = {method: dict(pairs) for method, pairs in self.settings}
        with replace_when_done(folder / _FILE) as partial:
            partial.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """The request that a folder was made by; None in a new folder."""
        path = folder / _FILE
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        known = {f.name for f in fields(cls)}
        # Files from before there were records to look at name none.
        value = {"records": None} | value
        if set(value) != known:
            raise ValueError(
                f"{path} has the fields {sorted(value)}; expected {sorted(known)}. It was written "
                "by another version: name the options again."
            )
        for name in ("datasets", "methods"):
            if value[name] is not None:
                value[name] = tuple(value[name])
        value["settings"] = freeze_method_settings(value["settings"])
        return cls(**value)


def freeze_method_settings(
    settings: Mapping[str, Mapping[str, Any]],
) -> tuple[tuple[str, Settings], ...]:
    """Make settings by method hashable.

    Examples
    --------
    >>> freeze_method_settings({"pnml": {"max_epochs": 1}})
    (('pnml', (('max_epochs', 1),)),)
    """
    return tuple(sorted((method, freeze_settings(pairs)) for method, pairs in settings.items()))
