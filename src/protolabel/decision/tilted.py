"""Prior-tilted thresholds: two numbers for all labels, chosen on held-out logits.

The threshold of label k is ``gamma * (prior_k - mean prior) + delta`` on the logit, where
``prior_k`` is the label's log odds in the training rows. ``gamma = 0`` is one threshold for all
labels, ``gamma = 1`` takes the class prior out of the score again. Unlike one free threshold per
label it cannot overfit a rare one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolabel.decision._scores import as_label_matrix, as_score_matrix, subsample_rows
from protolabel.decision.objectives import check_objective, score_levels
from protolabel.decision.rules import TIE_TOLERANCE, ThresholdRule

GAMMAS: tuple[float, ...] = tuple(round(0.1 * step, 10) for step in range(11))
DELTAS: tuple[float, ...] = tuple(round(-3 + 0.2 * step, 10) for step in range(26))


@dataclass(frozen=True)
class TiltedRule(ThresholdRule):
    """Thresholds that follow the label priors.

    Parameters
    ----------
    gamma : float
        Weight of a label's prior.
    delta : float
        Threshold of a label with the mean prior.
    """

    gamma: float
    delta: float


def log_prior_odds(Y: Any) -> NDArray[np.float64]:
    """Return the smoothed log odds of every label, ``log((n_k + .5) / (N - n_k + .5))``.

    Parameters
    ----------
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels.

    Returns
    -------
    ndarray of shape (n_labels,)
        Finite also for labels that no row or every row has.

    Examples
    --------
    >>> from protolabel.decision.thresholds import log_prior_odds
    >>> log_prior_odds([[1, 0], [0, 0]]).round(3)
    array([ 0.   , -1.609])
    """
    n_samples = Y.shape[0] if hasattr(Y, "shape") else len(Y)
    counts = np.asarray(Y.sum(axis=0) if hasattr(Y, "sum") else np.sum(Y, axis=0)).ravel()
    odds: NDArray[np.float64] = np.log((counts + 0.5) / (n_samples - counts + 0.5))
    return odds


def tune_prior_tilted(
    scores: ArrayLike,
    Y: Any,
    *,
    objective: str = "balanced",
    gammas: Sequence[float] = GAMMAS,
    deltas: Sequence[float] = DELTAS,
    max_cells: int = 5_000_000,
    rng: np.random.Generator | None = None,
) -> TiltedRule:
    """Choose the tilt and the level of the thresholds on a grid.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Logits of rows that the scoring model was not trained on.
    Y : array-like or sparse of shape (n_samples, n_labels)
        0/1 labels of the same rows.
    objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
        What to maximise; "balanced" is the sum of the three others.
    gammas : sequence of float, default=GAMMAS
        Tilts to try: 0, 0.1, ..., 1.
    deltas : sequence of float, default=DELTAS
        Levels to try: -3, -2.8, ..., 2.
    max_cells : int, default=5_000_000
        With more (row, label) cells than this, a random subset of the rows is used. The priors
        always come from all rows.
    rng : numpy.random.Generator, default=None
        Draws the subset; a generator with seed 0 when None.

    Returns
    -------
    TiltedRule
        The best rule; among equals the one with the smallest gamma, then with the delta closest
        to 0, then with the lower delta.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.decision.thresholds import tune_prior_tilted
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> rule = tune_prior_tilted(np.where(Y == 1, 1.0, -1.0), Y)
    >>> rule.gamma, rule.delta, rule.value
    (0.0, 0.0, 3.0)
    """
    check_objective(objective)
    matrix = as_score_matrix(scores)
    truth = as_label_matrix(Y, matrix.shape)
    tilt = log_prior_odds(truth)
    tilt -= tilt.mean()
    matrix, truth = subsample_rows(matrix, truth, max_cells, rng)
    matrix = np.asfortranarray(matrix)  # Each tilt goes through it label by label.
    tilts = as_grid(gammas, "gammas")
    levels = as_grid(deltas, "deltas")
    values = np.stack(
        [score_levels(matrix, truth, gamma * tilt[:, None] + levels, objective) for gamma in tilts]
    )  # (n_gammas, n_deltas)
    row, column = np.nonzero(values >= values.max() - TIE_TOLERANCE)
    first = np.lexsort((levels[column], np.abs(levels[column]), tilts[row]))[0]
    gamma, delta = float(tilts[row[first]]), float(levels[column[first]])
    return TiltedRule(
        gamma=gamma,
        delta=delta,
        thresholds=gamma * tilt + delta,
        objective=objective,
        value=float(values[row[first], column[first]]),
    )


def as_grid(values: Sequence[float], name: str) -> NDArray[np.float64]:
    """Sort a grid and refuse an empty or infinite one."""
    grid = np.unique(np.asarray(values, dtype=np.float64))
    if grid.size == 0 or not np.isfinite(grid).all():
        raise ValueError(f"{name} is {values!r}, expected at least one finite number.")
    return grid
