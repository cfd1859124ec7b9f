"""Runs on a real dask scheduler with worker processes."""

import json
import os
import signal
import subprocess
import sys

import pytest

from experiments.small_run import metrics_by_unit, new_run, wait_until, written_units
from protolabel.experiments.engines.cluster import ClusterEngine
from protolabel.experiments.runner import Silence, run_missing

pytest.importorskip("distributed")


@pytest.fixture
def dask(tmp_path):
    """Start dask programs, each in a process group of its own, and end them afterwards."""
    programs = []

    def start(*arguments):
        with (tmp_path / "dask.log").open("ab") as log:
            programs.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", *arguments],
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )
        return programs[-1]

    yield start
    for program in programs:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


@pytest.fixture
def scheduler(dask, tmp_path):
    """Address of a scheduler."""
    file = tmp_path / "scheduler.json"
    dask(
        *("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
        *("--scheduler-file", str(file)),
    )
    wait_until(lambda: file.exists() and file.read_text().strip().endswith("}"))
    return json.loads(file.read_text())["address"]


def start_worker(dask, address, name, threads=1):
    return dask(
        *("worker", address, "--name", name, "--nthreads", str(threads), "--no-dashboard"),
        "--no-nanny",
    )


class KillAfter(Silence):
    """Kill a process group after a number of records."""

    def __init__(self, n_records, program):
        self.n_records, self.program = n_records, program

    def finish(self, record):
        self.n_records -= 1
        if self.n_records == 0:
            os.killpg(self.program.pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_run_on_a_cluster_survives_a_lost_worker(tmp_path, dask, scheduler):
    undisturbed = new_run(tmp_path / "undisturbed", n_folds=12)
    run_missing(undisturbed)
    folder = new_run(tmp_path / "run", n_folds=12)
    lost, kept = (start_worker(dask, scheduler, name) for name in ("lost", "kept"))
    engine = ClusterEngine(scheduler, timeout=120, n_workers=2)
    records = run_missing(folder, engine=engine, observer=KillAfter(3, lost))
    assert lost.wait(10) == -signal.SIGKILL
    assert kept.poll() is None
    assert [record.status for record in records] == ["ok"] * 12
    assert sorted(map(str, written_units(folder))) == sorted(map(str, folder.units()))
    assert metrics_by_unit(folder) == metrics_by_unit(undisturbed)
    assert not list((folder.path / "locks" / "units").iterdir())


@pytest.mark.slow
def test_workers_with_several_threads_are_refused(tmp_path, dask, scheduler):
    folder = new_run(tmp_path / "run", n_folds=2)
    start_worker(dask, scheduler, "wide", threads=2)
    with pytest.raises(ValueError, match="has 2 threads; units would disturb each other's times"):
        run_missing(folder, engine=ClusterEngine(scheduler, timeout=120))
    assert folder.store.read() == []


def test_a_scheduler_that_does_not_answer_is_an_error(tmp_path):
    folder = new_run(tmp_path / "run", n_folds=2)
    with pytest.raises(OSError, match="Timed out trying to connect"):
        run_missing(folder, engine=ClusterEngine("tcp://127.0.0.1:9", timeout=0.5))
