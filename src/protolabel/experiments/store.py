"""An append-only file of records that survives being killed and shared at any moment."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from protolabel.experiments.locking import Claim, LockFolder
from protolabel.experiments.record import Record
from protolabel.experiments.unit import Unit


class RecordStore:
    """Records as lines of JSON in one file, and claims on the units being computed.

    Records are added under a lock, as one write of one line, flushed to the disk. What a killed
    process left of a line is never read and is cut off before the next record is added. A unit
    has at most one successful record; a failed one may be followed by another attempt.

    Parameters
    ----------
    folder : Path
        Created with the first record.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> RecordStore(Path(mkdtemp()) / "run").read()
    []
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "records.jsonl"
        self._locks = LockFolder(folder / "locks")
        self._read_until = 0
        self._found: dict[str, Record] = {}
        self._attempts: dict[str, int] = {}

    def append(self, record: Record) -> bool:
        """Add a record, unless its unit has a successful one.

        Returns
        -------
        bool
            Whether the record was added.
        """
        line = json.dumps(record.to_json(), sort_keys=True, allow_nan=False) + "\n"
        with self._locks.exclusive("records"):
            self.refresh()
            known = self._found.get(record.unit.key)
            if known is not None and known.is_ok:
                return False
            with self.path.open("ab") as file:
                file.truncate(self._read_until)
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        return True

    def read(self) -> list[Record]:
        """One record of each unit: the successful one, else that of the last attempt."""
        self.refresh()
        return list(self._found.values())

    def find(self, unit: Unit) -> Record | None:
        """The record of a unit, None if it had none at the last refresh."""
        return self._found.get(unit.key)

    def n_attempts(self, unit: Unit) -> int:
        """How many records of a unit there were at the last refresh, failed ones included."""
        return self._attempts.get(unit.key, 0)

    def claim(self, unit: Unit) -> Claim | None:
        """Take the right to compute a unit, or return None where a live process has it."""
        return self._locks.claim(unit.key)

    def is_claimed(self, unit: Unit) -> bool:
        """Tell whether a live process is computing a unit."""
        return self._locks.is_held(unit.key)

    def was_abandoned(self, unit: Unit) -> bool:
        """Tell whether a process died while it computed a unit."""
        return self._locks.is_left_behind(unit.key)

    def clear_abandoned(self, units: Iterable[Unit]) -> None:
        """Remove what processes that died left of their claims on units."""
        for unit in units:
            claim = self.claim(unit) if self.was_abandoned(unit) else None
            if claim is not None:
                claim.give_back()

    def refresh(self) -> None:
        """Read the lines that were finished since the last call."""
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._read_until:
                    self._forget()  # the file was replaced by another one
                file.seek(self._read_until)
                text = file.read()
        except (FileNotFoundError, NotADirectoryError):
            self._forget()
            return
        finished = text[: text.rfind(b"\n") + 1]
        for line in finished.splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                warnings.warn(
                    f"{self.path} has a damaged line, {line[:40]!r}...; it is left out, and its "
                    "unit counts as not computed.",
                    stacklevel=3,
                )
                continue
            self._add(Record.from_json(value))
        self._read_until += len(finished)

    def _forget(self) -> None:
        self._read_until = 0
        self._found.clear()
        self._attempts.clear()

    def _add(self, record: Record) -> None:
        key = record.unit.key
        self._attempts[key] = self._attempts.get(key, 0) + 1
        known = self._found.get(key)
        if known is None or not known.is_ok:
            self._found[key] = record
