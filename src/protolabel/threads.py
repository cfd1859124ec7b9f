"""As many threads as the work at hand is worth.

Threads wait for each other at the end of every operation. Where another process holds a core,
that wait is a slice of the scheduler's time: small steps were fifty times as slow with two threads
on two cores, one of them busy, as with one thread, which is nearly as fast on two free cores.
Tasks of their own, done side by side, do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch
from joblib import cpu_count
from threadpoolctl import threadpool_limits

# Whatever is solved for fewer rows is done before threads have found each other: two take half as
# long again as one for systems of a thousand.
MIN_ROWS_OF_THREADS = 2000
# About ten milliseconds of one core.
MIN_FLOPS_OF_THREADS = 1e9


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Solve systems and multiply on one thread, but for PyTorch, which has a limit of its own."""
    with threadpool_limits(1, user_api="blas"):
        yield


@contextmanager
def threads_worth_rows(n_rows: int) -> Iterator[None]:
    """Solve systems of so many rows on one thread, or on all where they are many.

    Beside a busy process, threads of a small system spin longer than one thread computes.
    """
    if n_rows >= MIN_ROWS_OF_THREADS:
        yield
        return
    with one_thread_of_blas():
        yield


def are_worth_threads(flops: float) -> bool:
    """Whether a training step of so many operations is faster with several threads."""
    return flops >= MIN_FLOPS_OF_THREADS


@contextmanager
def threads_worth(flops: float) -> Iterator[None]:
    """Run PyTorch's steps of so many operations on one thread, or on all where they are large.

    Examples
    --------
    >>> with threads_worth(1e6):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(before if are_worth_threads(flops) else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def usable_threads() -> int:
    """Threads that PyTorch was given, no more than there are processors."""
    return min(torch.get_num_threads(), int(cpu_count()))


def side_by_side(tasks: Sequence[Callable[[int], Any]], n_threads: int) -> list[Any]:
    """Do tasks at the same time, or one after the other where there is one thread.

    Numbers of threads are of the whole process: no more than one of the tasks may change that of
    BLAS, and no more than one that of PyTorch, and they have to change it back.

    Parameters
    ----------
    tasks : sequence of callables
        From the number of threads that a task has to itself to what it finds. The first one stays
        in the thread of the caller. Most of the work is done in libraries that let others go on.
    n_threads : int

    Returns
    -------
    list
        What the tasks found, in their order.

    Examples
    --------
    >>> side_by_side([lambda n: n, lambda n: -n], n_threads=4)
    [2, -2]
    """
    n_at_once = min(n_threads, len(tasks))
    if n_at_once < 2:
        return [task(n_threads) for task in tasks]
    share = n_threads // n_at_once
    with threadpool_limits(share, user_api="blas"), ThreadPoolExecutor(n_at_once - 1) as others:
        going_on = [others.submit(task, share) for task in tasks[1:]]
        try:
            return [tasks[0](share), *(task.result() for task in going_on)]
        finally:
            # After an error, what has not begun need not.
            for task in going_on:
                task.cancel()
