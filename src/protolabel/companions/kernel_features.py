"""Ridge regressions on the explicit features of a kernel, for any ridge at the cost of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from protolabel.companions.left_out import solved_by_groups
from protolabel.row_groups import Groups

# Keeps equal landmarks from making the kernel singular; far below the smallest ridge.
_JITTER = 1e-7
# Axes with less than this share of the largest variance are rounding.
_SMALLEST_VARIANCE = 1e-7
# Products of this many rows run in single precision, whose errors are far below the noise of
# the choice of a ridge by so many rows.
_MIN_ROWS_OF_SINGLE_PRECISION = 1000
# A row that decides its own value has no residual to divide by.
LARGEST_LEVERAGE = 1 - 1e-6


@dataclass(frozen=True)
class KernelFeatures:
    """Centred explicit features of a kernel in their principal axes, and labels to regress.

    Parameters
    ----------
    axes : ndarray of shape (n_samples, rank)
        Orthonormal columns.
    variances : ndarray of shape (rank,)
        Squared lengths of the features along the axes.
    to_landmarks : ndarray of shape (n_landmarks, rank)
        Takes coefficients of the axes to coefficients of the landmarks.
    offset : ndarray of shape (rank,)
        Mean of the features before they were centred.
    targets : ndarray of shape (n_samples, n_labels)
    on_axes : ndarray of shape (rank, n_labels)
        Centred targets along the axes.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.
    """

    axes: np.ndarray
    variances: np.ndarray
    to_landmarks: np.ndarray
    offset: np.ndarray
    targets: np.ndarray
    on_axes: np.ndarray
    groups: Groups = None

    @classmethod
    def of(
        cls,
        kernel: np.ndarray,
        of_landmarks: np.ndarray,
        targets: np.ndarray,
        groups: Groups = None,
    ) -> KernelFeatures:
        """Features whose products are the kernel of rows, as far as the landmarks tell.

        Parameters
        ----------
        kernel : ndarray of shape (n_samples, n_landmarks)
        of_landmarks : ndarray of shape (n_landmarks, n_landmarks)
        targets : ndarray of shape (n_samples, n_labels)
        groups : ndarray of int, shape (n_samples,), or None, default=None
        """
        n_samples, n_landmarks = kernel.shape
        dtype = precision_of(n_samples)
        root = scipy.linalg.cholesky(of_landmarks + _JITTER * np.eye(n_landmarks), lower=True)
        features = scipy.linalg.solve_triangular(
            root.astype(dtype), kernel.T.astype(dtype, copy=False), lower=True
        )
        offset = features.mean(axis=1, dtype=np.float64)
        features -= offset[:, None].astype(dtype)
        variances, rotation = scipy.linalg.eigh(features @ features.T, driver="evd")
        kept = variances > _SMALLEST_VARIANCE * max(variances[-1], 1e-30)
        variances, rotation = variances[kept], rotation[:, kept]
        axes = features.T @ (rotation / np.sqrt(variances))
        targets = targets.astype(dtype)
        return cls(
            axes=axes,
            variances=variances,
            to_landmarks=scipy.linalg.solve_triangular(root, rotation, lower=True, trans="T"),
            offset=offset @ rotation,
            targets=targets,
            on_axes=axes.T @ (targets - targets.mean(axis=0)),
            groups=groups,
        )

    def leave_one_out(self, ridge: float) -> np.ndarray:
        """Regression value of each row from the fit without it and its group."""
        centred = self.targets - self.targets.mean(axis=0)
        shrinkage = self.variances / (self.variances + ridge)
        fitted = self.axes @ (shrinkage[:, None] * self.on_axes)
        residuals = centred - fitted
        if self.groups is not None:
            residuals = self._without_groups(residuals, shrinkage)
        else:
            leverage = np.square(self.axes) @ shrinkage + 1 / len(centred)
            # The residual without the row is the residual over one minus its leverage.
            residuals = residuals / (1 - np.minimum(leverage, LARGEST_LEVERAGE)[:, None])
        return np.asarray(self.targets - residuals)

    def _without_groups(self, residuals: np.ndarray, shrinkage: np.ndarray) -> np.ndarray:
        """Residuals that rows would have without their group."""
        assert self.groups is not None

        def blocks(rows: np.ndarray) -> np.ndarray:
            axes = self.axes[rows].astype(np.float64)
            leverages = (axes * shrinkage) @ axes.mT + 1 / len(residuals)
            return np.asarray(np.eye(rows.shape[1]) - leverages)

        smallest, width = 1 - LARGEST_LEVERAGE, self.axes.shape[1]
        return solved_by_groups(self.groups, blocks, residuals, smallest, width)

    def error(self, ridge: float) -> float:
        """Squared error of the leave-one-out values."""
        return float(np.square(self.leave_one_out(ridge) - self.targets).sum(dtype=np.float64))

    def solve(self, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the landmarks and intercept."""
        weights = np.sqrt(self.variances) / (self.variances + ridge)
        along = weights[:, None] * self.on_axes.astype(np.float64)
        mean = self.targets.mean(axis=0, dtype=np.float64)
        return self.to_landmarks @ along, mean - self.offset @ along


def precision_of(n_rows: int) -> type[np.floating]:
    """Type of numbers that the products of so many rows are computed with."""
    return np.float64 if n_rows < _MIN_ROWS_OF_SINGLE_PRECISION else np.float32
