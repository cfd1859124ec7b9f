"""How labels rebuild each other: the sparse collaboration matrix of CAMEL.

Column j holds the lasso coefficients that rebuild label j, coded as -1 and +1, from all other
labels; its diagonal is zero. All columns are solved side by side by cyclic coordinate descent
on the Gram matrix of the labels, whose diagonal is the number of rows. Rare labels make the
columns of -1 and +1 nearly equal, on which coordinate descent alone takes thousands of sweeps;
a step to the optimum of the current signs after each sweep leaves it to find the support.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

_PENALTY_SHARE = 0.01
_GAP_TOLERANCE = 1e-8
_MAX_SWEEPS = 1000
_JITTER = 1e-12


def label_collaboration(signs: np.ndarray) -> np.ndarray:
    """Rebuild every label from the others by a lasso.

    Column j minimises ``1/2 ||signs s - signs[:, j]||^2 + penalty_j ||s||_1`` with ``s[j] = 0``,
    where ``penalty_j`` is a hundredth of the largest inner product of label j and another label.
    A column is done when its duality gap is below 1e-8 of ``1/2 ||signs[:, j]||^2``.

    Parameters
    ----------
    signs : ndarray of shape (n_samples, n_labels)
        Labels coded as -1 and +1.

    Returns
    -------
    ndarray of shape (n_labels, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> signs = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0]])
    >>> label_collaboration(signs).round(2).tolist()
    [[0.0, 0.99], [0.99, 0.0]]
    """
    n_samples, n_labels = signs.shape
    gram = (signs.T @ signs) / n_samples  # unit diagonal
    penalties = _PENALTY_SHARE * np.abs(gram - np.eye(n_labels)).max(axis=1, initial=0.0)
    # Rows are targets here, so that a step touches contiguous memory.
    found = np.zeros((n_labels, n_labels))
    targets = np.arange(n_labels)
    coefficients, slopes = np.zeros_like(found), gram.copy()
    for _ in range(_MAX_SWEEPS):
        _sweep(coefficients, slopes, gram, penalties, targets)
        for row, target in enumerate(targets):
            _solve_signs(coefficients[row], gram, gram[target], penalties[row])
        slopes = gram[targets] - coefficients @ gram
        gaps = _duality_gaps(coefficients, slopes, gram, penalties, targets)
        found[targets] = coefficients
        open_ = gaps > _GAP_TOLERANCE / 2
        if not open_.any():
            return found.T
        targets, penalties = targets[open_], penalties[open_]
        coefficients, slopes = coefficients[open_], slopes[open_]
    warnings.warn(
        f"The collaboration of {len(targets)} labels has a duality gap of up to "
        f"{gaps.max():.1e} after {_MAX_SWEEPS} sweeps; expected {_GAP_TOLERANCE / 2:.1e}. The "
        "matrix is used as it is; labels that are copies of each other are the usual cause.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return found.T


def _sweep(
    coefficients: np.ndarray,
    slopes: np.ndarray,
    gram: np.ndarray,
    penalties: np.ndarray,
    targets: np.ndarray,
) -> None:
    """Update each coordinate of all open targets once, in place."""
    for label in range(len(gram)):
        free = slopes[:, label] + coefficients[:, label]
        new = np.sign(free) * np.maximum(np.abs(free) - penalties, 0.0)
        new[targets == label] = 0.0
        change = new - coefficients[:, label]
        moved = np.flatnonzero(change)
        if len(moved):
            slopes[moved] -= change[moved, None] * gram[label]
            coefficients[moved, label] = new[moved]


def _solve_signs(
    coefficients: np.ndarray, gram: np.ndarray, products: np.ndarray, penalty: float
) -> None:
    """Move one target towards the optimum of its signs, in place.

    The objective is quadratic as long as no sign changes. A coefficient that would change its
    sign stops the move at zero and leaves the support, so the objective never rises.
    """
    support = np.flatnonzero(coefficients)
    while len(support):
        current = coefficients[support]
        block = gram[np.ix_(support, support)] + _JITTER * np.eye(len(support))
        optimum = np.linalg.solve(block, products[support] - penalty * np.sign(current))
        crossing = np.flatnonzero(optimum * current <= 0)
        if not len(crossing):
            coefficients[support] = optimum
            return
        shares = current[crossing] / (current[crossing] - optimum[crossing])
        coefficients[support] = current + shares.min() * (optimum - current)
        coefficients[support[crossing[shares.argmin()]]] = 0.0
        support = np.flatnonzero(coefficients)


def _duality_gaps(
    coefficients: np.ndarray,
    slopes: np.ndarray,
    gram: np.ndarray,
    penalties: np.ndarray,
    targets: np.ndarray,
) -> np.ndarray:
    """Gap of each target between its objective and a dual bound, both divided by the rows."""
    rows = np.arange(len(targets))
    residual_by_target = slopes[rows, targets]
    fitted = (coefficients * (gram[targets] - slopes)).sum(axis=1)
    squares = residual_by_target - (coefficients * gram[targets]).sum(axis=1) + fitted
    others = np.abs(slopes)
    others[rows, targets] = 0.0
    largest = others.max(axis=1)
    scale = np.minimum(1.0, penalties / np.where(largest > 0, largest, 1.0))
    scale[largest == 0] = 1.0
    return np.asarray(
        squares * (1 + scale**2) / 2
        + penalties * np.abs(coefficients).sum(axis=1)
        - scale * residual_by_target
    )
