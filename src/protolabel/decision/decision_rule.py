"""From scores to decisions: a threshold for each label, and a handicap behind the best of a row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolabel.decision._scores import as_score_matrix

# In place of infinity, whose differences are no numbers.
_CERTAIN = 1e300


@dataclass(frozen=True)
class DecisionRule:
    """What a score has to exceed for its label to be predicted.

    The excess of a label is its score minus its threshold, and the best of a row is its largest
    one. A label is predicted where its excess is above
    ``handicap * (1 - exp(slope * (excess - best)))``: nothing for the best label of the row, the
    whole handicap for one far behind. A row in doubt thus gets its best label at a low threshold,
    and a row with a sure label gets no long tail of others.

    Parameters
    ----------
    thresholds : ndarray of shape (n_labels,)
        No label is predicted at or below its threshold.
    handicaps : ndarray of shape (n_labels,)
        At least 0. A label without a handicap has its threshold and nothing else, and is no best
        label for the others to be behind.
    slope : float, default=1.0
        Log-odds in a unit of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[-1.0, -4.0, -1.5], [3.0, -4.0, -1.5]])
    >>> DecisionRule.of([-2.0, -2.0, -2.0]).decide(scores)
    array([[1, 0, 1],
           [1, 0, 1]])
    >>> DecisionRule(np.full(3, -2.0), np.ones(3)).decide(scores)
    array([[1, 0, 1],
           [1, 0, 0]])
    """

    thresholds: NDArray[np.float64]
    handicaps: NDArray[np.float64]
    slope: float = 1.0

    @classmethod
    def of(cls, thresholds: ArrayLike) -> DecisionRule:
        """Thresholds and nothing else."""
        values = np.asarray(thresholds, dtype=np.float64)
        return cls(values, np.zeros(values.shape))

    def with_label(self, threshold: float) -> DecisionRule:
        """The rule with one more label, of a given threshold and the handicap of the others."""
        handicap = self.handicaps.max(initial=0.0)
        return replace(
            self,
            thresholds=np.append(self.thresholds, threshold),
            handicaps=np.append(self.handicaps, handicap),
        )

    def with_plain_labels(self, is_plain: NDArray[np.bool_]) -> DecisionRule:
        """The rule with a threshold of 0 and no handicap for some labels."""
        return replace(
            self,
            thresholds=np.where(is_plain, 0.0, self.thresholds),
            handicaps=np.where(is_plain, 0.0, self.handicaps),
        )

    def shifted(self, by: ArrayLike) -> DecisionRule:
        """The rule for scores that were all raised by as much, a number or one per label."""
        return replace(self, thresholds=self.thresholds + np.asarray(by, dtype=np.float64))

    def bars(self, scores: ArrayLike) -> NDArray[np.float64]:
        """What each score has to exceed in its row.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            The thresholds, raised by what the best label of the row leaves of the handicaps.
        """
        excess = np.clip(as_score_matrix(scores) - self.thresholds, -_CERTAIN, _CERTAIN)
        best = excess.max(axis=1, where=self._is_rival, initial=-_CERTAIN, keepdims=True)
        bars: NDArray[np.float64] = self.thresholds + self._raises(excess, best, self.handicaps)
        return bars

    def decide(self, scores: ArrayLike, *, at_least_one: bool = False) -> NDArray[np.int64]:
        """Predict labels.

        Parameters
        ----------
        scores : array-like of shape (n_samples, n_labels)
        at_least_one : bool, default=False
            Give a row that would get no label the one that is closest to its threshold.

        Returns
        -------
        ndarray of int, shape (n_samples, n_labels)
            0/1 predictions.
        """
        matrix = as_score_matrix(scores)
        predicted = apply_thresholds(matrix, self.thresholds, at_least_one=at_least_one)
        # The best label of a row is one of those above their threshold, and needs no more.
        rows, labels = np.nonzero(predicted * self._is_rival)
        if rows.size > 1:
            excess = np.clip(matrix[rows, labels] - self.thresholds[labels], -_CERTAIN, _CERTAIN)
            best = np.full(len(matrix), -_CERTAIN)
            np.maximum.at(best, rows, excess)
            needed = self._raises(excess, best[rows], self.handicaps[labels])
            predicted[rows, labels] = (excess > needed) | (excess == best[rows])
        return predicted

    @property
    def _is_rival(self) -> NDArray[np.bool_]:
        return self.handicaps > 0

    def _raises(
        self,
        excess: NDArray[np.float64],
        best: NDArray[np.float64],
        handicaps: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """How much more than its threshold a label has to exceed."""
        behind = np.minimum(self.slope * (excess - best), 0.0)
        raises: NDArray[np.float64] = -handicaps * np.expm1(behind)
        return raises


def apply_thresholds(
    scores: ArrayLike, thresholds: ArrayLike, *, at_least_one: bool = False
) -> NDArray[np.int64]:
    """Predict the labels whose score is above their threshold.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Scores.
    thresholds : array-like of shape (n_labels,) or float
        Threshold of each label, or one for all.
    at_least_one : bool, default=False
        Give a row that would get no label the one that is closest to its threshold.

    Returns
    -------
    ndarray of int, shape (n_samples, n_labels)
        0/1 predictions.

    Examples
    --------
    >>> from protolabel.decision.thresholds import apply_thresholds
    >>> apply_thresholds([[2.0, -1.0], [-3.0, -2.0]], 0.0, at_least_one=True)
    array([[1, 0],
           [0, 1]])
    """
    matrix = as_score_matrix(scores)
    margins = matrix - np.asarray(thresholds, dtype=np.float64)
    if margins.shape != matrix.shape:
        raise ValueError(
            f"thresholds has shape {np.shape(thresholds)} but scores has {matrix.shape[1]} labels."
        )
    predicted = (matrix > np.asarray(thresholds)).astype(np.int64)
    if at_least_one:
        empty = np.flatnonzero(predicted.sum(axis=1) == 0)
        predicted[empty, margins[empty].argmax(axis=1)] = 1
    return predicted
