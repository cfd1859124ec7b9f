"""Linear systems of one group of rows after the other, of which residuals without them follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# Numbers that the blocks of several groups are made of at once.
_CHUNK_CELLS = 2**22


def solved_by_groups(
    groups: NDArray[np.int64],
    blocks: Callable[[NDArray[np.int64]], np.ndarray],
    right: np.ndarray,
    smallest: float,
    width: int,
) -> np.ndarray:
    """Solutions of the diagonal blocks of a matrix, each for the rows of one group.

    Parameters
    ----------
    groups : ndarray of int, shape (n_samples,)
    blocks : callable
        From the rows of groups of one size, (n, size), to their symmetric blocks,
        (n, size, size).
    right : ndarray of shape (n_samples, n_labels)
    smallest : float
        Eigenvalues are at least that: a group that decides its own values has no residual left.
    width : int
        Numbers that a row of a block is made of.
    """
    solved = np.empty(right.shape)
    sizes = np.bincount(groups)
    order = np.argsort(groups, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        members = order[starts[sizes == size, None] + np.arange(size)]
        step = max(1, _CHUNK_CELLS // (size * max(width, size)))
        for first in range(0, len(members), step):
            rows = members[first : first + step]
            values, vectors = np.linalg.eigh(blocks(rows))
            along = vectors.mT @ right[rows] / np.maximum(values, smallest)[:, :, None]
            solved[rows] = vectors @ along
    return solved
