"""Run what a folder is still missing, by an engine, until every unit has its record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from protolabel.experiments.engines.sequential import SequentialEngine
from protolabel.experiments.engines.work import Engine, Job
from protolabel.experiments.folder import RunFolder
from protolabel.experiments.record import Record
from protolabel.experiments.unit import Unit

_POLL_SECONDS = 0.5


class Observer(Protocol):
    """What is told about a run while it goes on."""

    def begin(self, units: Sequence[Unit], records: Sequence[Record]) -> None:
        """Hear of all units and of the records that were there before."""

    def finish(self, record: Record) -> None:
        """Hear of a record that was added, here or by another process."""


class Silence:
    """An observer that tells nobody."""

    def begin(self, units: Sequence[Unit], records: Sequence[Record]) -> None:
        """Do nothing."""

    def finish(self, record: Record) -> None:
        """Do nothing."""


def run_missing(
    folder: RunFolder,
    *,
    engine: Engine | None = None,
    retry_failed: bool = False,
    observer: Observer | None = None,
) -> list[Record]:
    """Compute the units of a run that have no record yet.

    Several processes may run the same folder: each unit is computed by one of them, and all of
    them return when the last unit is done.

    Parameters
    ----------
    folder : RunFolder
        The run.
    engine : Engine, default=None
        What computes the units; None for one after the other in this process.
    retry_failed : bool, default=False
        Whether to compute units anew that failed in an earlier run.
    observer : Observer, default=None
        What to tell about progress.

    Returns
    -------
    list of Record
        The records of all units, in the order of the protocols.
    """
    engine = engine or SequentialEngine()
    observer = observer or Silence()
    store, units = folder.store, folder.units()
    store.refresh()
    attempts = {unit: store.n_attempts(unit) for unit in units}

    def is_missing(unit: Unit) -> bool:
        record = store.find(unit)
        if record is None:
            return True
        return retry_failed and not record.is_ok and store.n_attempts(unit) == attempts[unit]

    waiting = {unit: None for unit in units if is_missing(unit)}
    observer.begin(units, [r for u in units if u not in waiting and (r := store.find(u))])

    def tell() -> None:
        store.refresh()
        for unit in list(waiting):
            record = store.find(unit)
            if record is not None and not is_missing(unit):
                del waiting[unit]
                observer.finish(record)

    while waiting:
        free = [unit for unit in waiting if not store.is_claimed(unit)]
        if free:
            path, metrics = folder.path.absolute(), folder.metrics()
            jobs = [Job(unit, path, metrics, attempts[unit]) for unit in free]
            engine.run(jobs, tell)
        else:
            time.sleep(_POLL_SECONDS)
        tell()
    # One who died after it wrote its record had no time to let go.
    store.clear_abandoned(units)
    return [record for unit in units if (record := store.find(unit)) is not None]
