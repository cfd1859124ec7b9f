"""As many threads as the work of a training step is worth.

Threads wait for each other at the end of every operation. Where another process holds a core,
that wait is a slice of the scheduler's time: small steps were fifty times as slow with two threads
on two cores, one of them busy, as with one thread, which is nearly as fast on two free cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits

# Whatever is solved for fewer rows is done before threads have found each other.
_MIN_ROWS_OF_THREADS = 1000
# About ten milliseconds of one core.
MIN_FLOPS_OF_THREADS = 1e9


@contextmanager
def threads_worth_rows(n_rows: int) -> Iterator[None]:
    """Solve systems of so many rows on one thread of each library, or on all where they are many.

    Beside a busy process, threads of a small system spin longer than one thread computes.
    """
    if n_rows >= _MIN_ROWS_OF_THREADS:
        yield
        return
    with threadpool_limits(1), threads_worth(0):
        yield


@contextmanager
def threads_worth(flops: float) -> Iterator[None]:
    """Run steps of so many operations on one thread, or on all where they are large.

    Examples
    --------
    >>> import torch
    >>> with threads_worth(1e6):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(before if flops >= MIN_FLOPS_OF_THREADS else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
