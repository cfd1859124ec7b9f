"""An append-only file of records that survives being killed at any moment."""

from __future__ import annotations

import json
import os
from pathlib import Path

from protolabel.experiments.record import Record, Unit


class RecordStore:
    """Records as lines of JSON in one file.

    A record is one write of one line, flushed to the disk. A line that a killed process left
    unfinished is skipped when reading, and the next record starts on a line of its own.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "records.jsonl"

    def append(self, record: Record) -> None:
        """Add a record."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(record.to_json(), sort_keys=True) + "\n"
        with self.path.open("a+b") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[Record]:
        """All finished records, the first one of each unit."""
        if not self.path.exists():
            return []
        found: dict[Unit, Record] = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                value = json.loads(line)
            except json.JSONDecodeError:
                continue  # unfinished: the process that wrote it was killed
            record = Record.from_json(value)
            found.setdefault(record.unit, record)
        return list(found.values())
