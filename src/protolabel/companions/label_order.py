"""What each label's log-odds are moved by so that the labels of a row come in a better order.

A ranking is judged row by row, however many labels a row has. So a label that comes with many
others is asked for less often than its probability says, and one that comes alone more often:
log-losses in which rows with many labels weigh less are consistent for it (Dembczynski, Kotlowski
and Huellermeier 2012). Here only a constant for each label is fitted so, on rows that the scoring
models did not see; decisions move with it and stay what they are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

# (row, label) cells: more do not move the constants any more.
_MAX_CELLS = 4_000_000
# A label's constant starts from none as if so many rows had said so.
_DOUBT = 10.0
_MAX_STEPS = 50
_TOLERANCE = 1e-6


def order_shifts(log_odds: np.ndarray, Y: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Constants of the labels, centred so that as many labels are expected as are there.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Calibrated, of rows that the scoring models did not see.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
        Draws the rows used where there are very many cells.

    Returns
    -------
    ndarray of shape (n_labels,)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> rows = np.repeat([[1, 1, 0], [0, 0, 1]], 50, axis=0)
    >>> shifts = order_shifts(np.zeros((100, 3)), sp.csr_array(rows), np.random.default_rng(0))
    >>> bool(shifts[0] == shifts[1] < shifts[2])
    True
    """
    n_rows = max(1, _MAX_CELLS // max(1, Y.shape[1]))
    if n_rows < len(log_odds):
        rows = np.sort(rng.choice(len(log_odds), n_rows, replace=False))
        log_odds, Y = log_odds[rows], Y[rows]
    # Rows without labels have no order, but the probabilities of the labels depend on them.
    weights = 1 / np.sqrt(np.maximum(np.asarray(Y.sum(axis=1)).ravel(), 1))
    weights /= weights.mean()
    shifts = _fitted(log_odds, weights @ Y, weights, axis=0, doubt=_DOUBT)
    everywhere = np.ones(len(log_odds))
    level = _fitted(log_odds + shifts, np.asarray(Y.sum()), everywhere, axis=None, doubt=0.0)
    return np.asarray(shifts + level)


def _fitted(
    log_odds: np.ndarray,
    n_present: np.ndarray,
    weights: np.ndarray,
    *,
    axis: int | None,
    doubt: float,
) -> np.ndarray:
    """What is to be added for the smallest log-loss of all cells along the axis, by Newton."""
    found = np.zeros(np.shape(n_present))
    for _ in range(_MAX_STEPS):
        probabilities = expit(log_odds + found)
        expected = weights[:, None] * probabilities
        slope = expected.sum(axis=axis) - n_present + doubt * found
        curvature = (expected * (1 - probabilities)).sum(axis=axis) + doubt
        # No step is longer than 1, however flat the log-loss.
        step = slope / np.maximum(np.maximum(curvature, np.abs(slope)), np.finfo(float).tiny)
        found = found - step
        if np.abs(step).max() < _TOLERANCE:
            break
    return found
