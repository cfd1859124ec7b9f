"""Forests whose trees predict all labels at once."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from protolabel.peers.base import PeerClassifier, check_count, log_odds
from protolabel.preprocessing.features import Matrix, Scaling


class ForestPeer(PeerClassifier):
    """Base of the two forests.

    The trees are scikit-learn's regression trees on the 0/1 matrix. Squared error is half the
    Gini impurity there, so they are the trees of the classifier; but they keep one number per
    leaf and label instead of two, and give all labels as one matrix.
    """

    def __init__(
        self,
        n_trees: int = 300,
        *,
        min_samples_leaf: int = 3,
        max_features: float | Literal["sqrt", "log2"] | None = "sqrt",
        feature_scaling: Scaling = "none",
        n_jobs: int | None = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.feature_scaling = feature_scaling
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _forest(self, **params: Any) -> Any:
        """Build the forest of scikit-learn."""

    def _check_parameters(self) -> None:
        check_count("n_trees", self.n_trees)
        check_count("min_samples_leaf", self.min_samples_leaf)

    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> Any:
        targets = Y.toarray().astype(np.float64)
        forest = self._forest(
            n_estimators=self.n_trees,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            n_jobs=self.n_jobs,
            random_state=seed,
        )
        return forest.fit(X, targets.ravel() if targets.shape[1] == 1 else targets)

    def _model_scores(self, X: Matrix) -> np.ndarray:
        return log_odds(self.model_.predict(X).reshape(X.shape[0], -1))
