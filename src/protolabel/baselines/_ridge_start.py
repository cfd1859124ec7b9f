"""Ridge regression of all labels at once, the start of JFSC."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from protolabel.baselines._twin_gram import inner_products, weighted_gram

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_LARGEST_SYSTEM = 3000


def ridge_weights(X: Matrix, Y: np.ndarray, penalty: float) -> np.ndarray:
    """``(X'X + penalty I)^-1 X'Y``: by Cholesky in the smaller dimension, or conjugate gradients.

    Examples
    --------
    >>> ridge_weights(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]]), 5.0).tolist()
    [[0.5]]
    """
    n_samples, dim = X.shape
    if min(n_samples, dim) > _LARGEST_SYSTEM:
        return ridge_by_conjugate_gradients(X, Y, penalty)
    if dim <= n_samples:
        gram = weighted_gram(X, np.ones(n_samples))
        gram[np.diag_indices_from(gram)] += penalty
        return np.asarray(cho_solve(cho_factor(gram, lower=True), X.T @ Y))
    kernel = inner_products(X)
    kernel[np.diag_indices_from(kernel)] += penalty
    return np.asarray(X.T @ cho_solve(cho_factor(kernel, lower=True), Y))


def ridge_by_conjugate_gradients(
    X: Matrix, Y: np.ndarray, penalty: float, *, tol: float = 1e-6, max_iter: int = 500
) -> np.ndarray:
    """Solve the same systems by conjugate gradients, side by side, with X as it is."""
    residual = np.asarray(X.T @ Y)
    W = np.zeros_like(residual)
    direction = residual.copy()
    squares = np.sum(residual**2, axis=0)
    goal = tol**2 * squares
    for _ in range(max_iter):
        is_open = squares > goal
        if not is_open.any():
            break
        image = X.T @ (X @ direction) + penalty * direction
        curvature = np.sum(direction * image, axis=0)
        step = np.where(is_open, squares / np.where(is_open, curvature, 1.0), 0.0)
        W += step * direction
        residual -= step * image
        before, squares = squares, np.sum(residual**2, axis=0)
        direction = residual + direction * (squares / np.where(is_open, before, 1.0))
    return W
