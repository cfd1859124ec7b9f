"""The folder of a run: its protocols and its records."""

from __future__ import annotations

import json
import os
from pathlib import Path

from protolabel.experiments.locking import LockFolder
from protolabel.experiments.protocol import Protocol
from protolabel.experiments.store import RecordStore
from protolabel.experiments.unit import Unit
from protolabel.safefiles.places import check_can_grow

FORMAT = 1
# One of these is in every folder of a run, whenever it was stopped.
_MARKS = {"protocol.json", "records.jsonl", "locks"}


class RunFolder:
    """What a run is to compute and has computed.

    A run may grow: every protocol that is added brings the units that no other brought before.
    All protocols of a folder share folds and metrics, so that its records can be compared.

    Parameters
    ----------
    path : Path
        Created when the first protocol is added.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = RecordStore(path)
        self._protocols = path / "protocol.json"

    def protocols(self) -> list[Protocol]:
        """The protocols of the run, oldest first; none in a folder that has only records."""
        try:
            value = json.loads(self._protocols.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return []
        if value.get("format") != FORMAT:
            raise ValueError(
                f"{self._protocols} has format {value.get('format')}, expected {FORMAT}. "
                "It was written by another version."
            )
        return [Protocol.from_json(protocol) for protocol in value["protocols"]]

    def check_place(self) -> None:
        """Refuse a place that cannot be written to, or that holds something else than a run."""
        check_can_grow(self.path)
        names = [path.name for path in self.path.iterdir()] if self.path.is_dir() else []
        found = {name for name in names if not name.startswith(".")}
        if found and not found & _MARKS:
            raise FileExistsError(
                f"{self.path} holds {min(found)!r} and no run, so none is written to it; choose a "
                "new folder or an empty one."
            )

    def add(self, protocol: Protocol) -> None:
        """Add a protocol, unless the run has it already."""
        self.check_place()
        with LockFolder(self.path / "locks").exclusive("protocol"):
            protocols = self.protocols()
            if protocol in protocols:
                return
            for other in protocols:
                _check_comparable(self.path, other, protocol)
            protocols.append(protocol)
            self._write(protocols)

    def units(self) -> list[Unit]:
        """The units of all protocols, each once."""
        return list(
            dict.fromkeys(unit for protocol in self.protocols() for unit in protocol.units())
        )

    def metrics(self) -> tuple[str, ...]:
        """The metrics of all protocols."""
        return self.protocols()[0].metrics

    def _write(self, protocols: list[Protocol]) -> None:
        """Replace the file as a whole, so that a reader never sees half of it."""
        value = {"format": FORMAT, "protocols": [protocol.to_json() for protocol in protocols]}
        draft = self._protocols.with_suffix(".tmp")
        with draft.open("w", encoding="utf-8") as file:
            file.write(json.dumps(value, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._protocols)


def _check_comparable(path: Path, old: Protocol, new: Protocol) -> None:
    if (old.n_folds, old.metrics) != (new.n_folds, new.metrics):
        raise ValueError(
            f"{path} holds a run with {old.n_folds} folds and the metrics "
            f"{', '.join(old.metrics)}, but {new.n_folds} folds and {', '.join(new.metrics)} were "
            "asked for; use another folder for them."
        )
