"""A primal-dual interior-point method for one twin hyperplane.

With slacks ``s = xi - 1 - Gv >= 0`` and ``xi >= 0``, and the dual a between 0 and c, the
optimality conditions are ``Mv + G'a = 0``, ``a s = 0`` and ``(c - a) xi = 0``. Each Newton
step of Mehrotra's predictor-corrector scheme solves one system with ``M + G' diag(theta) G``,
a Gram matrix of the rows weighted by theta: of size dim, or, when there are more columns than
rows, of size n_samples. A dozen steps reach a relative gap of 1e-6 whatever c and lambda are,
which first-order methods do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from protolabel.baselines._twin_dual import TwinProblem, TwinSolution, solution_of
from protolabel.baselines._twin_gram import weighted_gram

Solve = Callable[[np.ndarray], np.ndarray]

_TO_BOUNDARY = 0.995


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
    problem: TwinProblem, tol: float, max_iter: int, *, kernel: np.ndarray | None = None
) -> TwinSolution:
    """Solve to a relative duality gap of ``tol``.

    Parameters
    ----------
    problem : TwinProblem
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Largest number of Newton steps.
    kernel : ndarray of shape (n_samples, n_samples) or None, default=None
        Inner products of all rows, the negative ones first; given, systems of that size are
        solved in place of systems of size dim.
    """
    n_negative, dim = problem.negatives.shape
    factored = _gram_solver(problem) if kernel is None else _kernel_solver(problem, kernel)
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
        newton = _newton_direction(problem, at, theta, solve)
        centred = at.complementarity()
        aim = newton(-at.a * at.s, -at.b * at.xi)
        reached = at.moved(aim, at.longest_step(aim)).complementarity()
        target = centred * (reached / centred) ** 3
        direction = newton(
            target - at.a * at.s - aim.a * aim.s, target - at.b * at.xi - aim.b * aim.xi
        )
        at = at.moved(direction, _TO_BOUNDARY * at.longest_step(direction))
        candidate = solution_of(problem, np.minimum(at.a, problem.c), n_iter)
        if not np.isfinite(candidate.gap):
            break
        if candidate.gap < best.gap:
            best = candidate
    return best


def _newton_direction(
    problem: TwinProblem, at: _Point, theta: np.ndarray, solve: Solve
) -> Callable[[np.ndarray, np.ndarray], _Point]:
    """Give the step that changes ``a s`` and ``b xi`` by the two wanted amounts."""
    G = problem.negatives
    stationarity = problem.gram.multiply(at.v) + G.T @ at.a
    feasibility = at.xi - 1.0 - G @ at.v - at.s

    def direction(wanted_a: np.ndarray, wanted_b: np.ndarray) -> _Point:
        known = wanted_a / at.a - wanted_b / at.b - feasibility
        dv = solve(-stationarity - G.T @ (theta * known))
        da = theta * (G @ dv + known)
        return _Point(dv, da, -da, (wanted_a - at.s * da) / at.a, (wanted_b + at.xi * da) / at.b)

    return direction


def _gram_solver(problem: TwinProblem) -> Callable[[np.ndarray], Solve]:
    """Factor ``M + G' diag(theta) G``."""
    gram = problem.gram.dense()

    def factored(theta: np.ndarray) -> Solve:
        system = gram + weighted_gram(problem.negatives, theta)
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return lambda z: np.asarray(cho_solve(factor, z, check_finite=False))

    return factored


def _kernel_solver(problem: TwinProblem, kernel: np.ndarray) -> Callable[[np.ndarray], Solve]:
    """Factor ``lambda I + D K D``, D the square roots of the weights of all rows."""
    G, H, penalty = problem.negatives, problem.gram.positives, problem.gram.penalty
    n_negative = problem.n_negative

    def factored(theta: np.ndarray) -> Solve:
        roots = np.sqrt(np.concatenate([theta, np.ones(H.shape[0])]))
        system = kernel * roots[:, None]
        system *= roots
        system[np.diag_indices_from(system)] += penalty
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

        def solve(z: np.ndarray) -> np.ndarray:
            inner = roots * np.concatenate([G @ z, H @ z])
            inner = roots * cho_solve(factor, inner, check_finite=False)
            pulled = G.T @ inner[:n_negative] + H.T @ inner[n_negative:]
            return np.asarray((z - pulled) / penalty)

        return solve

    return factored
