"""Precision and ridge of a kernel regression with the smallest leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_features import precision_of
from protolabel.row_groups import Groups

# In units of one over twice the squared mean distance of two rows.
PRECISIONS = (0.25, 1.0, 4.0, 16.0)
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class KernelChoice(NamedTuple):
    """A precision, as a multiple of the unit, a ridge, and the error that they reach."""

    error: float
    factor: float
    ridge: float


def best_of_grid(
    squares: np.ndarray, targets: np.ndarray, unit: float, groups: Groups = None
) -> KernelChoice:
    """The precision and ridge of the smallest error, looked for along the valley of ridges.

    Parameters
    ----------
    squares : ndarray of shape (n_samples, n_samples)
        Squared distances of the rows.
    targets : ndarray of shape (n_samples, n_labels)
    unit : float
        Precisions are multiples of it.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.
    """
    found = []
    start = len(RIDGES) // 2
    for factor in PRECISIONS:
        regression = regression_of(squares, targets, factor * unit, groups)
        ridge = descend(regression.error, RIDGES, start)
        start = RIDGES.index(ridge)
        found.append(KernelChoice(regression.error(ridge), factor, ridge))
    return min(found)


def regression_of(
    squares: np.ndarray, targets: np.ndarray, precision: float, groups: Groups = None
) -> ExactKernel:
    """The regression on a Gaussian kernel of rows with these squared distances."""
    kernel = np.exp(-precision * squares).astype(precision_of(len(squares)))
    return ExactKernel(kernel, targets, groups)


def descend(error: Callable[[float], float], values: Sequence[float], start: int) -> float:
    """The lowest point of a valley, looked for from a good start."""
    best, lowest = start, error(values[start])
    for step in (-1, 1):
        place = start + step
        while best == place - step and 0 <= place < len(values):
            found = error(values[place])
            if found < lowest:
                best, lowest = place, found
            place += step
    return values[best]
