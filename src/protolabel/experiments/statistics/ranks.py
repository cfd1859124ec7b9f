"""Average ranks of several methods, and the tests built on them (Demsar, JMLR 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, f, norm, rankdata, studentized_range

from protolabel.experiments.statistics.pairwise import holm

TieRule: TypeAlias = Literal["average", "min"]


@dataclass(frozen=True)
class FriedmanTest:
    """Whether the methods differ at all.

    Parameters
    ----------
    chi_square, p_chi_square : float
        Friedman's statistic and its probability.
    f_statistic, p_f : float
        Iman and Davenport's less conservative statistic and its probability.
    """

    chi_square: float
    p_chi_square: float
    f_statistic: float
    p_f: float


@dataclass(frozen=True)
class ControlComparison:
    """One method against the control by their average ranks.

    Parameters
    ----------
    method : int
        Column of the method.
    z : float
        Distance of the ranks in standard errors; positive if the control ranks better.
    p_value, p_holm, p_bonferroni : float
        Two-sided probability, raw and adjusted by Holm and by Bonferroni-Dunn.
    """

    method: int
    z: float
    p_value: float
    p_holm: float
    p_bonferroni: float


def rank_methods(
    values: ArrayLike, *, larger_is_better: bool = True, ties: TieRule = "average"
) -> NDArray[np.float64]:
    """Rank the methods on each dataset, 1 = best.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One metric.
    larger_is_better : bool, default=True
        Direction of the metric.
    ties : {"average", "min"}, default="average"
        Tied methods share the mean of their ranks, as the tests below require, or all take the
        best of them, as the paper's table does.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        Ranks; their mean over the datasets is a method's average rank.

    Examples
    --------
    >>> from protolabel.experiments.statistics import rank_methods
    >>> rank_methods([[0.9, 0.7, 0.7]])
    array([[1. , 2.5, 2.5]])
    >>> rank_methods([[0.9, 0.7, 0.7]], ties="min")
    array([[1., 2., 2.]])
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[1] < 2 or table.shape[0] == 0:
        raise ValueError(
            f"values has shape {table.shape}, expected (n_datasets, n_methods) with at least two "
            "methods."
        )
    if not np.isfinite(table).all():
        raise ValueError(
            f"{int((~np.isfinite(table)).sum())} value(s) are missing or infinite; ranks need "
            "every method on every dataset, so leave out the method or the dataset."
        )
    if ties not in ("average", "min"):
        raise ValueError(f"ties is {ties!r}, expected 'average' or 'min'.")
    # Means of the same values in another order differ in their last digits; they are ties.
    table = table.round(12)
    ranks: NDArray[np.float64] = rankdata(-table if larger_is_better else table, ties, axis=1)
    return ranks.astype(np.float64)


def friedman_test(ranks: ArrayLike) -> FriedmanTest:
    """Test whether the average ranks of the methods differ (Friedman, Iman-Davenport).

    Parameters
    ----------
    ranks : array-like of shape (n_datasets, n_methods)
        Mid-ranks from :func:`rank_methods`.

    Returns
    -------
    FriedmanTest
        Both statistics. No correction for ties is made, as in Demsar (2006); SciPy's
        ``friedmanchisquare`` makes one and gives the same value without ties.

    Examples
    --------
    >>> from protolabel.experiments.statistics import friedman_test
    >>> round(friedman_test([[1, 2, 3], [1, 3, 2], [1, 2, 3]]).chi_square, 4)
    4.6667
    """
    table = np.asarray(ranks, dtype=float)
    n_datasets, n_methods = table.shape
    if n_datasets < 2:
        raise ValueError(f"ranks of {n_datasets} dataset(s) were given; the test needs at least 2.")
    mean_ranks = table.mean(axis=0)
    spread = (mean_ranks**2).sum() - n_methods * (n_methods + 1) ** 2 / 4
    chi_square = max(0.0, 12 * n_datasets / (n_methods * (n_methods + 1)) * spread)
    left = n_datasets * (n_methods - 1) - chi_square
    if left > 1e-9:
        f_statistic = (n_datasets - 1) * chi_square / left
        degrees = (n_methods - 1, (n_methods - 1) * (n_datasets - 1))
        p_f = float(f.sf(f_statistic, *degrees))
    else:
        # All datasets agree on the order: the statistic is unbounded, and how likely that is by
        # chance is known exactly.
        f_statistic, p_f = math.inf, math.factorial(n_methods) ** float(1 - n_datasets)
    return FriedmanTest(
        chi_square=float(chi_square),
        p_chi_square=float(chi2.sf(chi_square, n_methods - 1)),
        f_statistic=float(f_statistic),
        p_f=p_f,
    )


def critical_difference(n_methods: int, n_datasets: int, *, alpha: float = 0.05) -> float:
    """Return the distance of average ranks from which Nemenyi's test calls methods different.

    Parameters
    ----------
    n_methods, n_datasets : int
        Size of the table.
    alpha : float, default=0.05
        Level of the test.

    Returns
    -------
    float
        ``q_alpha * sqrt(k (k + 1) / (6 N))``.

    Examples
    --------
    >>> from protolabel.experiments.statistics import critical_difference
    >>> round(critical_difference(7, 15), 3), round(critical_difference(8, 15), 3)
    (2.326, 2.711)
    """
    if n_methods < 2 or n_datasets < 1:
        raise ValueError(
            f"got {n_methods} method(s) on {n_datasets} dataset(s); expected at least two methods "
            "and one dataset."
        )
    quantile = studentized_range.ppf(1 - alpha, n_methods, np.inf) / math.sqrt(2)
    return float(quantile * _standard_error(n_methods, n_datasets))


def compare_with_control(ranks: ArrayLike, control: int) -> tuple[ControlComparison, ...]:
    """Compare each method with one control by average ranks.

    Parameters
    ----------
    ranks : array-like of shape (n_datasets, n_methods)
        Mid-ranks from :func:`rank_methods`.
    control : int
        Column of the control.

    Returns
    -------
    tuple of ControlComparison
        One entry per other method; more powerful than comparing all pairs.

    Examples
    --------
    >>> from protolabel.experiments.statistics import compare_with_control
    >>> [round(c.z, 3) for c in compare_with_control([[1, 2], [1, 2]], control=0)]
    [1.414]
    """
    table = np.asarray(ranks, dtype=float)
    n_datasets, n_methods = table.shape
    if not 0 <= control < n_methods:
        raise ValueError(f"control is column {control}, expected 0 to {n_methods - 1}.")
    mean_ranks = table.mean(axis=0)
    others = [method for method in range(n_methods) if method != control]
    z = (mean_ranks[others] - mean_ranks[control]) / _standard_error(n_methods, n_datasets)
    p_values = 2 * norm.sf(np.abs(z))
    bonferroni = np.minimum(p_values * len(others), 1)
    return tuple(
        ControlComparison(method, float(distance), float(p), float(adjusted), float(dunn))
        for method, distance, p, adjusted, dunn in zip(
            others, z, p_values, holm(p_values), bonferroni, strict=True
        )
    )


def _standard_error(n_methods: int, n_datasets: int) -> float:
    """Standard error of the difference of two average ranks."""
    return math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
