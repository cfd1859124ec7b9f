"""JFSC: joint feature selection and classification by sparse linear regression of all labels."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from protolabel.baselines._fisher import DiagonalScatter, FullScatter, label_unlikeness
from protolabel.baselines._joint_regression import JointRegression, Loss, descend
from protolabel.baselines._ridge_start import ridge_weights
from protolabel.baselines._twin_gram import with_constant
from protolabel.baselines.base import BaselineClassifier, Matrix
from protolabel.preprocessing.features import Scaling

LOSSES = ("l21", "squared")
FISHER_TERMS = ("diagonal", "full")

_N_THRESHOLDS = 50


@dataclass(frozen=True)
class JointWeights:
    """Linear regressions of the learned labels.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_learned)
        W without its constant row; many entries are exactly zero.
    offsets : ndarray of shape (n_learned,)
        Weights of the constant feature.
    threshold : float
        Value of the regression above which a label is predicted.
    objectives : ndarray of shape (n_iter + 1,)
        F at the start and after each step.
    """

    weights: np.ndarray
    offsets: np.ndarray
    threshold: float
    objectives: np.ndarray

    def scores(self, X: Matrix) -> np.ndarray:
        """Regression minus threshold."""
        return np.asarray(X @ self.weights + (self.offsets - self.threshold))


class JFSC(BaselineClassifier):
    """Joint feature selection and classification.

    All labels are regressed on the features together. The l1 norm selects features for each
    label, labels that occur together are drawn to similar weights, and a Fisher-type term
    prefers features in which a label's rows are close and far from the others.

    Parameters
    ----------
    correlation_penalty : float, default=2**-8
        Weight lambda_1 of the label correlation.
    fisher_penalty : float, default=2**-2
        Weight lambda_2 of the Fisher term.
    sparsity_penalty : float, default=2**-4
        Weight lambda_3 of the l1 norm.
    start_ridge : float, default=1.0
        Penalty gamma of the ridge regression that the descent starts from.
    loss : {"l21", "squared"}, default="l21"
        Sum of the lengths of the residual rows, or half their sum of squares.
    fisher : {"diagonal", "full"}, default="diagonal"
        Scatter of single features, or of all pairs of features too.
    threshold : float or "tune", default=0.5
        Regression value above which a label is predicted. ``"tune"`` takes, of 50 values
        between 0 and the largest on the training rows, the one with the best micro-F1 there.
    tol : float, default=1e-4
        Stop when the objective changes by this amount or less.
    max_iter : int, default=100
        Largest number of steps. It is part of the method: the objective is not convex.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Without effect: the method draws no numbers.

    Attributes
    ----------
    model_ : JointWeights
        Weights, threshold, and the course of the objective.
    n_iter_ : int
        Number of steps.
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.

    References
    ----------
    J. Huang, G. Li, Q. Huang, X. Wu: Joint Feature Selection and Classification for Multilabel
    Learning. IEEE Transactions on Cybernetics 48(3), 2018.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = JFSC().fit(X, Y)
    >>> model.predict(X[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        correlation_penalty: float = 2**-8,
        *,
        fisher_penalty: float = 2**-2,
        sparsity_penalty: float = 2**-4,
        start_ridge: float = 1.0,
        loss: Loss = "l21",
        fisher: Literal["diagonal", "full"] = "diagonal",
        threshold: float | Literal["tune"] = 0.5,
        tol: float = 1e-4,
        max_iter: int = 100,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.correlation_penalty = correlation_penalty
        self.fisher_penalty = fisher_penalty
        self.sparsity_penalty = sparsity_penalty
        self.start_ridge = start_ridge
        self.loss = loss
        self.fisher = fisher
        self.threshold = threshold
        self.tol = tol
        self.max_iter = max_iter
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:  # noqa: ARG002
        self._check_parameters()
        rows = with_constant(X)
        labels = Y.toarray().astype(np.float64)
        scatter = DiagonalScatter if self.fisher == "diagonal" else FullScatter
        problem = JointRegression(
            rows,
            labels,
            label_unlikeness(labels),
            scatter.of(rows, labels),
            correlation_penalty=self.correlation_penalty,
            fisher_penalty=self.fisher_penalty,
            sparsity_penalty=self.sparsity_penalty,
            loss=self.loss,
        )
        start = ridge_weights(rows, labels, self.start_ridge)
        descent = descend(problem, start, self.tol, self.max_iter)
        if not descent.is_bounded:
            warnings.warn(
                f"The objective fell to {descent.objectives[-1]:.3g} after "
                f"{len(descent.objectives) - 1} steps and has no minimum, so the descent was "
                "ended there. Lower correlation_penalty or fisher_penalty.",
                ConvergenceWarning,
                stacklevel=4,
            )
        W = descent.W
        self.model_ = JointWeights(
            weights=np.ascontiguousarray(W[:-1]),
            offsets=W[-1].copy(),
            threshold=self._chosen_threshold(rows @ W, labels),
            objectives=np.array(descent.objectives),
        )

    def _chosen_threshold(self, outputs: np.ndarray, labels: np.ndarray) -> float:
        if self.threshold == "tune":
            return best_threshold(outputs, labels)
        return float(self.threshold)

    @property
    def n_iter_(self) -> int:
        """Number of steps."""
        check_is_fitted(self)
        return len(self.model_.objectives) - 1

    def _label_scores(self, X: Matrix) -> np.ndarray:
        return self.model_.scores(X)

    def _check_parameters(self) -> None:
        for name in ("correlation_penalty", "fisher_penalty", "sparsity_penalty", "tol"):
            value = getattr(self, name)
            if not (_is_finite_number(value) and value >= 0):
                raise ValueError(f"{name}={value!r}; expected a finite number of at least 0.")
        if not (_is_finite_number(self.start_ridge) and self.start_ridge > 0):
            raise ValueError(
                f"start_ridge={self.start_ridge!r}; expected a finite number above 0, such as 1."
            )
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r} is unknown; use one of {LOSSES}.")
        if self.fisher not in FISHER_TERMS:
            raise ValueError(f"fisher={self.fisher!r} is unknown; use one of {FISHER_TERMS}.")
        if self.threshold != "tune" and not _is_finite_number(self.threshold):
            raise ValueError(
                f"threshold={self.threshold!r}; expected a finite number, such as 0.5, or 'tune'."
            )
        if not isinstance(self.max_iter, Integral) or int(self.max_iter) < 1:
            raise ValueError(f"max_iter={self.max_iter!r}; expected a whole number of at least 1.")


def best_threshold(outputs: np.ndarray, labels: np.ndarray) -> float:
    """Of 50 equally spaced values from 0 to the largest output, the best by micro-F1.

    Examples
    --------
    >>> best_threshold(np.array([[0.49], [0.2], [0.1]]), np.array([[1.0], [1.0], [0.0]]))
    0.1
    """
    candidates = np.linspace(0.0, max(float(outputs.max(initial=0.0)), 0.0), _N_THRESHOLDS)
    ordered = np.sort(outputs, axis=None)
    ordered_positive = np.sort(outputs[labels > 0])
    n_predicted = ordered.size - np.searchsorted(ordered, candidates, side="right")
    n_hits = ordered_positive.size - np.searchsorted(ordered_positive, candidates, side="right")
    f1 = 2.0 * n_hits / np.maximum(n_predicted + ordered_positive.size, 1)
    return float(candidates[f1.argmax()])


def _is_finite_number(value: object) -> bool:
    return isinstance(value, Real) and math.isfinite(value)
