"""Label relations of JFSC: how unlike labels are, and how a label's classes scatter.

With class means m+ and m- of a label that has p positive and q negative rows,
``S = sum_+ (x - m+)(x - m+)' + (p/q) sum_- (x - m-)(x - m-)' - p (m+ - m-)(m+ - m-)'``:
small where each class keeps to its centre and the centres are apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_POWER_STEPS = 50


def label_unlikeness(Y: np.ndarray) -> np.ndarray:
    """One minus the cosine similarity of label columns (R), with a diagonal of zeros.

    A label without positive rows is unlike every other.

    Examples
    --------
    >>> label_unlikeness(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    together = Y.T @ Y
    counts = np.diag(together)
    lengths = np.sqrt(np.outer(counts, counts))
    unlikeness = np.asarray(1.0 - together / np.where(lengths > 0, lengths, 1.0))
    np.fill_diagonal(unlikeness, 0.0)
    return unlikeness


@dataclass(frozen=True)
class DiagonalScatter:
    """The diagonals of all S, one column a label: A of shape (dim, n_labels)."""

    diagonals: np.ndarray

    @classmethod
    def of(cls, X: Matrix, Y: np.ndarray) -> DiagonalScatter:
        """Measure rows; a label with one side only has no scatter."""
        sides = _Sides.of(X, Y)
        squares = X.multiply(X) if sp.issparse(X) else X * X
        positive = squares.T @ Y
        negative = np.asarray(squares.sum(axis=0)).reshape(-1, 1) - positive
        within = positive - sides.n_positive * sides.positive_mean**2
        within += sides.ratio * (negative - sides.n_negative * sides.negative_mean**2)
        between = sides.n_positive * (sides.positive_mean - sides.negative_mean) ** 2
        return cls(np.where(sides.has_both, within - between, 0.0))

    def multiply(self, V: np.ndarray, XV: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """``S_k v_k`` of every label, as columns."""
        return np.asarray(self.diagonals * V)

    def quadratic(self, V: np.ndarray, XV: np.ndarray) -> float:  # noqa: ARG002
        """Sum over the labels of ``v_k' S_k v_k``."""
        return float(np.sum(self.diagonals * V * V))

    def largest_curvature(self) -> float:
        """Largest absolute eigenvalue of all S."""
        return float(np.abs(self.diagonals).max(initial=0.0))


@dataclass(frozen=True)
class FullScatter:
    """All S by their action on vectors; no matrix of dim by dim is formed."""

    rows: Matrix
    row_weights: np.ndarray
    sides: _Sides

    @classmethod
    def of(cls, X: Matrix, Y: np.ndarray) -> FullScatter:
        """Measure rows; a label with one side only has no scatter."""
        sides = _Sides.of(X, Y)
        weights = np.where(sides.has_both, Y + sides.ratio * (1.0 - Y), 0.0)
        return cls(X, weights, sides)

    def multiply(self, V: np.ndarray, XV: np.ndarray) -> np.ndarray:
        """``S_k v_k`` of every label, as columns; ``XV`` is X times V."""
        product = self.rows.T @ (self.row_weights * XV)
        for weight, centre in self._rank_one_terms():
            product -= centre * (weight * np.sum(centre * V, axis=0))
        return np.asarray(product)

    def quadratic(self, V: np.ndarray, XV: np.ndarray) -> float:
        """Sum over the labels of ``v_k' S_k v_k``."""
        total = float(np.sum(self.row_weights * XV * XV))
        for weight, centre in self._rank_one_terms():
            total -= float(np.sum(weight * np.sum(centre * V, axis=0) ** 2))
        return total

    def largest_curvature(self) -> float:
        """Largest absolute eigenvalue of all S, by power iterations side by side."""
        dim, n_labels = self.sides.positive_mean.shape
        # The same start for every label: their order must not matter.
        V = np.tile(np.random.default_rng(0).normal(size=(dim, 1)), n_labels)
        largest = 0.0
        for _ in range(_POWER_STEPS):
            norms = np.linalg.norm(V, axis=0)
            V = V / np.where(norms > 0, norms, 1.0)
            V = self.multiply(V, self.rows @ V)
            before, largest = largest, float(np.linalg.norm(V, axis=0).max(initial=0.0))
            if largest - before <= 1e-3 * largest:
                break
        return largest

    def _rank_one_terms(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        sides = self.sides
        p = np.where(sides.has_both, sides.n_positive, 0.0)  # (n_labels,)
        # The weight of the negative mean is (p/q) q = p.
        return (
            (p, sides.positive_mean),
            (p, sides.negative_mean),
            (p, sides.positive_mean - sides.negative_mean),
        )


@dataclass(frozen=True)
class _Sides:
    """Counts and means of the two classes of each label; means have one column a label."""

    n_positive: np.ndarray
    n_negative: np.ndarray
    positive_mean: np.ndarray
    negative_mean: np.ndarray

    @classmethod
    def of(cls, X: Matrix, Y: np.ndarray) -> _Sides:
        n_positive = Y.sum(axis=0)
        n_negative = Y.shape[0] - n_positive
        positive_sum = np.asarray(X.T @ Y)
        negative_sum = np.asarray(X.sum(axis=0)).reshape(-1, 1) - positive_sum
        return cls(
            n_positive,
            n_negative,
            positive_sum / np.maximum(n_positive, 1.0),
            negative_sum / np.maximum(n_negative, 1.0),
        )

    @property
    def ratio(self) -> np.ndarray:
        return np.asarray(self.n_positive / np.maximum(self.n_negative, 1.0))

    @property
    def has_both(self) -> np.ndarray:
        return np.asarray((self.n_positive > 0) & (self.n_negative > 0))
