"""Average of calibrated scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

# Two numbers are fitted per learner: more cells than this add nothing.
_MAX_CELLS = 500_000


@dataclass(frozen=True)
class Fusion:
    """Log-odds = intercept + sum of slope times score over the learners.

    A label that was never or always there, not ``learned``, keeps its first score.
    """

    slopes: np.ndarray
    intercept: float
    learned: np.ndarray

    def combine(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of all learners, each (n_samples, n_labels), as one."""
        total = np.full(scores[0].shape, self.intercept)
        for slope, values in zip(self.slopes, scores, strict=True):
            total += slope * values
        return np.where(self.learned, total, scores[0])


def fit_fusion(
    scores: Sequence[np.ndarray],
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    first_weight: float = 1.0,
) -> Fusion:
    """Calibrate each learner by two numbers for all labels, and average them.

    Weights fitted to the log-loss of the average favour whoever is best at the frequent
    labels; equal parts of calibrated scores were as good or better wherever they were compared
    and all had learned from the same rows.

    Parameters
    ----------
    scores : sequence of ndarray of shape (n_samples, n_labels)
        Scores of rows by models that did not see them.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
        Draws the cells used where there are very many.
    first_weight : float, default=1.0
        Weight of the first learner, where each other one has 1.
    """
    labels = Y.toarray()
    counts = labels.sum(axis=0)
    learned = (counts > 0) & (counts < len(labels))
    cells = np.flatnonzero(np.broadcast_to(learned, labels.shape).ravel())
    if len(cells) > _MAX_CELLS:
        cells = rng.choice(cells, _MAX_CELLS, replace=False)
    present = labels.ravel()[cells].astype(np.float64)
    fits = [_calibrate(values.ravel()[cells], present) for values in scores]
    weights = np.ones(len(scores))
    weights[0] = first_weight
    slopes, intercepts = np.array(fits).T * weights / weights.sum()
    return Fusion(slopes, float(intercepts.sum()), learned)


def _calibrate(scores: np.ndarray, present: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the smallest log-loss; the slope is never negative."""
    if len(present) == 0:
        return 1.0, 0.0

    def loss(line: np.ndarray) -> tuple[float, np.ndarray]:
        log_odds = line[0] * scores + line[1]
        error = expit(log_odds) - present
        value = np.logaddexp(0.0, log_odds).mean() - (present * log_odds).mean()
        return float(value), np.array([(error * scores).mean(), error.mean()])

    found = minimize(
        loss, [1.0, 0.0], jac=True, method="L-BFGS-B", bounds=[(0.0, None), (None, None)]
    )
    return float(found.x[0]), float(found.x[1])
