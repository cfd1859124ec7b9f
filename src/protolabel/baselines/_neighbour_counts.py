"""Counts of labels among neighbours and the probabilities that follow from them (ML-KNN)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class CountTables:
    """What a label's count among the neighbours says of the label.

    Parameters
    ----------
    log_odds : ndarray of shape (n_labels, n_neighbors + 1)
        Posterior log-odds of a label whose count is the column number.
    joint : ndarray of shape (n_labels, n_neighbors + 1)
        Prior of the label times the likelihood of the count.
    """

    log_odds: np.ndarray
    joint: np.ndarray


def neighbour_counts(
    neighbours: np.ndarray, Y: sp.csr_array, sizes: Sequence[int]
) -> Iterator[np.ndarray]:
    """Labels among the first ``size`` neighbours, for growing sizes.

    All sizes together cost as much as the largest.

    Parameters
    ----------
    neighbours : ndarray of shape (n_samples, largest size)
        Rows of Y, nearest first.
    Y : CSR of shape (n_stored, n_labels)
        Zeros and ones.
    sizes : sequence of int
        Numbers of neighbours, ascending.

    Yields
    ------
    ndarray of shape (n_samples, n_labels)
        The same array every time, with larger counts.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> Y = sp.csr_array(np.array([[1], [0], [1]]))
    >>> neighbours = np.array([[0, 1, 2]])
    >>> [int(counts[0, 0]) for counts in neighbour_counts(neighbours, Y, [1, 2, 3])]
    [1, 1, 2]
    """
    n_samples = len(neighbours)
    Y = sp.csr_array(Y, dtype=np.int32)
    counts = np.zeros((n_samples, Y.shape[1]), dtype=np.int32)
    done = 0
    for size in sizes:
        columns = neighbours[:, done:size].ravel()
        starts = np.arange(n_samples + 1) * (size - done)
        among = sp.csr_array(
            (np.ones(len(columns), dtype=np.int32), columns, starts),
            shape=(n_samples, Y.shape[0]),
        )
        added = (among @ Y).tocoo()
        counts[added.row, added.col] += added.data
        done = size
        yield counts


def count_tables(
    counts: np.ndarray, Y: sp.csr_array, n_neighbors: int, smoothing: float
) -> CountTables:
    """Prior, likelihoods and posterior of every label from its counts on the training rows.

    Parameters
    ----------
    counts : ndarray of shape (n_samples, n_labels)
        Neighbours of each row that have the label.
    Y : CSR of shape (n_samples, n_labels)
        Zeros and ones.
    n_neighbors : int
        Largest possible count.
    smoothing : float
        Added to every frequency; 1 is Laplace's rule.
    """
    n_samples, n_labels = Y.shape
    width = n_neighbors + 1
    n_cells = n_labels * width
    cells = (counts + np.arange(n_labels) * width).ravel()
    with_either = np.bincount(cells, minlength=n_cells).reshape(n_labels, width)
    entries = Y.tocoo()
    cells = entries.col.astype(np.int64) * width + counts[entries.row, entries.col]
    with_label = np.bincount(cells, minlength=n_cells).reshape(n_labels, width)
    without_label = with_either - with_label
    positives = with_label.sum(axis=1, keepdims=True)
    negatives = n_samples - positives

    # Whole numbers below 2^53 for a whole smoothing: equal sides give a ratio of exactly one.
    label_side = (smoothing + positives) * (smoothing + with_label)
    other_side = (smoothing + negatives) * (smoothing + without_label)
    label_total, other_total = smoothing * width + positives, smoothing * width + negatives
    log_odds = np.log((label_side * other_total) / (other_side * label_total))
    joint = label_side / (label_total * (2 * smoothing + n_samples))
    return CountTables(log_odds=log_odds, joint=joint)


def look_up(table: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Entry of each label's row of the table at its count, (n_samples, n_labels)."""
    return np.asarray(table[np.arange(len(table)), counts])
