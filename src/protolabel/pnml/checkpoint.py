"""Training that survives being killed: all that the next epoch depends on, in safe files.

After every epoch the state of training is written to ``<folder>/epoch-<number>``, a manifest
beside a tensor file; only the newest is kept. A run that starts with the same fingerprint
continues behind that epoch and ends with the model of an undisturbed run, bit for bit.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from protolabel.exceptions import ModelFileError
from protolabel.pnml.callbacks import EpochRecord
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.optimisation import Adam
from protolabel.safefiles.bundle import Bundle, BundleFormat, write_bundle
from protolabel.safefiles.fields import Fields

CHECKPOINT_FORMAT = BundleFormat("protolabel-checkpoint", version=1, readable=(1,))
_KEYS = {1: ("fingerprint", "history", "best_epoch", "best_loss")}
_FOLDER = re.compile(r"epoch-(\d{5})")
_LEFT_BEHIND = re.compile(r"\.epoch-\d{5}\.[0-9a-f]{32}\.(tmp|old)")
_ODD_NUMBERS = ("inf", "-inf", "nan")


@dataclass(frozen=True)
class Progress:
    """How far training is: the epochs done, and the best network that early stopping saw."""

    history: tuple[EpochRecord, ...] = ()
    best_loss: float = math.inf
    best_epoch: int = -1
    best_state: Mapping[str, Tensor] | None = None


class Checkpoints:
    """The folder that one training run keeps its state in.

    Parameters
    ----------
    folder : Path
        Created where it does not exist. One run at a time may use it.
    fingerprint : mapping of str to str
        What the result of training depends on, by what a person would call it. A state
        with another fingerprint is refused.
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, str]) -> None:
        self.folder = folder
        self.fingerprint = dict(fingerprint)
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if _LEFT_BEHIND.fullmatch(path.name):
                shutil.rmtree(path)

    def save(
        self,
        progress: Progress,
        network: PrototypeNetwork,
        optimizer: Adam,
        generator: torch.Generator,
    ) -> None:
        """Write the state after an epoch, then delete that of the epoch before."""
        tensors = {"generator": generator.get_state()}
        tensors |= {f"network.{name}": value for name, value in network.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in (progress.best_state or {}).items()}
        tensors |= {f"optimizer.{name}": value for name, value in optimizer.state().items()}
        number = len(progress.history)
        write_bundle(
            self.folder / f"epoch-{number:05d}",
            CHECKPOINT_FORMAT,
            {
                "fingerprint": self.fingerprint,
                "history": [
                    {name: _plain(value) for name, value in asdict(record).items()}
                    for record in progress.history
                ],
                "best_epoch": progress.best_epoch,
                "best_loss": _plain(progress.best_loss),
            },
            {name: value.detach().cpu().numpy() for name, value in tensors.items()},
            force=True,
        )
        for other, path in _stored(self.folder).items():
            if other != number:
                shutil.rmtree(path)

    def restore(
        self,
        network: PrototypeNetwork,
        optimizer: Adam,
        generator: torch.Generator,
    ) -> Progress:
        """Bring everything to the state after the last finished epoch, if there is one."""
        stored = _stored(self.folder)
        if not stored:
            return Progress()
        with Bundle(stored[max(stored)], CHECKPOINT_FORMAT, _KEYS) as bundle:
            self._check_fingerprint(bundle)
            history = tuple(_record(node, bundle) for node in bundle.content.items("history"))
            if len(history) != max(stored):
                bundle.refuse(f"{len(history)} epochs are recorded in {bundle.path.parent.name}")
            groups: dict[str, dict[str, Tensor]] = {
                "generator": {},
                "network": {},
                "best": {},
                "optimizer": {},
            }
            for name in bundle.tensors.schema:
                group, _, rest = name.partition(".")
                if group not in groups:
                    bundle.refuse(f"the array {name[:60]!a} belongs to no part of training")
                groups[group][rest] = torch.from_numpy(bundle.tensors.read(name))
            try:
                _set_network(network, groups["network"])
                optimizer.load_state(groups["optimizer"])
                generator.set_state(groups["generator"][""])
            except (RuntimeError, ValueError, KeyError, IndexError, TypeError) as error:
                bundle.refuse(f"the state does not fit this network ({str(error)[:200]})")
            return Progress(
                history=history,
                best_loss=_number(bundle.content.raw("best_loss"), "best_loss", bundle),
                best_epoch=bundle.content.integer("best_epoch", low=-1),
                best_state={
                    name: value.to(network.positions.device)
                    for name, value in groups["best"].items()
                }
                or None,
            )

    def _check_fingerprint(self, bundle: Bundle) -> None:
        found = bundle.content.members("fingerprint")
        keys = found.keys() | self.fingerprint.keys()
        different = sorted(key for key in keys if found.get(key) != self.fingerprint.get(key))
        if different:
            raise ModelFileError(
                f"{self.folder}: the checkpoint is of another run; different: "
                f"{', '.join(name[:30] for name in different)}. Use another checkpoint_dir, or "
                "delete this one to start anew."
            )


def stored_seed(folder: Path) -> int | None:
    """Seed of the run that a folder holds the state of, None where it holds none."""
    stored = _stored(folder) if folder.is_dir() else {}
    if not stored:
        return None
    with Bundle(stored[max(stored)], CHECKPOINT_FORMAT, _KEYS) as bundle:
        seed = bundle.content.members("fingerprint").get("seed")
        if not isinstance(seed, str) or not re.fullmatch(r"\d{1,10}", seed):
            bundle.refuse("the fingerprint has no seed")
        return int(seed)


def _stored(folder: Path) -> dict[int, Path]:
    """States by the number of epochs done."""
    matches = ((_FOLDER.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match[1]): path for match, path in matches if match}


def _set_network(network: PrototypeNetwork, state: dict[str, Tensor]) -> None:
    device = network.positions.device
    # The number of prototypes is no part of the architecture.
    network.positions = state["positions"].to(device)
    network.log_weights = state["log_weights"].to(device)
    network.load_state_dict(state)


def _plain(value: Any) -> Any:
    """A number as JSON can hold it: those that are not finite as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any, name: str, bundle: Bundle) -> float:
    if type(value) not in (int, float) and value not in _ODD_NUMBERS:
        bundle.refuse(f"{name} is not a number")
    return float(value)


def _record(node: Any, bundle: Bundle) -> EpochRecord:
    names = [field.name for field in fields(EpochRecord)]
    entry = Fields(node, "a record of the history", bundle.path, names)
    values: dict[str, Any] = {
        name: None if entry.raw(name) is None else _number(entry.raw(name), name, bundle)
        for name in names
    }
    return EpochRecord(**values | {"epoch": entry.integer("epoch")})
