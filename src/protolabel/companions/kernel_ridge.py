"""Kernel ridge regression of the labels, chosen by its exact leave-one-out error.

Rows are compared with at most ``n_landmarks`` training rows by a Gaussian kernel. With as many
landmarks as rows this is kernel ridge regression, with fewer its Nystroem approximation. For
both, the scores that each training row would get from a fit without it have a closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions import MAX_ROWS
from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_features import KernelFeatures, precision_of
from protolabel.companions.label_priors import label_shares
from protolabel.companions.sparse_rows import dense_product, part_of, row_squares

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# In units of one over twice the squared mean distance of two rows.
PRECISIONS = (0.25, 1.0, 4.0, 16.0)
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# Rows that decide the precision: enough for its coarse grid, and cheap.
_ROWS_FOR_PRECISION = 1000
# Rows that decide the ridge where all are landmarks: few enough to factorise several times.
_ROWS_FOR_RIDGE = 3000
_ROWS_FOR_DISTANCE = 1000
# Regression values this close to 0 or 1 are as good as there: in standard deviations of a label,
# as the values of rare labels are all close to 0.
_SOFTNESS_IN_DEVIATIONS = 0.2
# Of models from before labels had their own.
_COMMON_SOFTNESS = 0.01
# Entries of a kernel in double precision at a time.
_CHUNK_CELLS = 2_000_000


@dataclass(frozen=True)
class KernelRidge:
    """A fitted kernel regression of the labels.

    Parameters
    ----------
    landmarks : ndarray or CSR of shape (n_landmarks, n_features)
    precision : float
        Factor of the squared distance in the exponent of the kernel.
    ridge : float
    coefficients : ndarray of shape (n_landmarks, n_labels)
    intercept : ndarray of shape (n_labels,)
    softness : ndarray of shape (n_labels,), default=0.01
        Of the link from regression values to log-odds, see :func:`log_odds`.
    """

    landmarks: Matrix
    precision: float
    ridge: float
    coefficients: np.ndarray
    intercept: np.ndarray
    softness: np.ndarray | float = _COMMON_SOFTNESS

    def scores(self, X: Matrix) -> np.ndarray:
        """Log-odds of every label, (n_samples, n_labels)."""
        return log_odds(self.regression(X), self.softness)

    def regression(self, X: Matrix) -> np.ndarray:
        """Regression values of every label; near 1 where it is present, near 0 where not."""
        values = np.empty((X.shape[0], len(self.intercept)))
        for part in _parts(X.shape[0], self.landmarks.shape[0]):
            squares = _distances_by_products(part_of(X, part), *self._transposed)
            kernel = np.exp(np.multiply(squares, -self.precision, out=squares), out=squares)
            values[part] = kernel @ self.coefficients + self.intercept
        return values

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _transposed(self) -> tuple[Matrix, np.ndarray]:
        """Landmarks as columns, and their squared lengths."""
        return _as_columns(self.landmarks)


def fit_kernel_ridge(
    X: Matrix, Y: sp.csr_array, rng: np.random.Generator, *, n_landmarks: int = 2000
) -> tuple[KernelRidge, np.ndarray]:
    """Fit a kernel regression and the log-odds each row gets from a fit without it.

    Precision and ridge are those with the smallest squared leave-one-out error on the rows that
    decide them: 1000 for the precision, and all for the ridge, or 3000 where all are landmarks.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Scaled rows.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
        Draws landmarks and the rows that decide precision and ridge.
    n_landmarks : int, default=2000

    Returns
    -------
    model : KernelRidge
    scores : ndarray of shape (n_samples, n_labels)
        Leave-one-out log-odds.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> model, scores = fit_kernel_ridge(X, sp.csr_array((X > 0).astype(int)), rng)
    >>> float(((scores > 0) == (X > 0)).mean()) > 0.9
    True
    """
    if X.shape[0] > MAX_ROWS:
        # The others only score: their labels are not needed, and their scores are honest.
        return _fit_on_part(X, Y, rng, n_landmarks)
    targets = Y.toarray().astype(np.float64)
    scale = _one_over_twice_mean_squared_distance(X[_some(X, _ROWS_FOR_DISTANCE, rng)])
    few = _some(X, _ROWS_FOR_PRECISION, rng)
    precision, ridge = _best_of_grid(X[few], targets[few], scale)
    landmarks = X[_some(X, n_landmarks, rng)]
    regression: ExactKernel | KernelFeatures
    if n_landmarks < X.shape[0]:
        regression = _features(X, landmarks, precision, targets)
        ridge = min(RIDGES, key=regression.error)
    else:
        some = _some(X, _ROWS_FOR_RIDGE, rng)
        regression = _exact(X[some], precision, targets[some])
        ridge = _descend(regression.error, RIDGES, start=RIDGES.index(ridge))
        if len(some) < X.shape[0]:
            regression = _exact(X, precision, targets)
    coefficients, intercept = regression.solve(ridge)
    shares = label_shares(Y)
    softness = _SOFTNESS_IN_DEVIATIONS * np.sqrt(shares * (1 - shares))
    model = KernelRidge(landmarks, precision, ridge, coefficients, intercept, softness)
    return model, log_odds(regression.leave_one_out(ridge).astype(np.float64), softness)


def _best_of_grid(X: Matrix, targets: np.ndarray, scale: float) -> tuple[float, float]:
    """Precision, in units of ``scale`` one of the grid, and ridge of the smallest error."""
    squares = _own_distances(X)
    found = []
    start = len(RIDGES) // 2
    for precision in (scale * factor for factor in PRECISIONS):
        kernel = np.exp(-precision * squares).astype(precision_of(len(squares)))
        regression = ExactKernel(kernel, targets)
        ridge = _descend(regression.error, RIDGES, start)
        start = RIDGES.index(ridge)
        found.append((regression.error(ridge), precision, ridge))
    _, precision, ridge = min(found)
    return precision, ridge


def _descend(error: Callable[[float], float], values: Sequence[float], start: int) -> float:
    """The lowest point of a valley, looked for from a good start."""
    best, lowest = start, error(values[start])
    for step in (-1, 1):
        place = start + step
        while best == place - step and 0 <= place < len(values):
            found = error(values[place])
            if found < lowest:
                best, lowest = place, found
            place += step
    return values[best]


def _fit_on_part(
    X: Matrix, Y: sp.csr_array, rng: np.random.Generator, n_landmarks: int
) -> tuple[KernelRidge, np.ndarray]:
    order = rng.permutation(X.shape[0])
    used, others = np.sort(order[:MAX_ROWS]), np.sort(order[MAX_ROWS:])
    model, used_scores = fit_kernel_ridge(X[used], Y[used], rng, n_landmarks=n_landmarks)
    scores = np.empty(Y.shape)
    scores[used] = used_scores
    scores[others] = model.scores(X[others])
    return model, scores


def log_odds(values: np.ndarray, softness: np.ndarray | float) -> np.ndarray:
    """Strictly increasing link from regression values to log-odds.

    Values below 0 and above 1, which a regression gives, keep their order; the smooth positive
    part (v + sqrt(v^2 + 4 softness^2)) / 2 lets them grow slowly.

    Examples
    --------
    >>> log_odds(np.array([0.5]), 0.01).tolist()
    [0.0]
    """
    ratio = _positive_part(values, softness) / _positive_part(1 - values, softness)
    return np.asarray(np.log(ratio))


def gaussian_kernel(
    X: Matrix, landmarks: Matrix, precision: float, dtype: type[np.floating] = np.float64
) -> np.ndarray:
    """exp(-precision * squared distance) of every row to every landmark."""
    kernel = np.empty((X.shape[0], landmarks.shape[0]), dtype)
    # In single precision the difference of large squares loses what is small.
    turned, squares_of_landmarks = _as_columns(landmarks)
    for part in _parts(X.shape[0], landmarks.shape[0]):
        squares = _distances_by_products(part_of(X, part), turned, squares_of_landmarks)
        kernel[part] = np.exp(np.multiply(squares, -precision, out=squares), out=squares)
    return kernel


def _features(
    X: Matrix, landmarks: Matrix, precision: float, targets: np.ndarray
) -> KernelFeatures:
    return KernelFeatures.of(
        gaussian_kernel(X, landmarks, precision, precision_of(X.shape[0])),
        gaussian_kernel(landmarks, landmarks, precision),
        targets,
    )


def _exact(X: Matrix, precision: float, targets: np.ndarray) -> ExactKernel:
    kernel = _own_distances(X, precision_of(X.shape[0]))
    kernel *= -precision
    return ExactKernel(np.exp(kernel, out=kernel), targets)


def _own_distances(X: Matrix, dtype: type[np.floating] = np.float64) -> np.ndarray:
    """Squared distances of all pairs of rows, each computed once."""
    squares = np.empty((X.shape[0], X.shape[0]), dtype)
    for part in _parts(X.shape[0], X.shape[0]):
        found = _distances_by_products(part_of(X, part), *_as_columns(X[part.start :]))
        squares[part, part.start :] = found
        squares[part.start :, part] = found.T
    return squares


def _some(X: Matrix, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of some rows in rising order, or of all of them."""
    return np.sort(rng.permutation(X.shape[0])[:n_rows])


def _one_over_twice_mean_squared_distance(rows: Matrix) -> float:
    if rows.shape[0] < 2:
        return 1.0
    squares = _own_distances(rows)
    mean = float(np.sqrt(squares).sum() / (squares.size - len(squares)))
    return 1 / (2 * mean**2) if mean > 0 else 1.0


def _parts(n_rows: int, n_landmarks: int) -> Iterator[slice]:
    """Rows whose kernel is computed at once."""
    step = max(1, _CHUNK_CELLS // max(n_landmarks, 1))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


def _distances_by_products(X: Matrix, turned: Matrix, squares: np.ndarray) -> np.ndarray:
    """Squared distances to the columns of ``turned``, whose squared lengths are known."""
    X = X.astype(np.float64, copy=False)
    is_sparse = sp.issparse(X) and sp.issparse(turned)
    found = dense_product(X, turned) if is_sparse else np.asarray(X @ turned)
    found *= -2
    found += squares
    found += row_squares(X)[:, None]
    return np.asarray(np.maximum(found, 0.0, out=found))


def _as_columns(rows: Matrix) -> tuple[Matrix, np.ndarray]:
    """Rows as columns in double precision, and their squared lengths."""
    rows = rows.astype(np.float64)
    turned = rows.T.tocsr() if sp.issparse(rows) else rows.T
    return turned, row_squares(rows)


def _positive_part(values: np.ndarray, softness: np.ndarray | float) -> np.ndarray:
    square = np.square(softness)
    roots = np.sqrt(np.square(values) + 4 * square)
    # For negative values the sum would cancel; its conjugate does not.
    conjugate = 2 * square / (roots + np.abs(values))
    return np.asarray(np.where(values > 0, (values + roots) / 2, conjugate))
