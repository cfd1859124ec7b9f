"""Several processes on this machine, one unit and one thread each."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from functools import cache
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from protolabel.experiments.compute import failed_record
from protolabel.experiments.engines.work import Job, do_job
from protolabel.experiments.resources import ONE_THREAD
from protolabel.experiments.store import RecordStore

_POLL_SECONDS = 0.5
# Enough that no worker waits for the next job. With more than loky keeps ready for its workers, it
# would stumble over the others when it is to kill them.
_HANDED_OUT_PER_WORKER = 2
_at_work = threading.Lock()
WORKER_DIED = (
    "The process that computed this unit died twice, the second time with no other unit running: "
    "it was killed, crashed or ran out of memory. Nothing else is known about it."
)


class ProcessEngine:
    """Computes in a pool of worker processes (joblib's loky).

    The worker that computes a unit also claims it and stores its record, so that nothing is lost
    when this process is killed: a worker finishes its unit, and starts no other one. When a
    worker dies, the pool is replaced; the units that were in work are then computed alone, and
    one that kills its worker again is recorded as failed.

    Parameters
    ----------
    n_jobs : int
        Number of worker processes.
    """

    def __init__(self, n_jobs: int) -> None:
        if n_jobs < 1:
            raise ValueError(f"n_jobs={n_jobs} cannot be used; expected at least 1.")
        self.n_jobs = n_jobs

    def run(self, jobs: Sequence[Job], tell: Callable[[], None]) -> None:
        """Compute jobs in their order, as many at a time as there are workers."""
        if self._run_in_pool(jobs, min(self.n_jobs, len(jobs)), tell):
            return
        for job in jobs:
            store = RecordStore(job.folder)
            if not store.was_abandoned(job.unit):
                continue
            if not self._run_in_pool([job], 1, tell):
                _record_death(job, store)
                tell()

    def _run_in_pool(self, jobs: Sequence[Job], n_workers: int, tell: Callable[[], None]) -> bool:
        """Compute jobs; return whether all workers survived it."""
        pool = ProcessPoolExecutor(n_workers, env=ONE_THREAD)
        is_complete = False
        try:
            waiting, running = deque(jobs), set[Any]()
            while waiting or running:
                while waiting and len(running) < _HANDED_OUT_PER_WORKER * n_workers:
                    running.add(pool.submit(_do_job_of, os.getpid(), waiting.popleft()))
                done, running = wait(running, _POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                tell()
            is_complete = True
        except BrokenProcessPool:
            return False
        finally:
            pool.shutdown(wait=True, kill_workers=not is_complete)
        return True


def _do_job_of(driver: int, job: Job) -> None:
    """Do a job, unless the process that handed it out is gone."""
    _end_with(driver)
    with _at_work:
        if os.getppid() == driver:
            do_job(job)


@cache
def _end_with(driver: int) -> None:
    """Watch over the driver: a worker whose driver was killed would wait for jobs for ever."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(_POLL_SECONDS)
        with _at_work:
            os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _record_death(job: Job, store: RecordStore) -> None:
    claim = store.claim(job.unit)
    if claim is None:
        return
    try:
        if not job.is_done(store):
            store.append(failed_record(job.unit, WORKER_DIED))
    finally:
        claim.give_back()
