"""A run of a few moments, for the tests and for the processes that they start."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

from protolabel.experiments.engines import work
from protolabel.experiments.engines.processes import ProcessEngine
from protolabel.experiments.folder import RunFolder
from protolabel.experiments.protocol import Protocol
from protolabel.experiments.runner import run_missing
from protolabel.experiments.unit import Arm, Unit, freeze_settings

SMALL = "synthetic-emotions:90"
QUICK = freeze_settings({"max_epochs": 1, "n_members": 1, "embedding_dim": 4})


def make_unit(fold=0, **changes):
    return replace(Unit(SMALL, "pnml-single", "none", fold, 3, 0, settings=QUICK), **changes)


def quick_arm(method="pnml-single", **changes):
    return Arm(method, settings=changes.pop("settings", QUICK), **changes)


def new_run(path, *, datasets=(SMALL,), arms=None, n_folds=3, **changes):
    folder = RunFolder(Path(path))
    arms = (quick_arm(),) if arms is None else tuple(arms)
    folder.add(Protocol(tuple(datasets), arms, n_folds=n_folds, **changes))
    return folder


def metrics_by_unit(folder):
    return {record.unit: record.metrics for record in folder.store.read() if record.is_ok}


def written_units(folder):
    """Units of all lines of the store, each as often as it is there."""
    lines = folder.store.path.read_text().splitlines()
    return [Unit.from_json(json.loads(line)["unit"]) for line in lines]


def run_and_log(path, log):
    """Run a folder in this process, with a line in a log for each unit that is started."""
    compute = work.compute_unit

    def log_and_compute(unit, **options):
        with Path(log).open("ab", buffering=0) as file:
            file.write(f"{os.getpid()} {unit.key}\n".encode())
        return compute(unit, **options)

    work.compute_unit = log_and_compute
    run_missing(RunFolder(Path(path)))


def run_in_workers(path):
    """Run a folder with two worker processes."""
    run_missing(RunFolder(Path(path)), engine=ProcessEngine(2))


def logged(log):
    """Process and unit key of each start."""
    return [tuple(line.split()) for line in Path(log).read_text().splitlines()]


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def holder_of(folder, unit):
    """Number of the process that holds a claim, from the kernel's list; None if nobody does."""
    path = folder.path / "locks" / "units" / unit.key
    try:
        inode = path.stat().st_ino
    except FileNotFoundError:
        return None
    for line in Path("/proc/locks").read_text().splitlines():
        fields = line.split()
        if fields[1] == "FLOCK" and int(fields[5].rpartition(":")[2]) == inode:
            return int(fields[4])
    return None
