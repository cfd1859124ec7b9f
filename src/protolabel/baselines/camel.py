"""CAMEL: kernel regression whose outputs are mixed by how labels rebuild each other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from protolabel.baselines._collaboration import label_collaboration
from protolabel.baselines._kernel_basis import (
    KernelBasis,
    exact_basis,
    kernel_chunks,
    nystroem_basis,
)
from protolabel.baselines.base import BaselineClassifier, Matrix
from protolabel.preprocessing.features import Scaling

_GRID_NAMES = ("collaboration", "fidelity", "ridge")


class ApproximationWarning(UserWarning):
    """The model is an approximation of the method that was asked for."""


@dataclass(frozen=True)
class KernelMachine:
    """Scores ``kernel(x, rows) @ coefficients + intercept``.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_rows, n_features)
        Training rows, or landmarks.
    coefficients : ndarray of shape (n_rows, n_labels)
    intercept : ndarray of shape (n_labels,)
    bandwidth : float
    is_approximate : bool
    """

    rows: Matrix
    coefficients: np.ndarray
    intercept: np.ndarray
    bandwidth: float
    is_approximate: bool

    def scores(self, X: Matrix) -> np.ndarray:
        """Scores of rows, (n_samples, n_labels), with bounded memory."""
        scores = np.empty((X.shape[0], len(self.intercept)))
        for part, kernel in kernel_chunks(X, self.rows, self.bandwidth):
            scores[part] = kernel @ self.coefficients
        return np.asarray(scores + self.intercept)


class CAMEL(BaselineClassifier):
    """Collaboration based multi-label learning.

    Every label is rebuilt from the others by a lasso, which gives the collaboration matrix S.
    The scores are kernel regressions ``f`` mixed by it, ``f(x) G`` with
    ``G = (1 - collaboration) I + collaboration S``; f is fitted to auxiliary targets Z that
    ``Z G`` brings close to the labels, coded as -1 and +1. Z is found exactly, not by
    alternation. A label with a score above zero is predicted.

    Parameters
    ----------
    collaboration : float, default=0.1
        Share alpha of the other labels in a score, from 0 to 1. Zero is kernel ridge
        regression of each label on its own.
    ridge : float, default=0.1
        Weight lambda_2 of the squared norm of the regression, above 0.
    fidelity : float, default=1.0
        Weight lambda_1 of the distance of ``Z G`` and the labels, above 0.
    max_exact_rows : int, default=8000
        With more training rows than this the kernel is approximated, see ``n_landmarks``. The
        exact method takes memory for two and time for an eigendecomposition of matrices of
        this size.
    n_landmarks : int, default=3000
        Number of training rows drawn for the Nystroem approximation of the kernel, which is
        used, with an :class:`ApproximationWarning`, beyond ``max_exact_rows``. The bandwidth
        is then taken from a sample of pairs, too.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Seed of the approximation; without effect on the exact method.

    Attributes
    ----------
    model_ : KernelMachine
        Rows, coefficients, intercept and bandwidth of the fitted scores.
    is_approximate_ : bool
        Whether the kernel was approximated.
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_features_in_ : int
        Number of features seen during fit.

    References
    ----------
    L. Feng, B. An, S. He: Collaboration Based Multi-Label Learning. AAAI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = CAMEL().fit(X[:150], Y[:150])
    >>> bool((model.predict(X[150:]) == Y[150:]).mean() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        collaboration: float = 0.1,
        ridge: float = 0.1,
        fidelity: float = 1.0,
        max_exact_rows: int = 8_000,
        n_landmarks: int = 3000,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.collaboration = collaboration
        self.ridge = ridge
        self.fidelity = fidelity
        self.max_exact_rows = max_exact_rows
        self.n_landmarks = n_landmarks
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    @property
    def is_approximate_(self) -> bool:
        """Whether the kernel was approximated."""
        check_is_fitted(self, "model_")
        return self.model_.is_approximate

    def scores_for_grid(
        self, X: Any, y: Any, X_new: Any, grid: Iterable[Mapping[str, float]]
    ) -> Iterator[np.ndarray]:
        """Scores of new rows for many settings, for little more than the price of one fit.

        Kernel, eigendecomposition and collaboration matrix are computed once. The estimator
        itself is not changed.

        Parameters
        ----------
        X, y : see ``fit``
            Training rows and their labels.
        X_new : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to score.
        grid : iterable of mappings
            Values of ``collaboration``, ``ridge`` and ``fidelity``; what is left out is taken
            from the estimator.

        Yields
        ------
        ndarray of shape (n_samples, n_labels)
            What ``decision_function(X_new)`` of a fit with these values returns, of a
            one-dimensional target always with one column a class.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.arange(12.0).reshape(6, 2)
        >>> Y = np.array([[0, 1], [0, 1], [0, 0], [1, 0], [1, 1], [1, 0]])
        >>> grid = [{"ridge": 0.1}, {"ridge": 1.0}]
        >>> [scores.shape for scores in CAMEL().scores_for_grid(X, Y, X[:3], grid)]
        [(3, 2), (3, 2)]
        """
        points = [self._grid_point(point) for point in grid]
        shared = _SharedFit(**self.get_params()).fit(X, y)
        X_new = shared.scaler_.transform(shared._checked(X_new))
        return shared.scores_of(points, _as_float64(X_new))

    def _grid_point(self, point: Mapping[str, float]) -> dict[str, float]:
        unknown = sorted(set(point) - set(_GRID_NAMES))
        if unknown:
            raise ValueError(
                f"The grid names {', '.join(unknown)}; only {', '.join(_GRID_NAMES)} can vary "
                "with a shared kernel. Fit the others one by one."
            )
        values = {name: getattr(self, name) for name in _GRID_NAMES} | dict(point)
        _check_weights(**values)
        return values

    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:
        self._check_parameters()
        n_samples, n_labels = Y.shape
        is_approximate = n_samples > self.max_exact_rows
        if n_labels == 0:
            self.model_ = KernelMachine(
                X[:1], np.zeros((min(n_samples, 1), 0)), np.zeros(0), 1.0, is_approximate
            )
            return
        basis, partners = self._prepare(_as_float64(X), Y, rng)
        weights, intercept = solve(basis, partners, self.collaboration, self.fidelity, self.ridge)
        coefficients = basis.directions @ weights
        self.model_ = KernelMachine(
            rows=basis.rows,
            coefficients=coefficients,
            intercept=intercept - basis.means @ coefficients,
            bandwidth=basis.bandwidth,
            is_approximate=is_approximate,
        )

    def _label_scores(self, X: Matrix) -> np.ndarray:
        return self.model_.scores(_as_float64(X))

    def _prepare(
        self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator
    ) -> tuple[KernelBasis, np.ndarray]:
        """What does not depend on the three weights: kernel basis and collaboration matrix."""
        signs = 2.0 * Y.toarray() - 1.0
        if X.shape[0] <= self.max_exact_rows:
            return exact_basis(X, signs), label_collaboration(signs)
        n_landmarks = min(self.n_landmarks, X.shape[0])
        warnings.warn(
            f"CAMEL was given {X.shape[0]} rows, more than max_exact_rows="
            f"{self.max_exact_rows}: its kernel is approximated with {n_landmarks} landmark "
            "rows, and results are not those of exact CAMEL. Raise max_exact_rows for the exact "
            "method, or n_landmarks for a closer approximation.",
            ApproximationWarning,
            stacklevel=5,
        )
        return nystroem_basis(X, signs, n_landmarks, rng), label_collaboration(signs)

    def _check_parameters(self) -> None:
        _check_weights(self.collaboration, self.fidelity, self.ridge)
        for name in ("max_exact_rows", "n_landmarks"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(
                    f"{name}={value!r} was given; expected a whole number of at least 1."
                )


class _SharedFit(CAMEL):
    """What all points of a grid have in common."""

    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:
        super()._check_parameters()
        self._parts = self._prepare(_as_float64(X), Y, rng) if Y.shape[1] else None

    def scores_of(self, points: Iterable[Mapping[str, float]], X: Matrix) -> Iterator[np.ndarray]:
        if self._parts is None:
            for _ in points:
                yield self.sides_.complete(np.zeros((X.shape[0], 0)))
            return
        basis, partners = self._parts
        projected = basis.project(X)
        for point in points:
            weights, intercept = solve(basis, partners, **point)
            yield self.sides_.complete(projected @ weights + intercept)


def solve(
    basis: KernelBasis,
    partners: np.ndarray,
    collaboration: float,
    fidelity: float,
    ridge: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise the objective of CAMEL exactly.

    On the eigenvectors of the centred kernel the optimal targets Z solve a Sylvester equation
    with diagonal coefficients, ``shrink_i Z_ij + fidelity g_j Z_ij = fidelity (Y G^T V)_ij``,
    where ``shrink = ridge / (eigenvalue + ridge)`` and ``G G^T = V diag(g) V^T``.

    Parameters
    ----------
    basis : KernelBasis
        Kernel of the training rows and their labels, coded as -1 and +1.
    partners : ndarray of shape (n_labels, n_labels)
        Collaboration matrix S, see :func:`label_collaboration`.
    collaboration, fidelity, ridge : float
        Weights alpha, lambda_1 and lambda_2.

    Returns
    -------
    weights : ndarray of shape (n_directions, n_labels)
        What the coordinates of a row in the basis are multiplied with.
    intercept : ndarray of shape (n_labels,)
    """
    mixing = (1 - collaboration) * np.eye(len(partners)) + collaboration * partners
    gains, turn = np.linalg.eigh(mixing @ mixing.T)
    gains = np.maximum(gains, 0.0)
    damped = basis.eigenvalues + ridge
    shrink = ridge / damped
    turned = fidelity * (basis.targets @ (mixing.T @ turn))
    auxiliary = (turned / (shrink[:, None] + fidelity * gains)) @ turn.T
    # No ridge acts on the mean of the targets: it is met, where a singular mixing cannot, as
    # closely as possible.
    reachable = np.linalg.pinv(mixing, rcond=1e-10) @ mixing
    return (auxiliary / damped[:, None]) @ mixing, basis.target_mean @ reachable


def _check_weights(collaboration: float, fidelity: float, ridge: float) -> None:
    if not isinstance(collaboration, Real) or not 0 <= collaboration <= 1:
        raise ValueError(
            f"collaboration={collaboration!r} was given; expected a number from 0 to 1."
        )
    for name, value in (("fidelity", fidelity), ("ridge", ridge)):
        if not isinstance(value, Real) or not 0 < value < np.inf:
            raise ValueError(f"{name}={value!r} was given; expected a finite number above 0.")


def _as_float64(X: Matrix) -> Matrix:
    return sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, np.float64)
