"""Checks of score matrices and labels shared by the threshold and calibration code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolabel.metrics._inputs import as_indicator

SMALLEST_PROBABILITY = 1e-9


def as_score_matrix(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores as a float64 matrix; infinite scores are allowed, NaN is not."""
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"scores has shape {matrix.shape}, expected (n_samples, n_labels).")
    n_missing = int(np.isnan(matrix).sum())
    if n_missing:
        raise ValueError(
            f"scores contains {n_missing} NaN value(s); thresholds need a score for every row and "
            "label, so check that each row was scored by a model."
        )
    return matrix


def as_label_matrix(Y: Any, shape: tuple[int, ...]) -> Any:
    """Return 0/1 labels as a CSR array of the shape of the scores."""
    truth = as_indicator(Y, "Y")
    if truth.shape != shape:
        raise ValueError(
            f"Y has shape {truth.shape} but scores has shape {shape}; "
            "pass labels and scores of the same rows and label set."
        )
    return truth


def keep_finite(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace infinite scores by values just outside the finite ones, so that midpoints exist."""
    finite = scores[np.isfinite(scores)]
    if finite.size == scores.size:
        return scores
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    return np.nan_to_num(scores, neginf=low - 1.0, posinf=high + 1.0)


def keep_off_the_ends(probabilities: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Keep probabilities off 0 and 1, so that their logits and log-losses are finite."""
    values = np.asarray(probabilities, dtype=np.float64)
    return np.clip(values, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)


def subsample_rows(
    scores: NDArray[np.float64], truth: Any, max_cells: int, rng: np.random.Generator | None
) -> tuple[NDArray[np.float64], Any]:
    """Keep as many random rows as fit into the cell budget."""
    n_samples, n_labels = scores.shape
    n_kept = max(1, max_cells // n_labels)
    if n_kept >= n_samples:
        return scores, truth
    generator = np.random.default_rng(0) if rng is None else rng
    rows = np.sort(generator.choice(n_samples, size=n_kept, replace=False))
    return scores[rows], truth[rows]
