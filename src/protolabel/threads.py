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
from threading import Lock, local
from typing import Any

import torch
from joblib import cpu_count
from threadpoolctl import LibController, ThreadpoolController

# Whatever is solved for fewer rows is done before threads have found each other: two take half as
# long again as one for systems of a thousand.
MIN_ROWS_OF_THREADS = 2000
# About ten milliseconds of one core.
MIN_FLOPS_OF_THREADS = 1e9


class _BlasLimits:
    """Limits on the threads of BLAS that fits in several threads hold at the same time.

    The lowest counts, and no number rises above what it was. It comes back with the last limit:
    if each put back what it found, limits that overlap would put back those of each other.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: list[int] = []
        self._found: list[tuple[LibController, int]] = []

    @contextmanager
    def at_most(self, n_threads: int) -> Iterator[None]:
        with self._lock:
            if not self._held:
                libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._found = [(library, library.get_num_threads()) for library in libraries]
            self._held.append(n_threads)
            self._apply()
        try:
            yield
        finally:
            with self._lock:
                self._held.remove(n_threads)
                self._apply()

    def _apply(self) -> None:
        for library, found in self._found:
            library.set_num_threads(min([found, *self._held]))


_BLAS_LIMITS = _BlasLimits()
_HERE = local()


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Solve systems and multiply on one thread, but for PyTorch, which has a limit of its own.

    Without effect in tasks side by side: what their neighbours compute would depend, in its last
    digits, on how far they are.
    """
    if getattr(_HERE, "is_beside_others", False):
        yield
        return
    with _BLAS_LIMITS.at_most(1):
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

    The number of threads is of the whole process in PyTorch: no more than one of the tasks may
    change it, and has to change it back. Errors are raised when the tasks that have begun are done,
    the first one's before that of another.

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
    with _BLAS_LIMITS.at_most(share), ThreadPoolExecutor(n_at_once - 1) as others:
        going_on = [others.submit(_do_beside_others, task, share) for task in tasks[1:]]
        try:
            first = _do_beside_others(tasks[0], share)
            return [first, *(task.result() for task in going_on)]
        finally:
            # After an error, what has not begun need not.
            for task in going_on:
                task.cancel()


def _do_beside_others(task: Callable[[int], Any], n_threads: int) -> Any:
    before = getattr(_HERE, "is_beside_others", False)
    _HERE.is_beside_others = True
    try:
        return task(n_threads)
    finally:
        _HERE.is_beside_others = before
