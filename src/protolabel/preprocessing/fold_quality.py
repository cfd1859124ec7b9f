"""How even folds are: the quality measures of Sechidis, Tsoumakas and Vlahavas (2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse


@dataclass(frozen=True)
class FoldQuality:
    """Distance of folds from ideal ones; smaller is better throughout.

    Parameters
    ----------
    label_distribution : float
        Mean distance of a label's odds in a fold from its odds in all rows (LD).
    example_distribution : float
        Mean distance of a fold's size from the wanted size (ED).
    folds_missing_a_label : int
        Folds in which some label has no positive row (FZ).
    missing_pairs : int
        (Fold, label) pairs without a positive row (FLZ).
    """

    label_distribution: float
    example_distribution: float
    folds_missing_a_label: int
    missing_pairs: int


def measure_folds(Y: Any, folds: ArrayLike, *, proportions: ArrayLike | None = None) -> FoldQuality:
    """Measure how evenly rows and labels are spread over folds.

    Parameters
    ----------
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels.
    folds : array-like of int, shape (n_samples,)
        Fold number of each row, starting at 0.
    proportions : array-like of shape (n_folds,), default=None
        Wanted share of the rows in each fold; equal shares when None.

    Returns
    -------
    FoldQuality
        The four measures. A label that all rows of a fold have is given the odds of all but one,
        since its odds are not finite.

    Examples
    --------
    >>> from protolabel.preprocessing.fold_quality import measure_folds
    >>> measure_folds([[1], [1], [0], [0]], [0, 1, 0, 1]).label_distribution
    0.0
    """
    truth = sparse.csr_array(Y)
    numbers = np.asarray(folds)
    if numbers.shape != (truth.shape[0],):
        raise ValueError(f"folds has shape {numbers.shape}, expected ({truth.shape[0]},).")
    n_folds = int(numbers.max()) + 1
    shares = np.full(n_folds, 1 / n_folds) if proportions is None else np.asarray(proportions)
    if shares.shape != (n_folds,):
        raise ValueError(f"proportions has shape {shares.shape}, expected ({n_folds},).")
    sizes = np.bincount(numbers, minlength=n_folds)
    membership = sparse.csr_array(
        (np.ones(numbers.size), (numbers, np.arange(numbers.size))), shape=(n_folds, numbers.size)
    )
    positives = (membership @ truth).toarray()  # (n_folds, n_labels)
    totals = positives.sum(axis=0)
    odds = totals / np.maximum(numbers.size - totals, 1)
    fold_odds = positives / np.maximum(sizes[:, None] - positives, 1)
    missing = positives == 0
    return FoldQuality(
        label_distribution=float(np.abs(fold_odds - odds).mean()),
        example_distribution=float(np.abs(sizes - shares * numbers.size).mean()),
        folds_missing_a_label=int(missing.any(axis=1).sum()),
        missing_pairs=int(missing.sum()),
    )
