"""What a unit of work may use and did use: threads, time and memory."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

# Read when a library is loaded: set before a worker process starts.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "RAYON_NUM_THREADS",
    ),
    "1",
)
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@cache
def warm_up() -> None:
    """Let torch load what it only loads at the first step, so that no unit is charged for it."""
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([weight])
    weight.sum().backward()
    optimiser.step()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the libraries that are loaded to one thread, so that units share cores fairly."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


@dataclass
class Stopwatch:
    """Seconds on the clock and of processor time, children included, since the last stop."""

    clock: float = 0.0
    cpu: float = 0.0

    def __post_init__(self) -> None:
        self.lap()

    def lap(self) -> tuple[float, float]:
        """Return both times since the last call, and start anew."""
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = time.process_time() + children.ru_utime + children.ru_stime
        clock = time.perf_counter()
        passed = clock - self.clock, cpu - self.cpu
        self.clock, self.cpu = clock, cpu
        return passed


def reset_peak_memory() -> None:
    """Forget the largest memory use so far; without effect where the system cannot."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return  # then the peak is that of the process so far, an upper bound


def peak_memory_mb() -> float:
    """Largest resident memory of this process since the last reset, in MB."""
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
