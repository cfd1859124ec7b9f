"""Runs that are killed, and runs that share a folder with others."""

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from experiments.small_run import (
    holder_of,
    logged,
    metrics_by_unit,
    new_run,
    quick_arm,
    run_and_log,
    run_in_workers,
    wait_until,
    written_units,
)
from protolabel.experiments.compute import compute_unit
from protolabel.experiments.engines.processes import WORKER_DIED, ProcessEngine
from protolabel.experiments.engines.work import Job
from protolabel.experiments.runner import run_missing
from protolabel.experiments.tables import fold_means
from protolabel.experiments.unit import freeze_settings

needs_proc = pytest.mark.skipif(
    not Path("/proc/locks").exists(), reason="finds the holder of a lock in /proc/locks"
)
ARMS = tuple(
    quick_arm(settings=freeze_settings({"max_epochs": epochs, "n_members": 1, "embedding_dim": 4}))
    for epochs in (1, 2, 3, 4)
)


@pytest.mark.slow
def test_a_run_killed_ten_times_ends_with_the_same_table(tmp_path, start_process):
    undisturbed = new_run(tmp_path / "undisturbed", arms=ARMS, n_folds=12)
    run_missing(undisturbed)
    folder, log = new_run(tmp_path / "killed", arms=ARMS, n_folds=12), tmp_path / "log"
    log.touch()
    chance = random.Random(0)

    n_kills = 0
    while n_kills < 10:
        n_started = len(logged(log))
        process = start_process(run_and_log, folder.path, log)
        wait_until(lambda n=n_started: len(logged(log)) > n)
        time.sleep(chance.uniform(0, 0.1))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL, "the run was over too soon to be killed"
        n_kills += 1
    assert len(folder.store.read()) < len(folder.units())

    run_missing(folder)
    assert sorted(map(str, written_units(folder))) == sorted(map(str, folder.units()))
    assert metrics_by_unit(folder) == metrics_by_unit(undisturbed)
    assert fold_means(folder.store.read()) == fold_means(undisturbed.store.read())
    assert len(logged(log)) <= len(folder.units()) + n_kills
    assert not list((folder.path / "locks" / "units").iterdir())


def test_the_claim_of_one_who_died_after_its_record_is_cleared(tmp_path):
    folder = new_run(tmp_path / "run")
    records = run_missing(folder)
    left = folder.path / "locks" / "units" / records[0].unit.key
    left.touch()
    assert folder.store.was_abandoned(records[0].unit)
    assert run_missing(folder) == records
    assert not left.exists()


@pytest.mark.slow
def test_two_processes_on_one_folder_share_the_units(tmp_path, start_process):
    folder, log = new_run(tmp_path / "run", arms=ARMS, n_folds=6), tmp_path / "log"
    processes = [start_process(run_and_log, folder.path, log) for _ in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    starts = logged(log)
    assert sorted(key for _, key in starts) == sorted(unit.key for unit in folder.units())
    assert {int(pid) for pid, _ in starts} == {process.pid for process in processes}
    assert sorted(map(str, written_units(folder))) == sorted(map(str, folder.units()))


def test_a_unit_that_another_process_computes_is_waited_for(tmp_path, record, monkeypatch):
    monkeypatch.setattr("protolabel.experiments.runner._POLL_SECONDS", 0.01)
    folder = new_run(tmp_path)
    first, *others = folder.units()
    claim = folder.store.claim(first)
    runner = threading.Thread(target=run_missing, args=(folder,))
    runner.start()
    wait_until(lambda: set(metrics_by_unit(folder)) == set(others))
    assert runner.is_alive()
    claim.give_back()  # without a record, as a process that gave up
    runner.join(60)
    assert set(metrics_by_unit(folder)) == set(folder.units())


@needs_proc
@pytest.mark.slow
def test_a_unit_that_kills_its_worker_fails_and_the_others_do_not(tmp_path):
    folder = new_run(tmp_path, n_folds=2)
    innocent, fatal = folder.units()
    environments = []

    def kill_holder_twice():
        while len(environments) < 2:
            pid = holder_of(folder, fatal)
            if pid is not None:
                environments.append(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
                os.kill(pid, signal.SIGKILL)
                wait_until(lambda pid=pid: holder_of(folder, fatal) != pid)
            time.sleep(0.002)

    killer = threading.Thread(target=kill_holder_twice, daemon=True)
    killer.start()
    records = {record.unit: record for record in run_missing(folder, engine=ProcessEngine(2))}
    killer.join(1)
    assert records[fatal].error == WORKER_DIED
    assert records[innocent].metrics == compute_unit(innocent).metrics
    assert sorted(map(str, written_units(folder))) == sorted(map(str, folder.units()))
    for environment in environments:
        assert {b"OMP_NUM_THREADS=1", b"OPENBLAS_NUM_THREADS=1"} <= set(environment)

    assert run_missing(folder)[1].error == WORKER_DIED
    assert run_missing(folder, retry_failed=True)[1].is_ok
    assert len(written_units(folder)) == 3


@needs_proc
@pytest.mark.slow
def test_workers_of_a_killed_run_finish_their_unit_and_end(tmp_path, start_process):
    folder = new_run(tmp_path, n_folds=6)
    driver = start_process(run_in_workers, folder.path)
    units = folder.units()
    wait_until(lambda: any(holder_of(folder, unit) for unit in units))
    os.kill(driver.pid, signal.SIGKILL)
    driver.join()
    workers = {pid for unit in units if (pid := holder_of(folder, unit))}
    n_done = len(metrics_by_unit(folder))
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert workers
    assert 0 < len(metrics_by_unit(folder)) - n_done <= 2
    run_missing(folder)
    assert sorted(map(str, written_units(folder))) == sorted(map(str, units))


def test_an_interrupt_ends_workers_and_leaves_no_error_of_theirs(tmp_path, monkeypatch):
    unhandled = []
    monkeypatch.setattr(threading, "excepthook", unhandled.append)
    # More units than a pool of two keeps ready for its workers.
    folder = new_run(tmp_path, arms=ARMS[:1], n_folds=12)
    jobs = [Job(unit, tmp_path, folder.metrics()) for unit in folder.units()]

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ProcessEngine(2).run(jobs, interrupt)
    assert unhandled == []
    assert len(metrics_by_unit(folder)) < len(jobs)
    assert len(run_missing(folder)) == len(jobs)
