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
    pulled = problem.negatives.T @ dual  # G'a
    v = -problem.gram.solve(pulled)
    quadratic = -float(pulled @ v)  # v'Mv
    errors = problem.c * float(np.maximum(0.0, 1.0 + problem.negatives @ v).sum())
    primal = 0.5 * quadratic + errors
    gap = quadratic + errors - float(dual.sum())
    return TwinSolution(dual, v, max(gap, 0.0) / max(primal, np.finfo(float).tiny), n_iter)


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
    """L-BFGS-B on the dual with implicit Q; keeps sparse rows sparse."""
    scale = problem.c  # the box becomes [0, 1]
    best = solution_of(problem, np.full(problem.n_negative, 0.5 * scale))

    def objective(unit: np.ndarray) -> tuple[float, np.ndarray]:
        pulled = problem.negatives.T @ unit
        solved = problem.gram.solve(pulled)
        value = 0.5 * scale * float(pulled @ solved) - float(unit.sum())
        return value, scale * (problem.negatives @ solved) - 1.0

    n_iter = 0

    def stop_at_gap(intermediate_result: Any) -> None:
        nonlocal best, n_iter
        n_iter += 1
        dual = np.clip(intermediate_result.x, 0.0, 1.0) * scale
        candidate = solution_of(problem, dual, n_iter)
        if candidate.gap < best.gap:
            best = candidate
        if best.gap <= tol:
            raise StopIteration

    minimize(
        objective,
        best.dual / scale,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * problem.n_negative,
        callback=stop_at_gap,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0},
    )
    return best


def _dense(X: Matrix) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X)
