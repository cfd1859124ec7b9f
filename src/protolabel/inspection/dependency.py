"""How labels depend on each other: in the data, and between learned prototypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr

from protolabel.pnml.label_prototypes import label_prototypes
from protolabel.pnml.network import PrototypeNetwork


def label_correlation(Y: Any) -> np.ndarray:
    """Correlation of 0/1 labels (the phi coefficient).

    Parameters
    ----------
    Y : array-like or sparse of shape (n_samples, n_labels)

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        NaN for a label that all rows have or none.

    Examples
    --------
    >>> label_correlation([[1, 0], [0, 1], [1, 0], [0, 1]]).round(3).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    labels = sp.csr_array(Y).astype(np.float64)
    # Of counts, which are exact: a label of all rows has no spread at all.
    n_samples, counts = labels.shape[0], np.asarray(labels.sum(axis=0)).ravel()
    together = (labels.T @ labels).toarray()
    spread = np.sqrt(counts * (n_samples - counts))
    spread[spread == 0] = np.nan
    covariance = n_samples * together - np.outer(counts, counts)
    # Rounded, that of equal labels may exceed 1.
    return np.asarray(np.clip(covariance / np.outer(spread, spread), -1.0, 1.0))


def prototype_similarity(network: PrototypeNetwork) -> np.ndarray:
    """Cosine between the directions from negative to positive prototypes of two labels.

    The direction of a label is the weighted mean of its positive prototypes minus that of its
    negative ones, in the embedding that all labels share; cosines are averaged over the networks.

    Parameters
    ----------
    network : PrototypeNetwork
        With a shared embedding.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)
        NaN for a label that no network knows.
    """
    if not network.settings.shared_embedding:
        raise ValueError(
            "Every label of this model has an embedding of its own (shared_embedding=False); "
            "prototypes of different labels cannot be compared."
        )
    active = network.active.cpu().numpy()
    dim = network.settings.embedding_dim
    directions = np.full((network.n_members, network.n_labels, dim), np.nan)
    for found in label_prototypes(network, list(range(network.n_labels))):
        if active[found.member, found.label]:
            positive = np.average(found.positive, axis=0, weights=found.positive_weights)
            negative = np.average(found.negative, axis=0, weights=found.negative_weights)
            directions[found.member, found.label] = positive - negative
    norms = np.linalg.norm(directions, axis=-1, keepdims=True)
    units = directions / np.where(norms == 0, np.nan, norms)
    cosines = units @ units.transpose(0, 2, 1)  # (n_members, n_labels, n_labels)
    known = ~np.isnan(cosines)
    total = np.where(known, cosines, 0.0).sum(axis=0)
    return np.asarray(np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan))


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's rank correlation of two symmetric matrices, over pairs of different labels.

    Parameters
    ----------
    first, second : ndarray of shape (n_labels, n_labels)

    Returns
    -------
    float
        NaN for fewer than three pairs that both know.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = np.array([[1, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 1]])
    >>> round(rank_correlation(matrix, matrix**3), 6)
    1.0
    """
    rows, columns = np.triu_indices(len(first), k=1)
    one, other = first[rows, columns], second[rows, columns]
    known = ~(np.isnan(one) | np.isnan(other))
    if known.sum() < 3 or np.ptp(one[known]) == 0 or np.ptp(other[known]) == 0:
        return float("nan")
    return float(spearmanr(one[known], other[known]).statistic)
