"""What the peers share: a learner of another library behind the contract of the baselines."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from protolabel.baselines.base import BaselineClassifier
from protolabel.preprocessing.features import Matrix

# Far below any share that trees can give, so that no two of them fall together.
_SMALLEST_PROBABILITY = 1e-9


class PeerClassifier(BaselineClassifier):
    """Base of the peers.

    A subclass checks its parameters, trains on labels that have both sides, and scores rows.
    ``model_`` is None where there was no such label.
    """

    model_: Any

    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:
        self._check_parameters()
        # Some libraries take no seed below one.
        seed = int(rng.integers(1, 2**31 - 1))
        self.model_ = self._train(X, Y, seed) if Y.shape[1] else None

    def _label_scores(self, X: Matrix) -> np.ndarray:
        return np.empty((X.shape[0], 0)) if self.model_ is None else self._model_scores(X)

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse wrong parameters, also where there is nothing to learn."""

    @abstractmethod
    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> Any:
        """Learn at least one label, each of which has both sides, and return the model."""

    @abstractmethod
    def _model_scores(self, X: Matrix) -> np.ndarray:
        """Log-odds of the learned labels by ``model_``."""


def log_odds(probabilities: np.ndarray) -> np.ndarray:
    """Log-odds of probabilities, finite also at 0 and 1.

    Examples
    --------
    >>> log_odds(np.array([0.0, 0.5, 1.0])).round(1).tolist()
    [-20.7, 0.0, 20.7]
    """
    values = np.asarray(probabilities, dtype=np.float64)
    return np.asarray(logit(np.clip(values, _SMALLEST_PROBABILITY, 1 - _SMALLEST_PROBABILITY)))


def check_count(name: str, value: Any) -> None:
    """Refuse what is not an integer of at least one.

    Examples
    --------
    >>> check_count("n_trees", 0)
    Traceback (most recent call last):
    ValueError: n_trees=0; expected an integer of at least 1.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r}; expected an integer of at least 1.")


def check_positive(name: str, value: Any, *, largest: float = np.inf) -> None:
    """Refuse what is not a finite number above zero.

    Examples
    --------
    >>> check_positive("shrinkage", 2.0, largest=1.0)
    Traceback (most recent call last):
    ValueError: shrinkage=2.0; expected a number above 0 and at most 1.0.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 < value <= largest or not np.isfinite(value):
        limit = "" if largest == np.inf else f" and at most {largest}"
        raise ValueError(f"{name}={value!r}; expected a number above 0{limit}.")
