"""The dual of a twin hyperplane and two ways to solve it: projected SOR and L-BFGS-B.

Primal: ``min_v 1/2 v'Mv + c sum_i max(0, 1 + (Gv)_i)`` with G the negative rows of a label.
Dual: ``min_a 1/2 a'Qa - sum(a), 0 <= a <= c`` with ``Q = G M^-1 G'`` and ``v = -M^-1 G'a``.
Q is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from protolabel.baselines._twin_gram import Matrix, PositiveGram


@dataclass(frozen=True)
class TwinProblem:
    """One label: its negative rows G, its matrix M, and the price c of an error."""

    negatives: Matrix
    gram: PositiveGram
    c: float

    @property
    def n_negative(self) -> int:
        """Number of dual variables."""
        return int(self.negatives.shape[0])


@dataclass(frozen=True)
class TwinSolution:
    """A dual point, its hyperplane ``v = [w, b]``, and the relative duality gap of the pair."""

    dual: np.ndarray
    hyperplane: np.ndarray
    gap: float
    n_iter: int


def solution_of(problem: TwinProblem, dual: np.ndarray, n_iter: int = 0) -> TwinSolution:
    """Hyperplane and relative duality gap of a feasible dual point.

    The gap is ``(primal - dual) / primal``; it bounds how far either objective is from the
    optimum, so it certifies a solution whichever way that was found.
    """
    return _solution_and_values(problem, dual, n_iter)[0]


def solve_sor(
    problem: TwinProblem, tol: float, max_iter: int, *, relaxation: float = 1.0
) -> TwinSolution:
    """Successive over-relaxation, projected after every coordinate (the solver of the paper).

    With ``M = R R'`` and the rows of G mapped by ``R^-1``, Q is a product of two thin matrices,
    so that a coordinate costs O(dim). An iteration is one sweep over all coordinates.
    """
    negatives = problem.negatives
    factor = cholesky(problem.gram.dense(), lower=True)
    mapped = solve_triangular(factor, _dense(negatives).T, lower=True).T  # (n_negative, dim)
    mapped = np.ascontiguousarray(mapped)
    curvatures = np.einsum("ij,ij->i", mapped, mapped)
    steps = relaxation / curvatures
    dual = np.zeros(problem.n_negative)
    weights = np.zeros(mapped.shape[1])  # mapped' dual
    solution = solution_of(problem, dual)
    for sweep in range(1, max_iter + 1):
        for i, row in enumerate(mapped):
            old = dual[i]
            new = min(max(old - steps[i] * (row @ weights - 1.0), 0.0), problem.c)
            if new != old:
                weights += (new - old) * row
                dual[i] = new
        solution = solution_of(problem, dual.copy(), sweep)
        if solution.gap <= tol:
            break
    return solution


def solve_lbfgs(problem: TwinProblem, tol: float, max_iter: int) -> TwinSolution:
    """L-BFGS-B on the dual with implicit Q; keeps sparse rows sparse.

    Every point it looks at is feasible, and its gap costs nothing beyond its gradient.
    """
    search = _DualSearch(problem, tol)
    minimize(
        search.evaluate,
        np.full(problem.n_negative, 0.5),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * problem.n_negative,
        callback=search.end_iteration,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0},
    )
    assert search.best is not None
    return search.best


class _DualSearch:
    """The dual over the unit box, a = c u, and the best point seen."""

    def __init__(self, problem: TwinProblem, tol: float) -> None:
        self.problem = problem
        self.tol = tol
        self.n_iter = 1
        self.best: TwinSolution | None = None

    def evaluate(self, unit: np.ndarray) -> tuple[float, np.ndarray]:
        """Dual objective over c, and its gradient."""
        dual = self.problem.c * np.clip(unit, 0.0, 1.0)
        solution, values = _solution_and_values(self.problem, dual, self.n_iter)
        if self.best is None or solution.gap < self.best.gap:
            self.best = solution
        # With v = -M^-1 G'a the quadratic form a'Qa is -a'Gv.
        objective = -0.5 * float(dual @ values) - float(dual.sum())
        return objective / self.problem.c, -values - 1.0

    def end_iteration(self, intermediate_result: Any) -> None:  # noqa: ARG002
        """Stop the search once a point is good enough; SciPy asks for these names."""
        self.n_iter += 1
        if self.best is not None and self.best.gap <= self.tol:
            raise StopIteration


def _solution_and_values(
    problem: TwinProblem, dual: np.ndarray, n_iter: int
) -> tuple[TwinSolution, np.ndarray]:
    """Solution of a dual point, and the values ``Gv`` of the negative rows."""
    pulled = problem.negatives.T @ dual  # G'a
    v = -problem.gram.solve(pulled)
    values = problem.negatives @ v
    quadratic = -float(pulled @ v)  # v'Mv
    errors = problem.c * float(np.maximum(0.0, 1.0 + values).sum())
    primal = 0.5 * quadratic + errors
    gap = max(quadratic + errors - float(dual.sum()), 0.0)
    return TwinSolution(dual, v, gap / max(primal, np.finfo(float).tiny), n_iter), values


def _dense(X: Matrix) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)
