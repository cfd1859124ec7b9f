"""How far a run is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from protolabel.experiments.folder import RunFolder
from protolabel.experiments.record import Record
from protolabel.experiments.unit import Arm, Unit


@dataclass(frozen=True)
class Count:
    """Numbers of units."""

    total: int
    done: int
    failed: int
    running: int

    @property
    def missing(self) -> int:
        """Units that nobody has started."""
        return self.total - self.done - self.failed - self.running

    def to_json(self) -> dict[str, int]:
        """A plain dictionary."""
        return asdict(self) | {"missing": self.missing}


@dataclass(frozen=True)
class RunStatus:
    """State of a run.

    Parameters
    ----------
    overall : Count
        All units.
    by_arm : dict of (dataset, Arm) to Count
        The same by dataset and arm.
    failures : list of Record
        Failed units.
    seconds_left : float or None
        Computing time of what is missing or running, None while nothing is known about it.
    """

    overall: Count
    by_arm: dict[tuple[str, Arm], Count]
    failures: list[Record]
    seconds_left: float | None

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return {
            "overall": self.overall.to_json(),
            "arms": [
                {"dataset": dataset, **arm.to_json(), **count.to_json()}
                for (dataset, arm), count in self.by_arm.items()
            ],
            "failures": [
                {"unit": record.unit.to_json(), "error": record.error} for record in self.failures
            ],
            "seconds_left": self.seconds_left,
        }


def run_status(folder: RunFolder) -> RunStatus:
    """Count what is done, running, failed and missing in a run.

    Parameters
    ----------
    folder : RunFolder
        The run; it may be going on.

    Returns
    -------
    RunStatus
        The state at this moment.
    """
    groups: dict[tuple[str, Arm], list[Unit]] = {}
    for unit in folder.units():
        groups.setdefault((unit.dataset, unit.arm), []).append(unit)
    store = folder.store
    store.refresh()
    records = {unit: store.find(unit) for units in groups.values() for unit in units}
    running = {unit for unit in records if store.is_claimed(unit)}
    by_arm = {key: _count(units, records, running) for key, units in groups.items()}
    known = [record for record in records.values() if record is not None]
    open_units = [unit for unit, record in records.items() if record is None]
    return RunStatus(
        overall=_count(list(records), records, running),
        by_arm=by_arm,
        failures=[record for record in known if not record.is_ok],
        seconds_left=computing_time(open_units, known),
    )


def computing_time(units: Sequence[Unit], records: Iterable[Record]) -> float | None:
    """Expected seconds of computing of some units.

    Parameters
    ----------
    units : sequence of Unit
        What is to be computed.
    records : iterable of Record
        What was computed; units of the same dataset and arm count first, then those of the same
        dataset, then those of the same arm, then all.

    Returns
    -------
    float or None
        None where there is no record to go by.
    """
    seconds: dict[Any, list[float]] = {}
    for record in records:
        unit, total = record.unit, record.times.total
        for key in ((unit.dataset, unit.arm), unit.dataset, unit.arm, None):
            seconds.setdefault(key, []).append(total)
    if not seconds:
        return None
    return float(
        sum(
            np.mean(
                next(
                    seconds[key]
                    for key in ((unit.dataset, unit.arm), unit.dataset, unit.arm, None)
                    if key in seconds
                )
            )
            for unit in units
        )
    )


def _count(units: Sequence[Unit], records: dict[Unit, Record | None], running: set[Unit]) -> Count:
    """Count units; one that is being retried counts as running."""
    idle = [records[unit] for unit in units if unit not in running]
    return Count(
        total=len(units),
        done=sum(record is not None and record.is_ok for record in idle),
        failed=sum(record is not None and not record.is_ok for record in idle),
        running=sum(unit in running for unit in units),
    )
