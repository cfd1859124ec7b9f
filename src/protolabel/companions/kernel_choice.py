"""Precision and ridge of a kernel regression with the smallest leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_features import precision_of
from protolabel.companions.row_distances import Distance
from protolabel.row_groups import Groups

# In units of the mean distance of two rows, see unit_of_precision.
PRECISIONS: dict[Distance, tuple[float, ...]] = {
    "squared": (0.25, 1.0, 4.0, 16.0),
    "absolute": (0.25, 0.5, 1.0, 2.0, 4.0),
}
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class KernelChoice(NamedTuple):
    """A precision, as a multiple of the unit, a ridge, and the error that they reach."""

    error: float
    factor: float
    ridge: float
    distance: Distance = "squared"


def best_of_grid(
    distances: np.ndarray,
    targets: np.ndarray,
    unit: float,
    groups: Groups = None,
    distance: Distance = "squared",
) -> KernelChoice:
    """The precision and ridge of the smallest error, looked for along the valley of ridges.

    Parameters
    ----------
    distances : ndarray of shape (n_samples, n_samples)
        Of all pairs of rows.
    targets : ndarray of shape (n_samples, n_labels)
    unit : float
        Precisions are multiples of it.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.
    distance : {"squared", "absolute"}, default="squared"
        What distances these are.
    """
    found = []
    start = len(RIDGES) // 2
    for factor in PRECISIONS[distance]:
        regression = regression_of(distances, targets, factor * unit, groups)
        ridge = descend(regression.error, RIDGES, start)
        start = RIDGES.index(ridge)
        found.append(KernelChoice(regression.error(ridge), factor, ridge, distance))
    return min(found)


def regression_of(
    distances: np.ndarray, targets: np.ndarray, precision: float, groups: Groups = None
) -> ExactKernel:
    """The regression on the kernel of rows with these distances."""
    kernel = np.exp(-precision * distances).astype(precision_of(len(distances)))
    return ExactKernel(kernel, targets, groups)


def descend(error: Callable[[float], float], values: Sequence[float], start: int) -> float:
    """The lowest point of a valley of rising values, looked for from a good start.

    Upwards first: small ridges are solved in double precision, which takes twice as long.
    """
    best, lowest = start, error(values[start])
    for step in (1, -1):
        place = start + step
        while best == place - step and 0 <= place < len(values):
            found = error(values[place])
            if found < lowest:
                best, lowest = place, found
            place += step
    return values[best]
