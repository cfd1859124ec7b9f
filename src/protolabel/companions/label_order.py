"""What each label's log-odds are moved by so that the labels of a row come in a better order.

A ranking is judged row by row, however many labels a row has. So a label that comes with many
others is asked for less often than its probability says, and one that comes alone more often:
log-losses in which rows with many labels weigh less are consistent for it (Dembczynski, Kotlowski
and Huellermeier 2012). Here only a constant for each label is fitted so, on rows that the scoring
models did not see; row-wise thresholds move with it, so that their decisions stay what they are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

# (row, label) cells: more do not move the constants any more.
_MAX_CELLS = 4_000_000
# Pull of a constant to zero, in rows.
_DOUBT = 10.0
_MAX_STEPS = 50
_TOLERANCE = 1e-6


def order_shifts(log_odds: np.ndarray, Y: sp.csr_array) -> np.ndarray:
    """Constants of the labels, centred so that nearly as many labels are expected as are there.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Calibrated, of rows that the scoring models did not see.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
        Labels that some of the rows have and some have not.

    Returns
    -------
    ndarray of shape (n_labels,)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> rows = np.repeat([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], 50, axis=0)
    >>> shifts = order_shifts(np.zeros((150, 4)), sp.csr_array(rows))
    >>> bool(shifts[0] == shifts[1] < shifts[2])
    True
    """
    n_samples, n_labels = Y.shape
    n_rows = max(1, _MAX_CELLS // max(1, n_labels))
    if n_rows < n_samples:
        rows = np.linspace(0, n_samples - 1, n_rows).astype(int)
        log_odds, Y = log_odds[rows], Y[rows]
    # The order of a row is as easily wrong with all labels but one as with one. Rows without
    # labels have none, but the probabilities of the labels depend on them.
    n_present = np.asarray(Y.sum(axis=1)).ravel()
    weights = 1 / np.sqrt(np.maximum(np.minimum(n_present, n_labels - n_present), 1))
    weights /= weights.mean()
    shifts = _fitted(log_odds, weights @ Y, weights, axis=0)
    level = _fitted(log_odds + shifts, np.asarray(Y.sum()), np.ones(len(log_odds)), axis=None)
    return np.asarray(shifts + level)


def _fitted(
    log_odds: np.ndarray, n_present: np.ndarray, weights: np.ndarray, *, axis: int | None
) -> np.ndarray:
    """What is to be added for the smallest log-loss of all cells along the axis, by Newton."""
    found = np.zeros(np.shape(n_present))
    for _ in range(_MAX_STEPS):
        probabilities = expit(log_odds + found)
        expected = weights[:, None] * probabilities
        slope = expected.sum(axis=axis) - n_present + _DOUBT * found
        curvature = (expected * (1 - probabilities)).sum(axis=axis) + _DOUBT
        # No step is longer than 1, however flat the log-loss.
        step = slope / np.maximum(curvature, np.abs(slope))
        found = found - step
        if np.abs(step).max() < _TOLERANCE:
            break
    return found
