"""MLTSVM: one twin hyperplane per label, near its positive rows and away from the others."""

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

from protolabel.baselines._twin_dual import TwinProblem, TwinSolution, solve_lbfgs, solve_sor
from protolabel.baselines._twin_gram import PositiveGram, with_constant
from protolabel.baselines._twin_interior import solve_interior
from protolabel.baselines.base import BaselineClassifier, Matrix
from protolabel.decision.decision_rule import apply_thresholds
from protolabel.preprocessing.features import Scaling

Solver = Literal["auto", "interior_point", "lbfgs", "sor"]
SOLVERS = ("auto", "interior_point", "lbfgs", "sor")

_LARGEST_SYSTEM = 2000
_QUICK_STEPS = 300
_FLAT_NORM = 1e-12


@dataclass(frozen=True)
class TwinHyperplanes:
    """Hyperplanes of the learned labels and how near to one a row must be to get its label.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_learned)
        w of each label.
    offsets : ndarray of shape (n_learned,)
        b of each label.
    radius : float
        Delta, the smallest ``1 / ||w||`` of the labels; zero if no label has a hyperplane.
    duality_gaps : ndarray of shape (n_learned,)
        Relative duality gap that the solver reached.
    n_iter : ndarray of shape (n_learned,)
        Iterations of the solver.
    """

    weights: np.ndarray
    offsets: np.ndarray
    radius: float
    duality_gaps: np.ndarray
    n_iter: np.ndarray

    def scores(self, X: Matrix) -> np.ndarray:
        """Delta minus the distance of each row to each hyperplane.

        A label whose w is zero has no hyperplane; it is scored below zero and below all others.
        """
        norms = np.linalg.norm(self.weights, axis=0)
        flat = norms <= _FLAT_NORM
        distances = np.abs(X @ self.weights + self.offsets) / np.where(flat, 1.0, norms)
        scores = self.radius - distances
        lowest = scores[:, ~flat].min(axis=1, initial=0.0)
        scores[:, flat] = lowest[:, None] - 1.0
        return np.asarray(scores)


class MLTSVM(BaselineClassifier):
    """Multi-label twin support vector machine, linear.

    Each label has one hyperplane: its positive rows lie near it, its negative rows at a
    functional value of -1 or less. A row gets the labels whose hyperplanes are nearer than
    Delta, the smallest ``1 / ||w||`` of all labels; the score of a label is Delta minus the
    distance.

    Parameters
    ----------
    c : float, default=0.5
        Price of a negative row on the wrong side (c_k, one value for all labels).
    norm_penalty : float, default=1.0
        Weight lambda of the squared norm of w and b.
    solver : {"auto", "interior_point", "lbfgs", "sor"}, default="auto"
        ``"lbfgs"`` (on the dual) keeps sparse rows sparse and is fast unless ``c`` is large
        or ``norm_penalty`` small; ``"interior_point"`` takes a dozen Newton steps whatever
        they are, each with a system of as many unknowns as there are features or rows;
        ``"sor"`` is projected successive over-relaxation as in the paper, slow here. All have
        the same optimum. ``"auto"`` goes from the first to the second for labels that 300
        steps do not solve, if rows or features number at most 2000.
    tol : float, default=1e-4
        Relative duality gap at which a label is solved.
    max_iter : int, default=1000
        Largest number of Newton steps, L-BFGS iterations or sweeps per label.
    assign_nearest : bool, default=False
        Give a row that would get no label the one with the nearest hyperplane.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Without effect: the problem is convex and no solver draws numbers.

    Attributes
    ----------
    model_ : TwinHyperplanes
        Hyperplanes, Delta, and the duality gap of each learned label.
    n_iter_ : int
        Most iterations that a label took.
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
    W.-J. Chen, Y.-H. Shao, C.-N. Li, N.-Y. Deng: MLTSVM: A novel twin support vector machine to
    multi-label learning. Pattern Recognition 52, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :2] > 0.5).astype(int)
    >>> model = MLTSVM().fit(X, Y)
    >>> model.predict(X[:3]).shape
    (3, 2)
    >>> bool((model.model_.duality_gaps <= 1e-4).all())
    True
    """

    def __init__(
        self,
        c: float = 0.5,
        *,
        norm_penalty: float = 1.0,
        solver: Solver = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        assign_nearest: bool = False,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.c = c
        self.norm_penalty = norm_penalty
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.assign_nearest = assign_nearest
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _fit_labels(self, X: Matrix, Y: sp.csr_array, rng: np.random.Generator) -> None:  # noqa: ARG002
        self._check_parameters()
        rows = with_constant(X)
        penalty = float(self.norm_penalty)
        solutions = []
        for is_positive in Y.toarray().astype(bool).T:
            gram = PositiveGram(rows[is_positive], penalty)
            solutions.append(self._solve(TwinProblem(rows[~is_positive], gram, float(self.c))))
        self.model_ = _hyperplanes(solutions, rows.shape[1])
        self._warn_of_open_gaps()

    def _solve(self, problem: TwinProblem) -> TwinSolution:
        if self.solver == "sor":
            return solve_sor(problem, self.tol, self.max_iter)
        if self.solver == "interior_point":
            return solve_interior(problem, self.tol, self.max_iter)
        n_samples = problem.n_negative + problem.gram.positives.shape[0]
        is_large = min(n_samples, problem.negatives.shape[1]) > _LARGEST_SYSTEM
        if self.solver == "lbfgs" or is_large:
            return solve_lbfgs(problem, self.tol, self.max_iter)
        quick = solve_lbfgs(problem, self.tol, min(_QUICK_STEPS, self.max_iter))
        if quick.gap <= self.tol:
            return quick
        exact = solve_interior(problem, self.tol, self.max_iter)
        return exact if exact.gap < quick.gap else quick

    @property
    def n_iter_(self) -> int:
        """Most iterations that a label took."""
        check_is_fitted(self)
        return int(self.model_.n_iter.max(initial=0))

    def _label_scores(self, X: Matrix) -> np.ndarray:
        return self.model_.scores(X)

    def _label_probabilities(self, scores: np.ndarray) -> np.ndarray:
        # Delta / (Delta + distance) is one half where a decision turns, free of the scale of the
        # features, and does not underflow for a label whose hyperplane is far from all rows.
        radius = self.model_.radius
        distances = np.maximum(radius - scores, 0.0)
        return np.asarray(radius / np.maximum(radius + distances, np.finfo(float).tiny))

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        return apply_thresholds(scores, 0.0, at_least_one=self.assign_nearest)

    def _check_parameters(self) -> None:
        for name in ("c", "norm_penalty", "tol"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and math.isfinite(value) and float(value) > 0):
                raise ValueError(
                    f"{name}={value!r}; expected a finite number above 0. Values between 2**-6 "
                    "and 2**4 are usual for c and norm_penalty, 1e-3 and less for tol."
                )
        if self.solver not in SOLVERS:
            raise ValueError(f"solver={self.solver!r} is unknown; use one of {SOLVERS}.")
        if not isinstance(self.max_iter, Integral) or int(self.max_iter) < 1:
            raise ValueError(f"max_iter={self.max_iter!r}; expected a whole number of at least 1.")

    def _warn_of_open_gaps(self) -> None:
        gaps = self.model_.duality_gaps
        n_open = int((gaps > self.tol).sum())
        if n_open:
            warnings.warn(
                f"{n_open} of {len(gaps)} labels were not solved to tol={self.tol:g} by "
                f"solver={self.solver!r} in max_iter={self.max_iter} iterations; the largest "
                f"relative duality gap is {gaps.max():.1e}. Raise max_iter or tol, or choose "
                "solver='interior_point'.",
                ConvergenceWarning,
                stacklevel=5,
            )


def _hyperplanes(solutions: list[TwinSolution], dim: int) -> TwinHyperplanes:
    planes = np.array([solution.hyperplane for solution in solutions]).reshape(-1, dim).T
    weights = np.ascontiguousarray(planes[:-1])
    norms = np.linalg.norm(weights, axis=0)
    norms = norms[norms > _FLAT_NORM]
    return TwinHyperplanes(
        weights=weights,
        offsets=planes[-1].copy(),
        radius=float(1.0 / norms.max()) if len(norms) else 0.0,
        duality_gaps=np.array([solution.gap for solution in solutions]),
        n_iter=np.array([solution.n_iter for solution in solutions], dtype=np.int64),
    )
