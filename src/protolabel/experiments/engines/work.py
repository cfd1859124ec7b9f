"""One unit from claim to record, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from protolabel.experiments.compute import compute_unit
from protolabel.experiments.record import Record
from protolabel.experiments.store import RecordStore
from protolabel.experiments.unit import Unit


@dataclass(frozen=True)
class Job:
    """A unit with what is needed to compute it in any process.

    Parameters
    ----------
    unit : Unit
        What to compute.
    folder : Path
        Folder of the run.
    metrics : tuple of str
        Names of the metrics.
    n_attempts : int, default=0
        Failed attempts that are to be followed by another one.
    """

    unit: Unit
    folder: Path
    metrics: tuple[str, ...]
    n_attempts: int = 0

    @property
    def studies(self) -> Path:
        """Folder of what tuning knows; a retry starts anew, since the failure may be due to it."""
        folder = self.folder / "studies"
        return folder / f"retry-{self.n_attempts}" if self.n_attempts else folder

    def is_done(self, store: RecordStore) -> bool:
        """Tell whether the unit has got a record since the job was planned."""
        store.refresh()
        record = store.find(self.unit)
        if record is None:
            return False
        return record.is_ok or store.n_attempts(self.unit) > self.n_attempts

    def compute(self) -> Record:
        """Compute the unit."""
        return compute_unit(self.unit, metrics=self.metrics, studies=self.studies)


class Engine(Protocol):
    """Something that computes jobs.

    It may leave jobs undone: the runner hands them out again. It appends every record to the
    store, under a claim that it holds from before the start until after the record.
    """

    def run(self, jobs: Sequence[Job], tell: Callable[[], None]) -> None:
        """Compute jobs that nobody else has claimed, and call ``tell`` after each record."""


def do_job(job: Job) -> None:
    """Claim a unit, compute it and store its record, unless another process has it or did it."""
    store = RecordStore(job.folder)
    claim = store.claim(job.unit)
    if claim is None:
        return
    try:
        # It may have been computed between the plan and the claim.
        if not job.is_done(store):
            store.append(job.compute())
    finally:
        claim.give_back()
