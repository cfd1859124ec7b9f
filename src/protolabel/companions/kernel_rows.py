"""Rows that the parts of a kernel regression look at.

All are drawn before anything is computed, so that the regression can be fitted beside learners
that draw from the same stream.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protolabel.companions import MAX_ROWS
from protolabel.row_groups import Groups, shuffled_rows

ROWS_FOR_DISTANCE = 1000
# Rows that decide the precision: enough for its coarse grid, and cheap.
ROWS_FOR_PRECISION = 1000
# Rows that decide the ridge where all are landmarks: few enough to factorise several times.
ROWS_FOR_RIDGE = 3000

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class KernelRows:
    """Positions in rising order; all but ``used`` and ``others`` are among the used rows.

    Parameters
    ----------
    used, others : ndarray of int
        Rows that the regression is fitted to, and rows that are too many for it.
    for_distance, for_precision, for_ridge : ndarray of int
        Rows that decide these.
    landmarks : ndarray of int
    stream : numpy Generator
        For the weights of columns.
    """

    used: Positions
    others: Positions
    for_distance: Positions
    for_precision: Positions
    for_ridge: Positions
    landmarks: Positions
    stream: np.random.Generator

    @classmethod
    def drawn(
        cls, n_samples: int, n_landmarks: int, rng: np.random.Generator, groups: Groups = None
    ) -> KernelRows:
        """Draw rows.

        Examples
        --------
        >>> rows = KernelRows.drawn(5000, 2000, np.random.default_rng(0))
        >>> len(rows.used), len(rows.others), len(rows.for_precision), len(rows.landmarks)
        (5000, 0, 1000, 2000)
        """
        used, others = np.arange(n_samples), np.arange(0)
        if n_samples > MAX_ROWS:
            order = shuffled_rows(n_samples, groups, rng)
            n_used = _whole_groups(order, groups)
            used, others = np.sort(order[:n_used]), np.sort(order[n_used:])
        n_used = len(used)
        for_distance = _some(n_used, ROWS_FOR_DISTANCE, rng)
        for_precision = _some(n_used, ROWS_FOR_PRECISION, rng)
        # A stream of its own: where weights do not help, all is as if they were not there.
        stream = rng.spawn(1)[0]
        landmarks = _some(n_used, n_landmarks, rng)
        all_are_landmarks = len(landmarks) == n_used
        for_ridge = _some(n_used, ROWS_FOR_RIDGE, rng) if all_are_landmarks else landmarks
        return cls(used, others, for_distance, for_precision, for_ridge, landmarks, stream)


def _whole_groups(order: Positions, groups: Groups) -> int:
    """How many of the shuffled rows are used: the last group may not be there as a whole."""
    if groups is None:
        return MAX_ROWS
    begins = np.flatnonzero(np.diff(groups[order[: MAX_ROWS + 1]])) + 1
    return int(begins[-1]) if len(begins) else MAX_ROWS


def _some(n_rows: int, wanted: int, rng: np.random.Generator) -> Positions:
    """Positions of some rows in rising order, or of all of them."""
    return np.sort(rng.permutation(n_rows)[:wanted])
