"""How close some work comes to what the machine can do: flops and bytes against their peaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch

from measure import clock, seconds_of

_MATRIX_SIDE = 2048
_COPY_BYTES = 2**28  # beyond any cache


@dataclass(frozen=True)
class Peaks:
    """What the machine can do at most: single-precision flops and copied bytes in a second."""

    flops: float
    bandwidth: float

    def seconds(self, flops: float, n_bytes: float) -> float:
        """Least time for an amount of work whose two parts do not overlap."""
        return flops / self.flops + n_bytes / self.bandwidth


def find_peaks() -> Peaks:
    """Measure the rate of a large matrix product and of a large copy, median of five each."""
    side = _MATRIX_SIDE
    left, right, product = (torch.rand(side, side) for _ in range(3))
    source = torch.ones(_COPY_BYTES // 4)
    target = torch.zeros_like(source)
    multiply = median(seconds_of(lambda: torch.mm(left, right, out=product)) for _ in range(5))
    copy = median(seconds_of(lambda: target.copy_(source)) for _ in range(5))
    return Peaks(flops=2 * side**3 / multiply, bandwidth=2 * _COPY_BYTES / copy)


def efficiency(work: Callable[[], tuple[float, float]], repeats: int) -> list[tuple[float, float]]:
    """Least time of some work by the peaks around it, and the time it took, turn by turn.

    Parameters
    ----------
    work : callable
        Does the work and returns the flops and the bytes that it needs.
    repeats : int
    """
    turns = []
    before = find_peaks()
    for _ in range(repeats):
        started = clock()
        flops, n_bytes = work()
        seconds = clock() - started
        after = find_peaks()
        least = (before.seconds(flops, n_bytes) + after.seconds(flops, n_bytes)) / 2
        turns.append((least, seconds))
        before = after
    return turns
