"""What the comparing methods share: input scaling and labels that have only one side.

A label without positive or without negative rows is left out of the fit. It is scored below
or above all other labels of a row, and never or always predicted.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from protolabel.estimator import MultilabelClassifier
from protolabel.preprocessing.features import FeatureScaler, Scaling
from protolabel.preprocessing.labels import Targets

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)


@dataclass(frozen=True)
class LabelSides:
    """Which labels can be learned.

    Parameters
    ----------
    learned : ndarray of int
        Labels with positive and negative rows.
    always : ndarray of int
        Labels that every training row has.
    n_labels : int
    """

    learned: np.ndarray
    always: np.ndarray
    n_labels: int

    @classmethod
    def of(cls, Y: sp.csr_array) -> LabelSides:
        """Sort the columns of a 0/1 matrix."""
        n_samples, n_labels = Y.shape
        counts = np.asarray(Y.sum(axis=0)).ravel()
        return cls(
            learned=np.flatnonzero((counts > 0) & (counts < n_samples)),
            always=np.flatnonzero(counts == n_samples),
            n_labels=n_labels,
        )

    def complete(self, scores: np.ndarray) -> np.ndarray:
        """Add the labels that were not learned: below, or above, all scores of a row and zero."""
        n_samples = len(scores)
        complete = np.empty((n_samples, self.n_labels))
        complete[:] = scores.min(axis=1, initial=0.0, keepdims=True) - 1
        complete[:, self.always] = scores.max(axis=1, initial=0.0, keepdims=True) + 1
        complete[:, self.learned] = scores
        return complete


class BaselineClassifier(MultilabelClassifier):
    """Base of the comparing methods.

    A subclass has the parameters ``feature_scaling`` and ``random_state``; its ``_fit_labels``
    sets ``model_``, a frozen dataclass that holds all that ``_label_scores`` needs: arrays,
    CSR arrays, numbers, strings, and tuples of such dataclasses.
    """

    feature_scaling: Scaling
    random_state: int | np.random.RandomState | None

    def _fit(self, X: Matrix, targets: Targets) -> None:
        self.scaler_ = FeatureScaler(self.feature_scaling, row_norm=1.0)
        X = self.scaler_.fit_transform(X)
        self.sides_ = LabelSides.of(targets.matrix)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        # Also with no label to learn: wrong parameters are to be refused on any data.
        self._fit_labels(X, targets.matrix[:, self.sides_.learned], np.random.default_rng(seed))

    @abstractmethod
    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:
        """Learn labels that have both sides from scaled rows; Y may have no column."""

    @abstractmethod
    def _label_scores(self, X: Matrix) -> np.ndarray:
        """Scores of the learned labels for scaled rows; above zero means predicted."""

    def _scores(self, X: Matrix) -> np.ndarray:
        scores = self._label_scores(self.scaler_.transform(X))
        return self.sides_.complete(np.asarray(scores, dtype=np.float64))

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        probabilities = self._label_probabilities(scores)
        constant = np.ones(self.sides_.n_labels, dtype=bool)
        constant[self.sides_.learned] = False
        probabilities[:, constant] = 0.0
        probabilities[:, self.sides_.always] = 1.0
        return probabilities

    def _label_probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities that belong to scores; the logistic link unless a method has its own."""
        return super()._probabilities(scores)
