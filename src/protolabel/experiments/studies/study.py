"""What all studies share: from a request to records, from records to findings, to files."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from protolabel.experiments.engines.work import Engine
from protolabel.experiments.figures.canvas import check_can_draw
from protolabel.experiments.folder import RunFolder
from protolabel.experiments.protocol import Protocol, plan_arms
from protolabel.experiments.record import Record
from protolabel.experiments.runner import Observer, run_missing
from protolabel.experiments.studies.findings import Findings
from protolabel.experiments.studies.provenance import describe_records
from protolabel.experiments.studies.request import Request
from protolabel.experiments.studies.writing import write_findings
from protolabel.experiments.unit import Arm, Unit

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Material:
    """What findings are made from.

    Parameters
    ----------
    request : Request
        What was asked for.
    run : Path
        Folder of what was computed.
    records : tuple of Record
        What is to be shown: all records of a run that grows, else those of the request.
    """

    request: Request
    run: Path
    records: tuple[Record, ...]


@dataclass(frozen=True)
class StudyResult:
    """What came of a study.

    Parameters
    ----------
    study : str
        Its name.
    files : tuple of Path
        What was written.
    n_done, n_failed : int
        Units with and without a result.
    summary : dict
        The few numbers that matter.
    """

    study: str
    files: tuple[Path, ...]
    n_done: int
    n_failed: int
    summary: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "study": self.study,
            "files": [str(path) for path in self.files],
            "n_done": self.n_done,
            "n_failed": self.n_failed,
            "summary": _without_nan(self.summary),
        }


class PartialRun(RunFolder):
    """A run of which the first folds only are computed.

    Parameters
    ----------
    path : Path
        Folder of the run.
    first_folds : int or None
        Number of folds; None for all.
    """

    def __init__(self, path: Path, first_folds: int | None) -> None:
        super().__init__(path)
        self.first_folds = first_folds

    def units(self) -> list[Unit]:
        """The units of the first folds of all protocols."""
        limit = self.first_folds
        return [unit for unit in super().units() if limit is None or unit.fold < limit]


class Study(ABC):
    """One table or figure of the paper: what to compute for it and what to make of it.

    A study that grows shows the records of all requests to a folder, another one those of the
    last. ``options`` are the names of the choices of a request that it can use.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    methods: ClassVar[tuple[str, ...]] = ()
    datasets: ClassVar[tuple[str, ...]] = ()
    first_folds: ClassVar[int | None] = None
    options: ClassVar[frozenset[str]] = frozenset(f.name for f in fields(Request))
    is_drawn_by_matplotlib: ClassVar[bool] = True
    grows: ClassVar[bool] = True

    def protocols(self, request: Request) -> tuple[Protocol, ...]:
        """What the bench has to compute."""
        arms = self.arms(request)
        return (_protocol(request.datasets or self.datasets, arms, request),) if arms else ()

    def arms(self, request: Request) -> tuple[Arm, ...]:
        """The methods asked for, with their settings."""
        methods = request.methods or self.methods
        return plan_arms(
            methods,
            tuning=request.tuning or "none",
            thresholds=request.thresholds or "none",
            settings=request.settings_of(methods),
        )

    def relevant_part(self, request: Request) -> Request:
        """Leave out what is of no use to this study, where several are asked for at once."""
        return request.only(self.options).restricted_to(request.methods or self.methods)

    def check(self, request: Request) -> None:
        """Refuse options that would have no effect."""
        unused = sorted(request.given - self.options)
        if unused:
            raise ValueError(
                f"The study {self.name} makes no use of {', '.join(unused)}; leave it out."
            )

    def prepare(self, request: Request, run: Path, tell: Tell) -> None:  # noqa: B027
        """Compute what is no unit of the bench, unless it is there already."""

    @abstractmethod
    def findings(self, material: Material) -> Findings:
        """Make tables and drawings from what was computed, and from nothing else."""


def run_study(
    study: Study,
    output: Path,
    request: Request,
    *,
    engine: Engine | None = None,
    observer: Observer | None = None,
    retry_failed: bool = False,
    figures: bool = True,
    tell: Tell | None = None,
) -> StudyResult:
    """Compute what a study lacks and write its tables and figures.

    Parameters
    ----------
    study : Study
        What to do.
    output : Path
        The study writes into a folder of its name there.
    request : Request
        An empty one repeats what the folder was made by: nothing is computed in a finished one.
    engine, observer, retry_failed
        See :func:`~protolabel.experiments.runner.run_missing`.
    figures : bool, default=True
        Whether to draw, which needs matplotlib.
    tell : callable, default=None
        Called with a line of text before a long computation that is no unit of the bench.

    Returns
    -------
    StudyResult
        The files and the numbers that matter.
    """
    study.check(request)
    if figures and study.is_drawn_by_matplotlib:
        check_can_draw()
    folder = output / study.name
    if request.is_empty:
        request = Request.load(folder) or request
    protocols = study.protocols(request)
    folder.mkdir(parents=True, exist_ok=True)
    run = PartialRun(folder / "run", request.first_folds or study.first_folds)
    for protocol in protocols:
        run.add(protocol)
    request.save(folder)
    found: list[Record] = []
    if protocols:
        found = run_missing(run, engine=engine, retry_failed=retry_failed, observer=observer)
    study.prepare(request, run.path, tell or _keep_silent)
    shown = found if study.grows else _asked_for(found, protocols, run.first_folds)
    material = Material(request, run.path, tuple(shown))
    findings = study.findings(material)
    command = ("command", f"`{request.command(study.name, output)}`")
    findings = Findings(
        findings.sections,
        findings.tables,
        (command, *describe_records(shown), *findings.facts),
        findings.summary,
    )
    files = write_findings(findings, folder, name=study.name, title=study.title, figures=figures)
    n_failed = sum(not record.is_ok for record in found)
    return StudyResult(
        study.name, tuple(files), len(found) - n_failed, n_failed, dict(findings.summary)
    )


def _asked_for(
    records: Sequence[Record], protocols: Sequence[Protocol], first_folds: int | None
) -> list[Record]:
    """The records of the present request, of its first folds only where it says so."""
    asked = {unit for protocol in protocols for unit in protocol.units()}
    return [
        record
        for record in records
        if record.unit in asked and (first_folds is None or record.unit.fold < first_folds)
    ]


def _keep_silent(text: str) -> None:
    """Tell nobody."""


def _protocol(datasets: Sequence[str], arms: Sequence[Arm], request: Request) -> Protocol:
    return Protocol(tuple(datasets), tuple(arms), n_folds=request.folds, seed=request.random_seed)


def _without_nan(value: Any) -> Any:
    """JSON has no such number."""
    if isinstance(value, Mapping):
        return {name: _without_nan(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
