"""The objective of JFSC and its accelerated proximal gradient descent.

``F(W) = loss(XW - Y) + l1/2 tr(W R W') + l2/2 sum_k w_k' S_k w_k + l3 ||W||_1`` with the last
column of X constant and its weights free of the last two terms. The loss is the sum of the
lengths of the residual rows, or half their sum of squares. R is indefinite and S may be, so F
can be unbounded below: a value of zero or less ends the descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from protolabel.baselines._fisher import DiagonalScatter, FullScatter

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)
Loss = Literal["l21", "squared"]

_SHORTEST_RESIDUAL = 1e-6
_MOST_DOUBLINGS = 40


@dataclass(frozen=True)
class JointRegression:
    """Data and penalties of F."""

    X: Matrix  # (n_samples, dim), the last column constant
    Y: np.ndarray  # (n_samples, n_labels)
    unlikeness: np.ndarray  # R, (n_labels, n_labels)
    scatter: DiagonalScatter | FullScatter
    correlation_penalty: float
    fisher_penalty: float
    sparsity_penalty: float
    loss: Loss

    def objective(self, W: np.ndarray, XW: np.ndarray) -> float:
        """F; ``XW`` is X times W."""
        residuals = XW - self.Y
        if self.loss == "squared":
            value = 0.5 * float(np.sum(residuals**2))
        else:
            value = float(np.linalg.norm(residuals, axis=1).sum())
        value += 0.5 * self.correlation_penalty * float(np.sum((W @ self.unlikeness) * W))
        value += 0.5 * self.fisher_penalty * self.scatter.quadratic(W, XW)
        return value + self.sparsity_penalty * float(np.abs(W[:-1]).sum())

    def row_weights(self, XW: np.ndarray) -> np.ndarray:
        """D of the majorising squares at W: the inverse lengths of the residual rows."""
        if self.loss == "squared":
            return np.ones(len(XW))
        lengths = np.linalg.norm(XW - self.Y, axis=1)
        return np.asarray(1.0 / np.maximum(lengths, _SHORTEST_RESIDUAL))

    def gradient(self, V: np.ndarray, XV: np.ndarray, row_weights: np.ndarray) -> np.ndarray:
        """Gradient at V of the smooth part, the row weights held fixed."""
        gradient = self.X.T @ (row_weights[:, None] * (XV - self.Y))
        gradient += self.correlation_penalty * (V @ self.unlikeness)
        if self.fisher_penalty:
            gradient += self.fisher_penalty * self.scatter.multiply(V, XV)
        return np.asarray(gradient)

    def shrink(self, W: np.ndarray, amount: float) -> np.ndarray:
        """Soft threshold, in which the constant column takes no part."""
        shrunk = np.sign(W) * np.maximum(np.abs(W) - amount, 0.0)
        shrunk[-1] = W[-1]
        return np.asarray(shrunk)

    def curvature(self, row_weights: np.ndarray) -> float:
        """Lipschitz constant of :meth:`gradient` for given row weights."""
        return (
            _largest_eigenvalue(self.X, row_weights)
            + self.correlation_penalty * _spectral_norm(self.unlikeness)
            + self.fisher_penalty * self.scatter.largest_curvature()
        )


@dataclass(frozen=True)
class Descent:
    """Where a descent ended: weights, the course of F, and whether F had a lower bound."""

    W: np.ndarray
    objectives: tuple[float, ...]

    @property
    def is_bounded(self) -> bool:
        """False if F fell below zero; zero itself is a perfect fit, or no label at all."""
        return self.objectives[-1] >= 0


def descend(problem: JointRegression, start: np.ndarray, tol: float, max_iter: int) -> Descent:
    """Minimise F by accelerated proximal gradient steps that never raise it.

    A step that raises F is repeated without momentum, and with ever shorter steps until F
    does not rise. The majorising squares make that possible from any point.

    Parameters
    ----------
    problem : JointRegression
    start : ndarray of shape (dim, n_labels)
    tol : float
        Stop when F changes by this amount or less.
    max_iter : int
        Largest number of steps.
    """
    W, XW = start, problem.X @ start
    W_before, XW_before = W, XW
    objectives = [problem.objective(W, XW)]
    row_weights = problem.row_weights(XW)
    steepness = max(problem.curvature(row_weights), np.finfo(float).tiny)
    momentum_before = momentum = 1.0
    for _ in range(max_iter):
        if objectives[-1] <= 0:
            break
        pull = (momentum_before - 1.0) / momentum
        for attempt in range(_MOST_DOUBLINGS):
            V = W + pull * (W - W_before)
            XV = XW + pull * (XW - XW_before)
            step = V - problem.gradient(V, XV, row_weights) / steepness
            W_new = problem.shrink(step, problem.sparsity_penalty / steepness)
            XW_new = problem.X @ W_new
            objective = problem.objective(W_new, XW_new)
            if objective <= objectives[-1]:
                break
            momentum = 1.0
            if pull == 0.0 or attempt > 0:
                steepness *= 2.0
            pull = 0.0
        else:
            break
        W_before, XW_before, W, XW = W, XW, W_new, XW_new
        momentum_before, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        row_weights = problem.row_weights(XW)
        objectives.append(objective)
        if objectives[-2] - objectives[-1] <= tol:
            break
    return Descent(W, tuple(objectives))


def _largest_eigenvalue(X: Matrix, row_weights: np.ndarray) -> float:
    """Largest eigenvalue of ``X' diag(row_weights) X`` by power iteration."""
    vector = np.abs(X).T @ row_weights + 1.0 / X.shape[1]
    value = 0.0
    for _ in range(100):
        vector = vector / np.linalg.norm(vector)
        vector = X.T @ (row_weights * (X @ vector))
        before, value = value, float(np.linalg.norm(vector))
        if value == 0.0 or value - before <= 1e-3 * value:
            break
    return value


def _spectral_norm(symmetric: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvalsh(symmetric)).max(initial=0.0))
