"""Rows and labels as training reads them: from memory, or from disk when a step asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from protolabel.datasets.row_source import CheckedRows
from protolabel.pnml.label_rows import LabelRows, SparseLabels
from protolabel.pnml.rows import FeatureRows, feature_rows
from protolabel.pnml.settings import PNMLSettings
from protolabel.pnml.stored_rows import StoredRows
from protolabel.preprocessing.features import FeatureScaler, Scaling

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Companions, calibration and thresholds see at least so many rows, where there are as many.
MIN_JUDGED_ROWS = 1000
# A label matrix with more cells is kept in compressed rows where training allows it.
_MAX_DENSE_LABEL_CELLS = 2**25
# Of rows that stay on disk, so much is read to judge by.
_JUDGED_BYTES = 2**26


@dataclass(frozen=True)
class TrainingTable:
    """Scaled training rows: as the network reads them, and some of them as a matrix."""

    scaler: FeatureScaler
    rows: FeatureRows
    scaled: Callable[[np.ndarray | slice], Matrix]
    max_judged: int


def open_table(
    X: Matrix,
    used: np.ndarray,
    settings: PNMLSettings,
    scaling: Scaling,
    device: torch.device,
) -> TrainingTable:
    """Scale the used rows of X, in parts where they stay on disk."""
    scaler = FeatureScaler(scaling)
    if not isinstance(X, CheckedRows):
        X_scaled = scaler.fit_transform(X if used.all() else X[used])
        rows = feature_rows(X_scaled, device)
        return TrainingTable(scaler, rows, X_scaled.__getitem__, X_scaled.shape[0])
    if settings.prototypes != "single" or settings.prototype_update != "stale":
        raise ValueError(
            f"prototypes={settings.prototypes!r} with prototype_update="
            f"{settings.prototype_update!r} needs all rows at once, but X stays on disk. Use "
            "prototypes='single' and prototype_update='stale', or read X into memory."
        )
    positions = np.flatnonzero(used)
    scaler.fit_parts(X.parts(positions))
    return TrainingTable(
        scaler,
        StoredRows(X.read_rows, scaler.transform, positions, scaler.n_columns, device),
        lambda chosen: scaler.transform(X.read_rows(positions[chosen])),
        max(X.rows_of(_JUDGED_BYTES), MIN_JUDGED_ROWS),
    )


def rows_at(X: Matrix, chosen: np.ndarray) -> Matrix:
    """The rows of a mask, read into memory."""
    return X.read_rows(np.flatnonzero(chosen)) if isinstance(X, CheckedRows) else X[chosen]


def label_tensor(Y: sp.csr_array, device: torch.device) -> torch.Tensor:
    """Labels as a dense matrix of 0 and 1."""
    return torch.from_numpy(Y.toarray()).to(device, torch.float32)


def label_rows(Y: sp.csr_array, settings: PNMLSettings, device: torch.device) -> LabelRows:
    """Labels to train on: dense where they are small, or needed as such."""
    by_batch = settings.prototypes == "single" and settings.prototype_update == "stale"
    if by_batch and settings.shared_embedding and np.prod(Y.shape) > _MAX_DENSE_LABEL_CELLS:
        return SparseLabels.of(Y, device)
    return label_tensor(Y, device)
