"""A primal-dual interior-point method for one twin hyperplane.

With slacks ``s = xi - 1 - Gv >= 0`` and ``xi >= 0``, and the dual a between 0 and c, the
optimality conditions are ``Mv + G'a = 0``, ``a s = 0`` and ``(c - a) xi = 0``. Each Newton
step of Mehrotra's predictor-corrector scheme solves one system with ``M + G' diag(theta) G``,
a Gram matrix of the rows weighted by theta: of size dim, or, when rows are not many more than
columns, of the number of rows. A dozen steps reach a relative gap of 1e-6 whatever c and
lambda are, which first-order methods do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from protolabel.baselines._twin_dual import TwinProblem, TwinSolution, solution_of
from protolabel.baselines._twin_gram import inner_products, square_lengths, weighted_gram

Solve = Callable[[np.ndarray], np.ndarray]

_TO_BOUNDARY = 0.995
_LEFT_OUT = 1e-2


@dataclass(frozen=True)
class _Point:
    """Hyperplane, dual a, its complement b = c - a, and the slacks; or a direction of those."""

    v: np.ndarray
    a: np.ndarray
    b: np.ndarray
    s: np.ndarray
    xi: np.ndarray

    def moved(self, direction: _Point, step: float) -> _Point:
        return _Point(
            self.v + step * direction.v,
            self.a + step * direction.a,
            self.b + step * direction.b,
            self.s + step * direction.s,
            self.xi + step * direction.xi,
        )

    def complementarity(self) -> float:
        """Mean of the products that vanish at the optimum."""
        return float(self.a @ self.s + self.b @ self.xi) / (2 * len(self.a))

    def longest_step(self, direction: _Point) -> float:
        """Largest step, at most one, that keeps what must be positive above zero."""
        step = 1.0
        for value, change in (
            (self.a, direction.a),
            (self.b, direction.b),
            (self.s, direction.s),
            (self.xi, direction.xi),
        ):
            falls = change < 0
            step = min(step, float(np.min(-value[falls] / change[falls], initial=1.0)))
        return step


def solve_interior(
    problem: TwinProblem,
    tol: float,
    max_iter: int,
    *,
    system: Literal["auto", "columns", "rows"] = "auto",
) -> TwinSolution:
    """Solve to a relative duality gap of ``tol``.

    Parameters
    ----------
    problem : TwinProblem
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Largest number of Newton steps.
    system : {"auto", "columns", "rows"}, default="auto"
        Unknowns of the systems: one for each column, or one for each row; by default rows
        unless there are twice as many of them.
    """
    n_negative, dim = problem.negatives.shape
    if system == "auto":
        n_samples = n_negative + problem.gram.positives.shape[0]
        system = "rows" if n_samples < 2 * dim else "columns"
    factored = _row_solver(problem) if system == "rows" else _column_solver(problem)
    half = np.full(n_negative, 0.5 * problem.c)
    one = np.ones(n_negative)
    at = _Point(np.zeros(dim), half, half, one, one)
    best = solution_of(problem, half)
    for n_iter in range(1, max_iter + 1):
        if best.gap <= tol:
            break
        theta = 1.0 / (at.s / at.a + at.xi / at.b)
        try:
            solve = factored(theta)
        except LinAlgError:  # rounding ends what can be reached; the gap tells how far that is
            break
        newton = _newton_direction(problem, at, theta)
        centred = at.complementarity()
        aim = newton(-at.a * at.s, -at.b * at.xi, solve)
        reached = at.moved(aim, at.longest_step(aim)).complementarity()
        target = centred * (reached / centred) ** 3
        direction = newton(
            target - at.a * at.s - aim.a * aim.s,
            target - at.b * at.xi - aim.b * aim.xi,
            _refined(problem, theta, solve),
        )
        at = at.moved(direction, _TO_BOUNDARY * at.longest_step(direction))
        candidate = solution_of(problem, np.minimum(at.a, problem.c), n_iter)
        if not np.isfinite(candidate.gap):
            break
        if candidate.gap < best.gap:
            best = candidate
    return best


def _newton_direction(
    problem: TwinProblem, at: _Point, theta: np.ndarray
) -> Callable[[np.ndarray, np.ndarray, Solve], _Point]:
    """Give the step that changes ``a s`` and ``b xi`` by the two wanted amounts."""
    G = problem.negatives
    stationarity = problem.gram.multiply(at.v) + G.T @ at.a
    feasibility = at.xi - 1.0 - G @ at.v - at.s

    def direction(wanted_a: np.ndarray, wanted_b: np.ndarray, solve: Solve) -> _Point:
        known = wanted_a / at.a - wanted_b / at.b - feasibility
        dv = solve(-stationarity - G.T @ (theta * known))
        da = theta * (G @ dv + known)
        return _Point(dv, da, -da, (wanted_a - at.s * da) / at.a, (wanted_b + at.xi * da) / at.b)

    return direction


def _weights_that_matter(
    problem: TwinProblem, theta: np.ndarray, square_lengths: np.ndarray
) -> np.ndarray:
    """Find the rows without which the system changes by no more than a part of lambda I.

    Near the optimum that leaves the few rows on the margin. Refinement makes good the rest.
    """
    traces = theta * square_lengths
    order = np.argsort(traces)
    n_left_out = np.searchsorted(np.cumsum(traces[order]), _LEFT_OUT * problem.gram.penalty)
    return np.sort(order[n_left_out:])


def _refined(problem: TwinProblem, theta: np.ndarray, solve: Solve) -> Solve:
    """Correct the solution of an approximate system by its residual."""

    def refine(z: np.ndarray) -> np.ndarray:
        dv = solve(z)
        image = problem.gram.multiply(dv)
        image += problem.negatives.T @ (theta * (problem.negatives @ dv))
        return dv + solve(z - image)

    return refine


def _column_solver(problem: TwinProblem) -> Callable[[np.ndarray], Solve]:
    """Factor ``M + G' diag(theta) G``."""
    gram = problem.gram.dense()
    lengths = square_lengths(problem.negatives)

    def factored(theta: np.ndarray) -> Solve:
        kept = _weights_that_matter(problem, theta, lengths)
        system = gram + weighted_gram(problem.negatives[kept], theta[kept])
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return lambda z: np.asarray(cho_solve(factor, z, check_finite=False))

    return factored


def _row_solver(problem: TwinProblem) -> Callable[[np.ndarray], Solve]:
    """Factor ``lambda I + D K D``, D the square roots of the weights of the rows."""
    G, H, penalty = problem.negatives, problem.gram.positives, problem.gram.penalty
    kernel = inner_products(
        sp.vstack([G, H], format="csr") if sp.issparse(G) else np.vstack([G, H])
    )
    n_negative, n_samples = problem.n_negative, len(kernel)
    lengths = np.diag(kernel)[:n_negative]

    def factored(theta: np.ndarray) -> Solve:
        kept = _weights_that_matter(problem, theta, lengths)
        rows = np.concatenate([kept, np.arange(n_negative, n_samples)])
        roots = np.sqrt(np.concatenate([theta[kept], np.ones(n_samples - n_negative)]))
        system = kernel[np.ix_(rows, rows)]
        system *= roots[:, None]
        system *= roots
        system[np.diag_indices_from(system)] += penalty
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

        def solve(z: np.ndarray) -> np.ndarray:
            inner = roots * np.concatenate([G @ z, H @ z])[rows]
            outer = np.zeros(n_samples)
            outer[rows] = roots * cho_solve(factor, inner, check_finite=False)
            pulled = G.T @ outer[:n_negative] + H.T @ outer[n_negative:]
            return np.asarray((z - pulled) / penalty)

        return solve

    return factored
