"""How far predicted probabilities are from observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protolabel.metrics._inputs import Labels, as_indicator, as_scores


@dataclass(frozen=True)
class ReliabilityCurve:
    """Observed frequency against predicted probability, in bins; empty bins are left out.

    Parameters
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability of the cells of a bin.
    observed : ndarray of shape (n_bins,)
        Fraction of the cells of a bin that are true.
    counts : ndarray of int, shape (n_bins,)
        Cells in a bin.
    """

    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Mean distance of observed from predicted, weighted by the cells of the bins."""
        gap = np.abs(self.predicted - self.observed)
        return float((gap * self.counts).sum() / self.counts.sum())


def reliability_curve(
    Y_true: Labels, probabilities: ArrayLike, *, n_bins: int = 15, strategy: str = "uniform"
) -> ReliabilityCurve:
    """Compare predicted probabilities with observed frequencies over all cells.

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    probabilities : array-like of shape (n_samples, n_labels)
        Predicted probabilities.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equally many cells. With rare labels nearly all cells lie
        in the first uniform bin; quantile bins show what happens there.

    Returns
    -------
    ReliabilityCurve
        The bins that hold cells.

    Examples
    --------
    >>> from protolabel.metrics import reliability_curve
    >>> reliability_curve([[1, 0], [1, 0]], [[0.9, 0.1], [0.9, 0.1]]).observed
    array([0., 1.])
    """
    truth = as_indicator(Y_true, "Y_true")
    values = _as_probabilities(probabilities, truth.shape, Y_true)
    return _curve(truth.toarray().ravel(), values.ravel(), n_bins, strategy)


def expected_calibration_error(
    Y_true: Labels,
    probabilities: ArrayLike,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    average: str = "micro",
) -> float:
    """Mean distance between predicted probability and observed frequency (ECE).

    Parameters
    ----------
    Y_true : array-like or sparse of shape (n_samples, n_labels)
        True 0/1 labels.
    probabilities : array-like of shape (n_samples, n_labels)
        Predicted probabilities.
    n_bins : int, default=15
        Number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equally many cells.
    average : {"micro", "macro"}, default="micro"
        Over all cells pooled, or the mean of the labels' errors.

    Returns
    -------
    float
        Between 0 and 1, smaller is better.

    Examples
    --------
    >>> from protolabel.metrics import expected_calibration_error
    >>> round(expected_calibration_error([[1, 0], [1, 0]], [[0.9, 0.1], [0.9, 0.1]]), 3)
    0.1
    """
    truth = as_indicator(Y_true, "Y_true")
    values = _as_probabilities(probabilities, truth.shape, Y_true)
    dense = truth.toarray()
    if average == "micro":
        return _curve(dense.ravel(), values.ravel(), n_bins, strategy).error
    if average == "macro":
        errors = [
            _curve(dense[:, label], values[:, label], n_bins, strategy).error
            for label in range(truth.shape[1])
        ]
        return float(np.mean(errors))
    raise ValueError(f"average is {average!r}, expected 'micro' or 'macro'.")


def _curve(
    truth: NDArray[np.int64], values: NDArray[np.float64], n_bins: int, strategy: str
) -> ReliabilityCurve:
    """Bin flat cells."""
    if n_bins < 1:
        raise ValueError(f"n_bins is {n_bins}, expected at least 1.")
    if strategy == "uniform":
        inner = np.linspace(0, 1, n_bins + 1)[1:-1]
    elif strategy == "quantile":
        inner = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)[1:-1]))
    else:
        raise ValueError(f"strategy is {strategy!r}, expected 'uniform' or 'quantile'.")
    bins = np.searchsorted(inner, values, side="left")
    counts = np.bincount(bins, minlength=inner.size + 1)
    filled = counts > 0
    predicted = np.bincount(bins, values, minlength=counts.size)[filled] / counts[filled]
    observed = np.bincount(bins, truth, minlength=counts.size)[filled] / counts[filled]
    return ReliabilityCurve(predicted, observed, counts[filled])


def _as_probabilities(
    probabilities: ArrayLike, shape: tuple[int, int], Y_true: Labels
) -> NDArray[np.float64]:
    """Check that the scores are probabilities."""
    values = as_scores(probabilities, shape, Y_true).astype(np.float64)
    if values.min() < 0 or values.max() > 1:
        raise ValueError(
            f"probabilities lie between {values.min():.3g} and {values.max():.3g}, expected "
            "[0, 1]; pass predict_proba, not decision_function."
        )
    return values
