"""Thresholds that follow the labels and the row: three numbers, found on held-out scores.

The scores are first made log-odds by a slope and an intercept for all labels. Then the threshold
of label k is ``gamma * (tilt_k - mean tilt) + delta``, and every label but the best of its row
has to exceed it by up to ``handicap`` more, as a
:class:`~protolabel.decision.decision_rule.DecisionRule` says.

``tilt_k`` lies half-way between the log odds of the label in the training rows and the threshold
at which its expected F1 is largest, which is half of that F1 (Lipton, Elkan and Naryanaswamy
2014). Both fall for rare labels; the second also for labels that are hard to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from protolabel.decision._scores import (
    as_label_matrix,
    as_score_matrix,
    keep_finite,
    subsample_rows,
)
from protolabel.decision.calibration import fit_common_line
from protolabel.decision.decision_rule import DecisionRule
from protolabel.decision.objectives import Cells, Truth, check_objective
from protolabel.decision.tilted import TiltedRule, as_grid, log_prior_odds

ROW_GAMMAS: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
HANDICAPS: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0)
ROW_DELTAS: tuple[float, ...] = tuple(-4 + 0.25 * step for step in range(25))
# Rules worse than the best one by this over the number of rows count 1 / e in the average,
# as if there were at least so many rows.
_ROWS_OF_A_DIFFERENCE = 10
_FEWEST_ROWS = 100
# Half of a label's F1 is kept off the ends, so that its logit is finite.
_SMALLEST_HALF = 1e-4


@dataclass(frozen=True)
class RowwiseRule(TiltedRule):
    """Thresholds that follow the labels, with a handicap behind the best label of a row.

    Parameters
    ----------
    handicap : float
        What a label far behind the best one of its row has to exceed its threshold by, in
        log-odds.
    handicaps : ndarray of shape (n_labels,)
        The same in units of the scores; 0 for labels that no row or every row has.
    slope : float
        Log-odds in a unit of the scores.
    """

    handicap: float
    handicaps: NDArray[np.float64]
    slope: float

    @property
    def decision(self) -> DecisionRule:
        """The rule as it is applied to scores."""
        return DecisionRule(self.thresholds, self.handicaps, self.slope)


def tune_rowwise(
    scores: ArrayLike,
    Y: Any,
    *,
    objective: str = "balanced",
    gammas: Sequence[float] = ROW_GAMMAS,
    handicaps: Sequence[float] = HANDICAPS,
    deltas: Sequence[float] = ROW_DELTAS,
    max_cells: int = 5_000_000,
    rng: np.random.Generator | None = None,
) -> RowwiseRule:
    """Find tilt, handicap and level of the thresholds on a grid.

    Few rows do not tell neighbours on the grid apart. The rule therefore is the average of all
    of them, weighted by ``exp(n_samples / 10 * (value - best value))`` with at least 100 for
    ``n_samples``: of many rows that is about the best one, of few rows a broad mean of good ones.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores of rows that the scoring model was not trained on, on any scale.
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels of the same rows.
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
        What to maximise; "balanced" is the sum of the three others.
    gammas : sequence of float, default=ROW_GAMMAS
        Tilts to try: 0, 0.25, ..., 1.
    handicaps : sequence of float, default=HANDICAPS
        Handicaps to try: 0, 1, 2 and 3.
    deltas : sequence of float, default=ROW_DELTAS
        Levels to try: -4, -3.75, ..., 2.
    max_cells : int, default=5_000_000
        With more (row, label) cells than this, a random subset of the rows is used. The priors
        always come from all rows.
    rng : numpy.random.Generator, default=None
        Draws the subset; a generator with seed 0 when None.

    Returns
    -------
    RowwiseRule
        The average, or the best rule of the grid where that is better by more than
        ``10 / n_samples``.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.decision.thresholds import tune_rowwise
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> tune_rowwise(np.where(Y == 1, 1.0, -1.0), Y).value
    3.0
    """
    check_objective(objective)
    matrix = keep_finite(as_score_matrix(scores))
    truth = as_label_matrix(Y, matrix.shape)
    prior = log_prior_odds(truth)
    n_positive = np.asarray(truth.sum(axis=0)).ravel()
    has_both = (n_positive > 0) & (n_positive < matrix.shape[0])
    matrix, truth = subsample_rows(matrix, truth, max_cells, rng)
    line = fit_common_line(matrix, truth)
    log_odds = line.slope * matrix + line.intercept
    tilt = (prior + best_f1_thresholds(log_odds)) / 2
    tilt -= tilt[has_both].mean() if has_both.any() else tilt.mean()
    behind = as_grid(handicaps, "handicaps")
    if behind[0] < 0:
        raise ValueError(f"handicaps is {handicaps!r}, expected numbers from 0 on.")
    grid = _Grid(
        log_odds,
        truth,
        tilt,
        has_both,
        gammas=as_grid(gammas, "gammas"),
        handicaps=behind,
        levels=as_grid(deltas, "deltas"),
        objective=objective,
    )
    found = grid.average()
    return RowwiseRule(
        thresholds=(found.gamma * tilt + found.delta - line.intercept) / line.slope,
        objective=objective,
        value=found.value,
        gamma=found.gamma,
        delta=found.delta,
        handicap=found.handicap,
        handicaps=np.where(has_both, found.handicap / line.slope, 0.0),
        slope=line.slope,
    )


def best_f1_thresholds(log_odds: ArrayLike) -> NDArray[np.float64]:
    """Return the log-odds above which each label is to be predicted for the largest expected F1.

    Parameters
    ----------
    log_odds : array-like of shape (n_samples, n_labels)
        Log-odds of the labels in some rows, taken to be right.

    Returns
    -------
    ndarray of shape (n_labels,)
        The logit of half of the expected F1 of the best cut; at most 0.

    Examples
    --------
    >>> best_f1_thresholds([[9.0, -2.0], [-9.0, -2.0]]).round(2)
    array([-0.  , -2.13])
    """
    # Half the digits are plenty for a threshold, and sort in half the time.
    falling = -np.sort(-expit(np.asarray(log_odds, dtype=np.float32)), axis=0)
    hits = np.cumsum(falling, axis=0, dtype=np.float64)
    f1 = 2 * hits / (np.arange(1, len(hits) + 1)[:, None] + hits[-1])
    thresholds: NDArray[np.float64] = logit(np.clip(f1.max(axis=0) / 2, _SMALLEST_HALF, 0.5))
    return thresholds


@dataclass(frozen=True)
class _Point:
    """A tilt, a handicap and a level, and the objective that they reach."""

    gamma: float
    handicap: float
    delta: float
    value: float


class _Grid:
    """All combinations of tilts, handicaps and levels, scored by counting."""

    def __init__(
        self,
        log_odds: NDArray[np.float64],
        truth: Any,
        tilt: NDArray[np.float64],
        has_both: NDArray[np.bool_],
        *,
        gammas: NDArray[np.float64],
        handicaps: NDArray[np.float64],
        levels: NDArray[np.float64],
        objective: str,
    ) -> None:
        # A handicap only takes away: cells that no tilt brings above the lowest level are out.
        highest = log_odds - np.minimum(gammas[0] * tilt, gammas[-1] * tilt)
        rows, labels = np.nonzero(highest > levels[0])
        self.cells = Cells(Truth(truth), rows, labels)
        self.log_odds = log_odds[rows, labels]
        self.tilt = tilt[labels]
        self.is_rival = has_both[labels]
        self.n_rows = len(log_odds)
        self.axes = (gammas, handicaps, levels)
        self.objective = objective
        self.values = np.stack([self._score(gamma, handicaps, levels) for gamma in gammas])

    def average(self) -> _Point:
        """The weighted mean of all points, or the best one where that is clearly better."""
        best = np.unravel_index(self.values.argmax(), self.values.shape)
        scale = _ROWS_OF_A_DIFFERENCE / max(self.n_rows, _FEWEST_ROWS)
        weights = np.exp((self.values - self.values[best]) / scale)
        weights /= weights.sum()
        gamma, handicap, delta = (
            float(np.tensordot(weights, axis, (place, 0)).sum())
            for place, axis in enumerate(self.axes)
        )
        value = float(self._score(gamma, np.array([handicap]), np.array([delta]))[0, 0])
        if value < self.values[best] - scale:
            gamma, handicap, delta = (float(a[i]) for a, i in zip(self.axes, best, strict=True))
            value = float(self.values[best])
        return _Point(gamma, handicap, delta, value)

    def _score(
        self, gamma: float, handicaps: NDArray[np.float64], levels: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The objective of one tilt, (n_handicaps, n_levels)."""
        margins = self.log_odds - gamma * self.tilt
        rows = self.cells.rows
        best = np.full(self.n_rows, -np.inf)
        np.maximum.at(best, rows[self.is_rival], margins[self.is_rival])
        behind = np.expm1(np.minimum(margins - best[rows], 0.0)) * self.is_rival
        heights = (np.searchsorted(levels, margins + h * behind, side="left") for h in handicaps)
        return np.stack([self.cells.score(h, levels.size, self.objective) for h in heights])
