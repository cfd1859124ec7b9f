"""Parabel: balanced trees over labels with linear classifiers at their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from protolabel.baselines._label_tree import LabelTree, LinearSettings, grow_tree, linear_inputs
from protolabel.baselines._omikuji import OmikujiForest, omikuji_log_scores, train_omikuji
from protolabel.baselines.base import BaselineClassifier, Matrix
from protolabel.preprocessing.features import Scaling

_ENGINES = ("own", "omikuji")
_CHUNK_CELLS = 2**22
# Subtracted from a logarithm, it leaves zero or less exactly below a score of one half.
_LOG_HALF = np.nextafter(np.log(0.5), -1.0)


@dataclass(frozen=True)
class LabelForest:
    """The trees whose scores are averaged."""

    trees: tuple[LabelTree, ...]
    n_labels: int

    def log_scores(self, X: Matrix, beam_width: int | None) -> np.ndarray:
        """Logarithm of the mean score of every label; minus infinity where no tree got to."""
        inputs = linear_inputs(X)
        scores = np.empty((X.shape[0], self.n_labels))
        width = max([self.n_labels, *(len(tree.parents) for tree in self.trees)])
        size = max(1, _CHUNK_CELLS // max(width * len(self.trees), 1))
        for start in range(0, X.shape[0], size):
            part = slice(start, start + size)
            by_tree = [tree.log_scores(inputs[part], beam_width) for tree in self.trees]
            scores[part] = logsumexp(by_tree, axis=0) - np.log(len(self.trees))
        return scores


class Parabel(BaselineClassifier):
    """Partitioned label trees.

    Labels are split into halves of similar labels until fewer than ``min_branch_size`` are
    left. Linear classifiers with the squared hinge loss lead down the tree, and at its leaves
    to each label; a label's score is the product of ``exp(-max(0, 1 - w.x)^2)`` along its
    path, averaged over the trees. Rows have unit length and a constant feature. Labels with a
    score of at least one half are predicted, a rule that the method itself does not have.

    With fewer labels than ``min_branch_size`` there is nothing to split: the method is then
    one linear classifier per label.

    Parameters
    ----------
    n_trees : int, default=3
        Number of trees.
    min_branch_size : int, default=100
        Labels that a node needs to be split, at least 2.
    max_depth : int, default=20
        Largest number of levels of a tree, the root among them.
    loss_weight : float, default=1.0
        Weight C of the loss against the squared norm of a classifier's weights, above 0.
    weight_threshold : float, default=0.1
        Weights of at most this size are set to zero.
    beam_width : int or None, default=None
        Nodes of a level that prediction follows for a row; None follows all and scores all
        labels. Labels that a beam does not reach are ranked last.
    engine : {"own", "omikuji"}, default="own"
        The implementation here, or the package omikuji (extra ``peers``), which cannot be
        seeded and predicts row by row.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling before the rows are brought to unit length, see
        :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Seed of splits and solvers; without effect on ``engine="omikuji"``.

    Attributes
    ----------
    model_ : LabelForest or OmikujiForest
        The trees, or the files in which omikuji saves them.
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_features_in_ : int
        Number of features seen during fit.

    References
    ----------
    Y. Prabhu, A. Kag, S. Harsola, R. Agrawal, M. Varma: Parabel: Partitioned Label Trees for
    Extreme Classification with Application to Dynamic Search Advertising. WWW 2018.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = Parabel(random_state=0).fit(X[:150], Y[:150])
    >>> bool((model.predict(X[150:]) == Y[150:]).mean() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        n_trees: int = 3,
        min_branch_size: int = 100,
        max_depth: int = 20,
        loss_weight: float = 1.0,
        weight_threshold: float = 0.1,
        beam_width: int | None = None,
        engine: Literal["own", "omikuji"] = "own",
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_trees = n_trees
        self.min_branch_size = min_branch_size
        self.max_depth = max_depth
        self.loss_weight = loss_weight
        self.weight_threshold = weight_threshold
        self.beam_width = beam_width
        self.engine = engine
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:
        self._check_parameters()
        self._handle: Any = None
        if Y.shape[1] == 0:
            self.model_: LabelForest | OmikujiForest = LabelForest((), 0)
        elif self.engine == "omikuji":
            self.model_ = train_omikuji(X, Y, self._omikuji_settings())
        else:
            inputs = linear_inputs(X)
            settings = LinearSettings(self.loss_weight, self.weight_threshold)
            trees = tuple(
                grow_tree(inputs, Y, self.min_branch_size, self.max_depth, settings, rng)
                for _ in range(self.n_trees)
            )
            self.model_ = LabelForest(trees, Y.shape[1])

    def _label_scores(self, X: Matrix) -> np.ndarray:
        if self.model_.n_labels == 0:
            return np.zeros((X.shape[0], 0))
        if isinstance(self.model_, LabelForest):
            scores = self.model_.log_scores(X, self.beam_width)
        else:
            if self._handle is None:
                self._handle = self.model_.open()
            scores = omikuji_log_scores(self._handle, X, self.model_.n_labels, self.beam_width)
        return np.asarray(_ranked_last(scores) - _LOG_HALF)

    def _label_probabilities(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(np.minimum(scores + _LOG_HALF, 0.0)))

    def __getstate__(self) -> dict[str, Any]:
        # The handle is a pointer into omikuji; model_ has all that is needed to open it again.
        state = dict(super().__getstate__())
        if "_handle" in state:
            state["_handle"] = None
        return state

    def _omikuji_settings(self) -> dict[str, Any]:
        return {
            "n_trees": int(self.n_trees),
            "min_branch_size": int(self.min_branch_size),
            "max_depth": int(self.max_depth),
            "linear_c": float(self.loss_weight),
            "linear_weight_threshold": float(self.weight_threshold),
        }

    def _check_parameters(self) -> None:
        if self.engine not in _ENGINES:
            raise ValueError(f"engine={self.engine!r} is unknown; use one of {_ENGINES}.")
        for name, least in (("n_trees", 1), ("min_branch_size", 2), ("max_depth", 1)):
            _check_whole(name, getattr(self, name), least)
        if self.beam_width is not None:
            _check_whole("beam_width", self.beam_width, 1)
        if not isinstance(self.loss_weight, Real) or not 0 < self.loss_weight < np.inf:
            raise ValueError(
                f"loss_weight={self.loss_weight!r} was given; expected a finite number above 0."
            )
        if not isinstance(self.weight_threshold, Real) or not 0 <= self.weight_threshold < np.inf:
            raise ValueError(
                f"weight_threshold={self.weight_threshold!r} was given; expected a finite number "
                "of at least 0."
            )


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{name}={value!r} was given; expected a whole number of at least {least}."
        )


def _ranked_last(log_scores: np.ndarray) -> np.ndarray:
    """Put labels without a score below all others of their row, and below one half."""
    missing = np.isneginf(log_scores)
    lowest = np.where(missing, 0.0, log_scores).min(axis=1, initial=-1.0, keepdims=True)
    return np.where(missing, lowest - 1.0, log_scores)
