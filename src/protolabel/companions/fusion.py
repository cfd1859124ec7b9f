"""Log-odds of several learners pooled into one.

Every learner's log-odds hold the odds that a label has anyway and what the learner has found in
the row. An average keeps the former whole and blurs the latter, since learners err in different
rows. So the evidence counts for more than in one learner, and the prior odds are taken back by as
much: both weights are fitted on rows that the learners did not see. Then labels are judged in the
light of each other: by the sets that rows have, and by their order within a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

from protolabel.companions.label_order import order_shifts
from protolabel.companions.label_priors import log_odds_of_counts
from protolabel.companions.set_prototypes import SetPrototypes, fit_set_prototypes
from protolabel.row_groups import Groups

# A handful of numbers is fitted, for which so many cells are enough.
_MAX_CELLS = 200_000
# Pull of the learners' weights to each other, in units of the mean log-loss, which is small where
# labels are rare: what tells learners apart on the frequent ones need not hold for them.
_PULL = 3e-3
# Pull of all weights to the plain mean, in units of the log-loss of a cell: few rows do not tell
# much, and scores that part the cells of a label without an error would ask for endless weights.
_DOUBT = 4.0


@dataclass(frozen=True)
class Fusion:
    """Log-odds = intercept + sum of slope times score over the learners + shift of the label.

    What the sets of labels change in them comes on top. A label that was never or always there,
    not ``learned``, keeps its first score.

    Parameters
    ----------
    slopes : ndarray of shape (n_learners,)
    intercept : float
    learned : ndarray of bool, shape (n_labels,)
    shifts : ndarray of shape (n_labels,), default=0.0
        What is taken back of the prior log-odds, and what brings the labels of a row into a
        better order; 0 where a label was not learned.
    set_prototypes : SetPrototypes or None, default=None
        Sets of labels that rows have, where they say more than the labels by themselves.
    """

    slopes: np.ndarray
    intercept: float
    learned: np.ndarray
    shifts: np.ndarray | float = 0.0
    set_prototypes: SetPrototypes | None = None

    def combine(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of all learners, each (n_samples, n_labels), as one."""
        log_odds = self.one_by_one(scores)
        return log_odds + self.change_by_sets(log_odds)

    def one_by_one(self, scores: Sequence[np.ndarray]) -> np.ndarray:
        """The same with every label judged by itself."""
        total = np.full(scores[0].shape, self.intercept)
        for slope, values in zip(self.slopes, scores, strict=True):
            total += slope * values
        return np.where(self.learned, total + self.shifts, scores[0])

    def change_by_sets(self, log_odds: np.ndarray) -> np.ndarray | float:
        """What the sets of labels add to log-odds of labels by themselves."""
        if self.set_prototypes is None:
            return 0.0
        return np.where(self.learned, self.set_prototypes.change(log_odds), 0.0)

    def of_first_learner(self, pooled: np.ndarray) -> np.ndarray:
        """Scores of the first learner at which all learners alike would give pooled ones.

        Examples
        --------
        >>> fusion = Fusion(np.array([0.5, 1.5]), -1.0, np.array([True]))
        >>> fusion.of_first_learner(np.array([3.0])).tolist()
        [2.0]
        """
        total = self.slopes.sum()
        return np.asarray((pooled - self.intercept) / (total if total > 0 else 1.0))

    def refined(
        self,
        log_odds: np.ndarray,
        Y: sp.csr_array,
        rng: np.random.Generator,
        groups: Groups = None,
    ) -> tuple[Fusion, np.ndarray]:
        """The same with labels in the light of each other, and the log-odds of unseen rows.

        Parameters
        ----------
        log_odds : ndarray of shape (n_samples, n_labels)
            Of rows that the learners did not see, by this fusion.
        Y : CSR of 0 and 1, shape (n_samples, n_labels)
        rng : numpy Generator
        groups : ndarray of int, shape (n_samples,), or None, default=None

        Returns
        -------
        Fusion
        ndarray of shape (n_samples, n_labels)
            Log-odds of the rows, but for the shifts that bring labels into order.
        """
        found = fit_set_prototypes(log_odds, Y, self.learned, rng, groups)
        if found is None:
            return self.in_order(log_odds, Y), log_odds
        sets, change = found
        log_odds = log_odds + change
        return replace(self, set_prototypes=sets).in_order(log_odds, Y), log_odds

    def in_order(self, log_odds: np.ndarray, Y: sp.csr_array) -> Fusion:
        """The same with labels moved so that they rank better within unseen rows."""
        if not self.learned.any():
            return self
        # Labels of no row or of every row say nothing, and must not be moved or weighed against.
        learned = slice(None) if self.learned.all() else self.learned
        moved = np.zeros(len(self.learned))
        moved[learned] = order_shifts(log_odds[:, learned], Y[:, learned])
        sets = None if self.set_prototypes is None else self.set_prototypes.moved(moved)
        return replace(self, shifts=self.shifts + moved, set_prototypes=sets)

    def with_label(self) -> Fusion:
        """The same with one more label, which keeps its first score."""
        learned = np.append(self.learned, False)
        shifts = np.append(np.broadcast_to(self.shifts, self.learned.shape), 0.0)
        sets = None if self.set_prototypes is None else self.set_prototypes.with_label()
        return replace(self, learned=learned, shifts=shifts, set_prototypes=sets)


def fit_fusion(
    scores: Sequence[np.ndarray],
    Y: sp.csr_array,
    rng: np.random.Generator,
    groups: Groups = None,
) -> Fusion:
    """Calibrate each learner by two numbers for all labels, and weigh them and the prior odds.

    Parameters
    ----------
    scores : sequence of ndarray of shape (n_samples, n_labels)
        Scores of rows by models that did not see them.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
        Draws the cells used where there are very many.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows of which the models saw none that is in the same group.
    """
    counts, n_samples = np.asarray(Y.sum(axis=0)).ravel(), Y.shape[0]
    learned = (counts > 0) & (counts < n_samples)
    cells = np.flatnonzero(np.broadcast_to(learned, Y.shape).ravel())
    if len(cells) > _MAX_CELLS:
        cells = rng.choice(cells, _MAX_CELLS, replace=False)
    present = Y.toarray().ravel()[cells].astype(np.float64)
    lines = [_calibrate(values.ravel()[cells], present) for values in scores]
    slopes, intercepts = np.array(lines).T
    calibrated = [
        slope * values.ravel()[cells] + intercept
        for values, (slope, intercept) in zip(scores, lines, strict=True)
    ]
    prior = _prior_without(cells, present, Y, groups)
    weights, constant, of_prior = _pool(calibrated, prior, present)
    return Fusion(
        slopes=weights * slopes,
        intercept=float(weights @ intercepts + constant),
        learned=learned,
        shifts=np.where(learned, of_prior * log_odds_of_counts(counts, n_samples), 0.0),
    )


def _prior_without(
    cells: np.ndarray, present: np.ndarray, Y: sp.csr_array, groups: Groups
) -> np.ndarray:
    """Prior log-odds that do not know the row of a cell or its group, as learners do not."""
    n_samples, n_labels = Y.shape
    rows, labels = np.divmod(cells, n_labels)
    n_left_out: np.ndarray | int = 1
    if groups is not None:
        membership = sp.csr_array((np.ones(n_samples), (groups, np.arange(n_samples))))
        present = (membership @ Y).toarray()[groups[rows], labels]
        n_left_out = np.bincount(groups)[groups[rows]]
    counts = np.asarray(Y.sum(axis=0)).ravel()
    return log_odds_of_counts(counts[labels] - present, n_samples - n_left_out)


def _calibrate(scores: np.ndarray, present: np.ndarray) -> tuple[float, float]:
    """Slope and intercept of the smallest log-loss; the slope is never negative."""
    if len(present) == 0:
        return 1.0, 0.0
    found = _fit_logistic(
        np.column_stack([scores, np.ones(len(scores))]), present, np.array([1.0, 0.0]), n_pulled=1
    )
    return float(found[0]), float(found[1])


def _pool(
    calibrated: Sequence[np.ndarray], prior: np.ndarray, present: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Weights of calibrated learners, a constant, and the weight of the prior log-odds."""
    n_learners = len(calibrated)
    equal = np.full(n_learners, 1 / n_learners)
    if len(present) == 0:
        return equal, 0.0, 0.0
    found = _fit_logistic(
        np.column_stack([*calibrated, np.ones(len(prior)), prior]),
        present,
        np.array([*equal, 0.0, 0.0]),
        n_pulled=n_learners,
    )
    return found[:n_learners], float(found[-2]), float(found[-1])


def _fit_logistic(
    features: np.ndarray, present: np.ndarray, start: np.ndarray, n_pulled: int
) -> np.ndarray:
    """Weights of the smallest log-loss; the first ones, of learners, are never negative."""

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        log_odds = features @ weights
        error = expit(log_odds) - present
        apart = weights[:n_pulled] - weights[:n_pulled].mean()
        away = weights - start
        value = np.logaddexp(0.0, log_odds).mean() - (present * log_odds).mean()
        value += _PULL * apart @ apart + _DOUBT * away @ away / len(present)
        gradient = (features.T @ error + 2 * _DOUBT * away) / len(present)
        gradient[:n_pulled] += 2 * _PULL * apart
        return float(value), gradient

    bounds = [(0.0, None)] * n_pulled + [(None, None)] * (len(start) - n_pulled)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x)
