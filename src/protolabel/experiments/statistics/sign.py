"""Counting wins: the sign test as the paper uses it and the exact binomial test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

NORMAL_QUANTILE = 1.96  # two-sided 0.05, as printed in the paper


@dataclass(frozen=True)
class SignTest:
    """Wins, ties and losses of one method against another.

    Parameters
    ----------
    wins, ties, losses : int
        Cases in which the first method is better, equal, worse.
    threshold : float
        Wins needed for significance by the normal approximation.
    p_value : float
        Two-sided exact binomial probability, with ties split evenly between the two sides and
        one dropped if their number is odd (Demsar 2006).
    """

    wins: int
    ties: int
    losses: int
    threshold: float
    p_value: float

    @property
    def n_cases(self) -> int:
        """Number of cases compared."""
        return self.wins + self.ties + self.losses

    @property
    def is_superior(self) -> bool:
        """Whether the wins alone reach the threshold, the paper's criterion."""
        return self.wins >= self.threshold

    def __str__(self) -> str:
        return f"{self.wins}/{self.ties}/{self.losses}"


def sign_threshold(n_cases: int) -> float:
    """Return the wins needed to be significantly better, ``V / 2 + 1.96 sqrt(V) / 2``.

    Parameters
    ----------
    n_cases : int
        Number of cases V.

    Returns
    -------
    float
        The threshold; wins are compared with it by "at least".

    Examples
    --------
    >>> from protolabel.experiments.statistics import sign_threshold
    >>> round(sign_threshold(75), 3), round(sign_threshold(30), 3)
    (45.987, 20.368)
    """
    return n_cases / 2 + NORMAL_QUANTILE * math.sqrt(n_cases) / 2


def sign_test(first: ArrayLike, second: ArrayLike) -> SignTest:
    """Compare two methods case by case; larger values are better.

    Parameters
    ----------
    first, second : array-like of the same shape
        One value per case; negate metrics for which smaller is better.

    Returns
    -------
    SignTest
        Counts, the paper's threshold and the exact probability.

    Notes
    -----
    Several metrics on one dataset are strongly dependent: counting them as separate cases
    overstates the evidence. Use datasets as cases, one metric at a time, to be safe.

    Examples
    --------
    >>> from protolabel.experiments.statistics import sign_test
    >>> str(sign_test([0.9, 0.8, 0.7], [0.8, 0.8, 0.9]))
    '1/1/1'
    """
    left, right = _paired(first, second)
    # Means of the same values in another order differ in their last digits; they are ties.
    difference = (left - right).round(12)
    wins, ties = int((difference > 0).sum()), int((difference == 0).sum())
    losses = left.size - wins - ties
    credited = wins + ties // 2
    n_counted = credited + losses + ties // 2
    p_value = float(binomtest(credited, n_counted).pvalue) if n_counted else 1.0
    return SignTest(wins, ties, losses, sign_threshold(left.size), p_value)


def _paired(first: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Check two series of values of the same cases."""
    left, right = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if left.shape != right.shape or left.size == 0:
        raise ValueError(
            f"the methods have values of shape {left.shape} and {right.shape}; "
            "pass one value of each method for the same cases, and at least one."
        )
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise ValueError("a value is missing or infinite; leave out cases that lack a method.")
    return left.ravel(), right.ravel()
