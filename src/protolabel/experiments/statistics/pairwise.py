"""Pairs of methods over several datasets: Wilcoxon signed ranks with Holm's correction."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import wilcoxon


@dataclass(frozen=True)
class WilcoxonComparison:
    """Two methods on the same datasets.

    Parameters
    ----------
    first, second : int
        Columns of the methods.
    mean_difference : float
        Mean of first minus second, positive if the first is better.
    p_value, p_holm : float
        Two-sided probability, raw and adjusted for all pairs.
    """

    first: int
    second: int
    mean_difference: float
    p_value: float
    p_holm: float


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust probabilities of several tests so that their family-wise error is kept.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Raw probabilities.

    Returns
    -------
    ndarray of shape (n_tests,)
        Adjusted probabilities in the given order.

    References
    ----------
    Holm. A simple sequentially rejective multiple test procedure. 1979.

    Examples
    --------
    >>> from protolabel.experiments.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    raw = np.asarray(p_values, dtype=float)
    order = np.argsort(raw, kind="stable")
    stepped = raw[order] * np.arange(raw.size, 0, -1)
    adjusted = np.empty(raw.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def wilcoxon_all_pairs(
    values: ArrayLike, *, larger_is_better: bool = True
) -> tuple[WilcoxonComparison, ...]:
    """Compare every pair of methods; the result for a pair does not depend on other methods.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One metric.
    larger_is_better : bool, default=True
        Direction of the metric.

    Returns
    -------
    tuple of WilcoxonComparison
        All pairs, with Holm's correction over them. Zero differences are ranked with the others
        and then dropped (Pratt).

    Examples
    --------
    >>> from protolabel.experiments.statistics import wilcoxon_all_pairs
    >>> values = [[0.91, 0.80], [0.70, 0.65], [0.52, 0.50], [0.44, 0.41], [0.60, 0.52], [0.3, 0.2]]
    >>> [round(pair.p_value, 5) for pair in wilcoxon_all_pairs(values)]
    [0.03125]
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise ValueError(
            f"values has shape {table.shape} and {int((~np.isfinite(table)).sum())} missing "
            "value(s), expected a complete (n_datasets, n_methods) table of at least two methods."
        )
    signed = table if larger_is_better else -table
    pairs = list(combinations(range(table.shape[1]), 2))
    p_values = np.array([_wilcoxon(signed[:, a] - signed[:, b]) for a, b in pairs])
    return tuple(
        WilcoxonComparison(a, b, float((signed[:, a] - signed[:, b]).mean()), float(p), float(q))
        for (a, b), p, q in zip(pairs, p_values, holm(p_values), strict=True)
    )


def _wilcoxon(differences: NDArray[np.float64]) -> float:
    """Two-sided probability; 1 when the methods never differ."""
    # Published values are rounded: differences of 0.1 + 0.2 kind must tie as the decimals do.
    differences = differences.round(12)
    if not differences.any():
        return 1.0
    return float(wilcoxon(differences, zero_method="pratt").pvalue)
