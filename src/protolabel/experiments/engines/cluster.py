"""A dask.distributed cluster: workers compute and return records, the driver stores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from protolabel.experiments.compute import compute_unit, failed_record
from protolabel.experiments.engines.work import Job
from protolabel.experiments.locking import Claim
from protolabel.experiments.record import Record
from protolabel.experiments.store import RecordStore
from protolabel.experiments.unit import Unit

if TYPE_CHECKING:
    from distributed import Client, Future

# Enough that no worker waits for the driver; each one holds an open file.
_WAITING_PER_WORKER = 3
_MOST_IN_FLIGHT = 500


class ClusterEngine:
    """Computes on the workers of a running dask scheduler.

    The driver claims a unit, hands it out and stores the record that comes back. A unit whose
    worker is lost is handed to another one by the scheduler; when it has lost as many workers as
    the scheduler allows (``distributed.scheduler.allowed-failures``), it is recorded as failed.

    Parameters
    ----------
    address : str
        Address of the scheduler, as ``tcp://host:8786``.
    timeout : float, default=30.0
        Seconds to wait for the scheduler and for workers.
    n_workers : int, default=1
        Workers to wait for before the first unit is handed out; more may join at any time.
    """

    def __init__(self, address: str, *, timeout: float = 30.0, n_workers: int = 1) -> None:
        self.address = address
        self.timeout = timeout
        self.n_workers = n_workers

    def run(self, jobs: Sequence[Job], tell: Callable[[], None]) -> None:
        """Compute jobs in the order in which workers become free."""
        distributed = _import_distributed()
        with distributed.Client(self.address, timeout=self.timeout, set_as_default=False) as client:
            client.wait_for_workers(self.n_workers, timeout=self.timeout)
            flights = _Flights(client, iter(jobs))
            try:
                flights.launch()
                for future in flights.landing:
                    flights.store(future)
                    tell()
                    flights.launch()
            finally:
                flights.give_back_claims()


class _Flights:
    """Units handed out whose record has not come back yet."""

    def __init__(self, client: Client, jobs: Iterator[Job]) -> None:
        self.client = client
        self.jobs = jobs
        self.landing = _import_distributed().as_completed(loop=client.loop)
        self._flying: dict[str, tuple[Job, Claim]] = {}

    def launch(self) -> None:
        """Hand out units while workers could use more."""
        limit = min(_WAITING_PER_WORKER * _count_workers(self.client), _MOST_IN_FLIGHT)
        while len(self._flying) < limit:
            job = next(self.jobs, None)
            if job is None:
                return
            store = RecordStore(job.folder)
            claim = store.claim(job.unit)
            if claim is None:
                continue
            if job.is_done(store):
                claim.give_back()
                continue
            # A key of its own: a scheduler must not answer with the result of an earlier attempt.
            key = f"{job.unit.key}-{uuid4().hex}"
            self._flying[key] = job, claim
            future = self.client.submit(
                _compute_on_worker,
                job.unit.to_json(),
                job.metrics,
                str(job.folder),
                str(job.studies),
                key=key,
                pure=False,
            )
            self.landing.add(future)

    def store(self, future: Future[Any]) -> None:
        """Store the record of a unit and give its claim back."""
        job, claim = self._flying.pop(str(future.key))
        try:
            RecordStore(job.folder).append(self._record_of(job, future))
        finally:
            claim.give_back()

    def _record_of(self, job: Job, future: Future[Any]) -> Record:
        try:
            return Record.from_json(future.result())
        except _import_distributed().KilledWorker as error:
            return failed_record(job.unit, f"The unit lost every worker it was given to: {error}")

    def give_back_claims(self) -> None:
        """Give back what was handed out and did not come back."""
        for _, claim in self._flying.values():
            claim.give_back()


def _compute_on_worker(
    unit: Mapping[str, Any], metrics: Sequence[str], folder: str, studies: str
) -> dict[str, Any]:
    """Compute a unit; what tuning knows is kept where the worker sees the folder of the run."""
    record = compute_unit(
        Unit.from_json(unit),
        metrics=metrics,
        studies=Path(studies) if Path(folder).is_dir() else None,
    )
    return record.to_json()


def _count_workers(client: Client) -> int:
    """Number of workers, after a check that each computes one unit at a time."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    for name, worker in workers.items():
        if worker["nthreads"] != 1:
            raise ValueError(
                f"The worker {name} has {worker['nthreads']} threads; units would disturb each "
                "other's times and memory. Start workers with --nthreads 1, and as many as there "
                "are cores with --nworkers."
            )
    return len(workers)


def _import_distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "A run on a cluster needs dask.distributed, which is not installed; "
            "install it with `pip install protolabel[cluster]`."
        ) from error
    return distributed
