"""Bayesian comparison of two methods with a region of practical equivalence (rope).

References
----------
Benavoli, Corani, Demsar, Zaffalon. Time for a change: a tutorial for comparing multiple
classifiers through Bayesian analysis. JMLR 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t

CELLS_PER_BATCH = 4_000_000


@dataclass(frozen=True)
class BayesianComparison:
    """Probabilities of the three statements one can make about two methods.

    Parameters
    ----------
    first_better, equivalent, second_better : float
        They sum to 1.
    """

    first_better: float
    equivalent: float
    second_better: float

    def decide(self, level: float = 0.95) -> str:
        """Name the statement that is probable enough.

        Parameters
        ----------
        level : float, default=0.95
            Probability asked for.

        Returns
        -------
        str
            ``"first"``, ``"equivalent"``, ``"second"`` or ``"undecided"``.
        """
        if self.first_better >= level:
            return "first"
        if self.second_better >= level:
            return "second"
        return "equivalent" if self.equivalent >= level else "undecided"


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    rope: float = 0.01,
    prior_strength: float = 0.5,
    n_draws: int = 50_000,
    rng: np.random.Generator | None = None,
) -> BayesianComparison:
    """Compare two methods over several datasets.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        First minus second, one per dataset; negate metrics for which smaller is better.
    rope : float, default=0.01
        Differences up to this size count as equivalent.
    prior_strength : float, default=0.5
        Weight of the prior, a pseudo-dataset without difference.
    n_draws : int, default=50_000
        Draws from the posterior.
    rng : numpy.random.Generator, default=None
        Source of the draws; a generator with seed 0 when None.

    Returns
    -------
    BayesianComparison
        Fraction of the draws in which each statement is the most probable one.

    Examples
    --------
    >>> from protolabel.experiments.statistics import bayesian_signed_rank
    >>> bayesian_signed_rank([0.05, 0.04, 0.06, 0.03, 0.05, 0.04, 0.07, 0.05]).decide()
    'first'
    """
    observed = _as_differences(differences)
    if rope < 0 or prior_strength <= 0 or n_draws < 1:
        raise ValueError(
            f"rope={rope}, prior_strength={prior_strength}, n_draws={n_draws}: expected rope >= 0, "
            "a positive prior strength and at least one draw."
        )
    generator = np.random.default_rng(0) if rng is None else rng
    values = np.concatenate([[0.0], observed])
    sums = (values[:, None] + values).round(12)
    second, first = (sums < -2 * rope).astype(float), (sums > 2 * rope).astype(float)
    concentration = np.concatenate([[prior_strength], np.ones(observed.size)])
    credit = np.zeros(3)
    batch = max(1, CELLS_PER_BATCH // values.size)
    for start in range(0, n_draws, batch):
        weights = generator.dirichlet(concentration, size=min(batch, n_draws - start))
        credit += _credit_of(weights, first, second)
    return BayesianComparison(*(float(part) for part in credit / n_draws))


def correlated_t_test(
    differences: ArrayLike, *, n_folds: int, rope: float = 0.01
) -> BayesianComparison:
    """Compare two methods on one dataset from the differences of (repeated) cross-validation.

    Parameters
    ----------
    differences : array-like of shape (n_results,)
        First minus second, one per fold and repetition; negate metrics for which smaller is
        better.
    n_folds : int
        Number of folds F of the cross-validation; the overlap of the training sets correlates
        its results by 1 / F.
    rope : float, default=0.01
        Differences up to this size count as equivalent.

    Returns
    -------
    BayesianComparison
        Posterior probabilities of the mean difference.

    Examples
    --------
    >>> from protolabel.experiments.statistics import correlated_t_test
    >>> correlated_t_test([0.05, 0.06, 0.05, 0.04, 0.05], n_folds=5).decide()
    'first'
    """
    observed = _as_differences(differences)
    if observed.size < 2 or n_folds < 2:
        raise ValueError(
            f"got {observed.size} difference(s) of {n_folds} fold(s); expected at least 2 of each."
        )
    rho = 1 / n_folds
    mean = float(observed.mean())
    variance = float(observed.var(ddof=1))
    scale = math.sqrt((1 / observed.size + rho / (1 - rho)) * variance)
    if scale == 0:
        return BayesianComparison(float(mean > rope), float(abs(mean) <= rope), float(mean < -rope))
    posterior = student_t(observed.size - 1, loc=mean, scale=scale)
    worse, better = float(posterior.cdf(-rope)), float(posterior.sf(rope))
    return BayesianComparison(better, max(0.0, 1 - better - worse), worse)


def _credit_of(
    weights: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Count the draws in which each statement has the largest mass; equal masses share."""
    better = ((weights @ first) * weights).sum(axis=1)
    worse = ((weights @ second) * weights).sum(axis=1)
    masses = np.stack([better, 1 - better - worse, worse], axis=1)
    largest = np.isclose(masses, masses.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    shares: NDArray[np.float64] = (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return shares


def _as_differences(differences: ArrayLike) -> NDArray[np.float64]:
    """Check a series of differences."""
    observed = np.asarray(differences, dtype=float)
    if observed.ndim != 1 or observed.size == 0 or not np.isfinite(observed).all():
        raise ValueError(
            f"differences has shape {observed.shape}, expected one finite value per result."
        )
    return observed
