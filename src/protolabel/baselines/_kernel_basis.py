"""Gaussian kernels of many rows, and the directions in which kernel regression is diagonal.

With ``k`` the centred kernel matrix of the training rows and ``U`` its eigenvectors, ridge
regression with a free intercept shrinks each direction on its own, whatever the ridge. One
eigendecomposition therefore serves every ridge and every target. For many rows the kernel is
replaced by its Nystroem approximation through a sample of landmark rows, which has the same
form with fewer directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_CHUNK_CELLS = 2**23
_SAMPLED_PAIRS = 200_000
_RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class KernelBasis:
    """Training targets in the eigenvectors of a centred kernel.

    The regression with ridge ``r`` of targets whose part in the basis is ``t`` has the value
    ``(kernel(x, rows) - means) @ directions @ (t / (eigenvalues + r)) + target_mean``.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_rows, n_features)
        Training rows, or landmarks.
    bandwidth : float
    means : ndarray of shape (n_rows,)
        Mean kernel of all training rows with each of ``rows``.
    directions : ndarray of shape (n_rows, n_directions)
    eigenvalues : ndarray of shape (n_directions,)
    targets : ndarray of shape (n_directions, n_labels)
        Centred targets in the basis.
    target_mean : ndarray of shape (n_labels,)
    """

    rows: Matrix
    bandwidth: float
    means: np.ndarray
    directions: np.ndarray
    eigenvalues: np.ndarray
    targets: np.ndarray
    target_mean: np.ndarray

    def project(self, X: Matrix) -> np.ndarray:
        """Coordinates of new rows, (n_samples, n_directions)."""
        projected = np.empty((X.shape[0], len(self.eigenvalues)))
        for part, kernel in kernel_chunks(X, self.rows, self.bandwidth):
            projected[part] = (kernel - self.means) @ self.directions
        return projected


def exact_basis(X: Matrix, targets: np.ndarray) -> KernelBasis:
    """Diagonalise the centred kernel of all rows; takes memory for two square matrices."""
    kernel, bandwidth = _kernel_matrix(X)
    means = kernel.mean(axis=0)
    kernel -= means
    kernel -= means[:, None]
    kernel += means.mean()
    eigenvalues, vectors = eigh(kernel, driver="evr", overwrite_a=True, check_finite=False)
    target_mean = targets.mean(axis=0)
    return KernelBasis(
        rows=X,
        bandwidth=bandwidth,
        means=means,
        directions=vectors,
        eigenvalues=np.maximum(eigenvalues, 0.0),
        targets=vectors.T @ (targets - target_mean),
        target_mean=target_mean,
    )


def nystroem_basis(
    X: Matrix, targets: np.ndarray, n_landmarks: int, rng: np.random.Generator
) -> KernelBasis:
    """Diagonalise the approximation of the kernel by a random sample of rows."""
    n_samples = X.shape[0]
    chosen = np.sort(rng.choice(n_samples, size=min(n_landmarks, n_samples), replace=False))
    landmarks = X[chosen]
    bandwidth = sampled_mean_distance(X, _SAMPLED_PAIRS, rng)
    # Features whose inner products are the approximate kernel: kernel(x, landmarks) @ whiten.
    values, vectors = eigh(gaussian_kernel(landmarks, landmarks, bandwidth), driver="evr")
    kept = values > _RANK_TOLERANCE * values.max()
    whiten = vectors[:, kept] / np.sqrt(values[kept])
    n_features = whiten.shape[1]
    kernel_sum = np.zeros(len(chosen))
    scatter = np.zeros((n_features, n_features))
    by_target = np.zeros((n_features, targets.shape[1]))
    target_mean = targets.mean(axis=0)
    for part, kernel in kernel_chunks(X, landmarks, bandwidth):
        features = kernel @ whiten
        kernel_sum += kernel.sum(axis=0)
        scatter += features.T @ features
        by_target += features.T @ (targets[part] - target_mean)
    means = kernel_sum / n_samples
    scatter -= n_samples * np.outer(means @ whiten, means @ whiten)
    eigenvalues, turn = eigh(scatter, driver="evr", overwrite_a=True)
    kept = eigenvalues > _RANK_TOLERANCE * max(eigenvalues.max(), _RANK_TOLERANCE)
    eigenvalues, turn = eigenvalues[kept], turn[:, kept]
    return KernelBasis(
        rows=landmarks,
        bandwidth=bandwidth,
        means=means,
        directions=whiten @ (turn * np.sqrt(eigenvalues)),
        eigenvalues=eigenvalues,
        targets=(turn.T @ by_target) / np.sqrt(eigenvalues)[:, None],
        target_mean=target_mean,
    )


def gaussian_kernel(X: Matrix, rows: Matrix, bandwidth: float) -> np.ndarray:
    """``exp(-||x - row||^2 / (2 bandwidth^2))`` for all pairs."""
    kernel = _squared_distances(X, rows)
    kernel *= -1 / (2 * bandwidth**2)
    return np.asarray(np.exp(kernel, out=kernel))


def kernel_chunks(X: Matrix, rows: Matrix, bandwidth: float) -> Iterator[tuple[slice, np.ndarray]]:
    """Kernel of X with rows, a bounded block of X at a time."""
    for part in _parts(X.shape[0], rows.shape[0]):
        yield part, gaussian_kernel(X[part], rows, bandwidth)


def sampled_mean_distance(X: Matrix, n_pairs: int, rng: np.random.Generator) -> float:
    """Mean distance of random pairs of different rows; one if all rows are the same."""
    n_samples = X.shape[0]
    if n_samples < 2:
        return 1.0
    first = rng.integers(n_samples, size=n_pairs)
    second = (first + rng.integers(1, n_samples, size=n_pairs)) % n_samples
    total = 0.0
    for part in _parts(n_pairs, X.shape[1]):
        difference = X[first[part]] - X[second[part]]
        squares = difference.multiply(difference) if sp.issparse(X) else difference**2
        total += float(np.sqrt(np.asarray(squares.sum(axis=1))).sum())
    return total / n_pairs or 1.0


def _kernel_matrix(X: Matrix) -> tuple[np.ndarray, float]:
    """Kernel of all rows with the mean distance of different rows as its bandwidth."""
    n_samples = X.shape[0]
    kernel = np.empty((n_samples, n_samples))
    total = 0.0
    for part in _parts(n_samples, n_samples):
        kernel[part] = _squared_distances(X[part], X)
        own = np.arange(part.start, part.stop)
        kernel[own, own] = 0.0
        total += float(np.sqrt(kernel[part]).sum())
    bandwidth = total / max(n_samples * (n_samples - 1), 1) or 1.0
    kernel *= -1 / (2 * bandwidth**2)
    return np.exp(kernel, out=kernel), bandwidth


def _squared_distances(A: Matrix, B: Matrix) -> np.ndarray:
    product = A @ B.T
    distances = product.toarray() if sp.issparse(product) else product
    distances *= -2.0
    distances += _squared_norms(A)[:, None]
    distances += _squared_norms(B)
    return np.asarray(np.maximum(distances, 0.0, out=distances))


def _squared_norms(X: Matrix) -> np.ndarray:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _parts(n_rows: int, width: int) -> Iterator[slice]:
    """Slices of rows whose matrix of the given width has a bounded size."""
    size = max(1, _CHUNK_CELLS // max(width, 1))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
