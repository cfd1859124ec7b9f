"""Gradient boosted trees of XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.peers.base import PeerClassifier, check_count, check_positive
from protolabel.preprocessing.features import Matrix, Scaling


class XGBoostPeer(PeerClassifier):
    """Gradient boosted trees of XGBoost, one tree per label and round.

    All labels are trained by one call on the same histogram bins, which gives each label the
    trees it would get on its own. A zero counts as absent, as XGBoost has it for sparse input:
    every split learns which side absent values go to, and dense and sparse input give the same
    model.

    Needs the package ``xgboost-cpu``, in the extra ``peers``.

    Parameters
    ----------
    n_rounds : int, default=100
        Number of trees of a label.
    learning_rate : float, default=0.1
        Shrinkage of each tree.
    max_depth : int, default=6
        Depth of the trees.
    subsample : float, default=0.8
        Share of rows, and of columns, that a tree is grown on.
    max_bin : int, default=64
        Number of bins of a feature; a fourth of XGBoost's own is several times as fast.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="none"
        Input scaling; trees need none.
    n_jobs : int, default=1
        Number of threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples.

    Attributes
    ----------
    model_ : xgboost.Booster
        The trees.

    References
    ----------
    T. Chen, C. Guestrin: XGBoost: A Scalable Tree Boosting System. KDD 2016.

    Examples
    --------
    >>> XGBoostPeer(n_rounds=50, random_state=0).n_rounds
    50
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        subsample: float = 0.8,
        max_bin: int = 64,
        feature_scaling: Scaling = "none",
        n_jobs: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.subsample = subsample
        self.max_bin = max_bin
        self.feature_scaling = feature_scaling
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_rounds", self.n_rounds)
        check_positive("learning_rate", self.learning_rate, largest=1.0)
        check_count("max_depth", self.max_depth)
        check_positive("subsample", self.subsample, largest=1.0)
        check_count("max_bin", self.max_bin)
        check_count("n_jobs", self.n_jobs)

    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> Any:
        xgboost = _import_xgboost()
        settings = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "eta": self.learning_rate,
            "max_depth": self.max_depth,
            "subsample": self.subsample,
            "colsample_bytree": self.subsample,
            "max_bin": self.max_bin,
            "nthread": self.n_jobs,
            "seed": seed,
            "verbosity": 1,
        }
        rows = xgboost.DMatrix(X, label=Y.toarray(), missing=0.0, nthread=self.n_jobs)
        return xgboost.train(settings, rows, num_boost_round=self.n_rounds)

    def _model_scores(self, X: Matrix) -> np.ndarray:
        rows = _import_xgboost().DMatrix(X, missing=0.0, nthread=self.n_jobs)
        return np.asarray(self.model_.predict(rows, output_margin=True).reshape(X.shape[0], -1))


def _import_xgboost() -> Any:
    try:
        import xgboost  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "XGBoostPeer needs the package xgboost-cpu, which is not installed; install the "
            "extra: pip install 'protolabel[peers]'."
        ) from error
    return xgboost
