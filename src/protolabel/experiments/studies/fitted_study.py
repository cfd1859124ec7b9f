"""A study of one model fitted to all rows, in place of folds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from protolabel.experiments.protocol import Protocol
from protolabel.experiments.studies.findings import Findings
from protolabel.experiments.studies.fitted import FittedPrototypes, fit_prototypes, fitted_path
from protolabel.experiments.studies.provenance import (
    Fact,
    describe_fixed_values,
    describe_versions,
)
from protolabel.experiments.studies.request import Request
from protolabel.experiments.studies.study import Material, Study, Tell
from protolabel.experiments.unit import Arm


class FittedStudy(Study):
    """A study of the prototypes that a model has learned."""

    options: ClassVar[frozenset[str]] = frozenset(
        {"datasets", "methods", "settings", "epochs", "seed"}
    )
    methods: ClassVar[tuple[str, ...]] = ("pnml-multiple",)
    datasets: ClassVar[tuple[str, ...]] = ("arts",)

    def protocols(self, request: Request) -> tuple[Protocol, ...]:  # noqa: ARG002
        """No units of the bench: those keep scores, not models."""
        return ()

    def prepare(self, request: Request, run: Path, tell: Tell) -> None:
        """Fit what has no file yet."""
        for dataset, arm, path in self._fits(request, run):
            if not path.exists():
                found = find_elsewhere(path)
                if found is None:
                    tell(f"Fitting {arm.label} to all rows of {dataset}.")
                    found = fit_prototypes(dataset, arm, request.random_seed)
                found.save(path)

    def findings(self, material: Material) -> Findings:
        """Read what was fitted, and describe it."""
        paths = [path for _, _, path in self._fits(material.request, material.run)]
        return self.describe([FittedPrototypes.load(path) for path in paths])

    @abstractmethod
    def describe(self, fits: Sequence[FittedPrototypes]) -> Findings:
        """Make tables and drawings of the prototypes."""

    def _fits(self, request: Request, run: Path) -> Iterator[tuple[str, Arm, Path]]:
        for dataset in request.datasets or self.datasets:
            for arm in self.arms(request):
                yield dataset, arm, fitted_path(run, dataset, arm, request.random_seed)


def find_elsewhere(path: Path) -> FittedPrototypes | None:
    """Take the same fit from another study of the same output folder; None if there is none."""
    others = sorted(path.parent.parent.parent.glob(f"*/{path.parent.name}/{path.name}"))
    return FittedPrototypes.load(others[0]) if others else None


def fit_facts(fits: Sequence[FittedPrototypes]) -> tuple[Fact, ...]:
    """Say how the fits came about."""
    seeds = ", ".join(str(seed) for seed in dict.fromkeys(fit.seed for fit in fits))
    methods = ", ".join(dict.fromkeys(fit.arm.label for fit in fits))
    return (
        ("rows", "all of the dataset, one fit; there are no folds"),
        ("seed", seeds),
        ("not tuned", f"{methods}; the settings are fixed"),
        *describe_fixed_values((fit.arm.method, fit.configuration) for fit in fits),
        ("versions", describe_versions(fit.versions for fit in fits)),
        ("computing time", f"{sum(fit.seconds for fit in fits):.0f} s on one thread"),
    )
