"""How frequent labels are, half a row on either side: no label is impossible or certain."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def label_shares(Y: sp.csr_array) -> np.ndarray:
    """Share of the rows that have each label.

    Examples
    --------
    >>> label_shares(sp.csr_array(np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0]]))).tolist()
    [0.875, 0.125, 0.375]
    """
    return np.asarray((np.asarray(Y.sum(axis=0)).ravel() + 0.5) / (Y.shape[0] + 1))


def log_odds_of_counts(counts: np.ndarray, n_rows: int | np.ndarray) -> np.ndarray:
    """Log-odds of labels that so many rows have.

    Examples
    --------
    >>> log_odds_of_counts(np.array([0, 1, 2]), 2).round(2).tolist()
    [-1.61, 0.0, 1.61]
    """
    return np.asarray(np.log((counts + 0.5) / (n_rows - counts + 0.5)))
