"""Exact gradients of the log-odds by the scaled features: networks and kernel regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import DenseRows
from protolabel.torch_state import gradients_on

# Scaled features that are closer than this are equal.
_SMALLEST_STEP = 1e-12


@gradients_on()
def network_gradients(
    network: PrototypeNetwork, points: np.ndarray, columns: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Gradients of the mean log-odds of the networks, by automatic differentiation.

    Parameters
    ----------
    network : PrototypeNetwork
    points : ndarray of shape (n_points, n_features)
        Scaled rows.
    columns : ndarray of int, shape (n_columns,)
        Features to differentiate by.
    labels : ndarray of int, shape (n_wanted,)
        Positions of labels.

    Returns
    -------
    ndarray of shape (n_wanted, n_points, n_columns)
        Zero for a label that no network knows.
    """
    dtype, device = network.embedding.weight.dtype, network.positions.device
    values = torch.from_numpy(points).to(device, dtype)
    part = torch.from_numpy(columns).to(device)
    moving = values[:, part].requires_grad_()
    rest = values.clone()
    rest[:, part] = 0
    rows = _PartlyMovingRows(rest, moving, part)
    logits = network.logits(network.embedding(rows), network.prototypes)
    active = network.active[:, None, :].to(dtype)
    if not network.settings.shared_embedding:
        shape = (network.n_members, network.n_labels, -1)
        logits, active = logits.reshape(shape).mT, active.reshape(shape).mT
    # A member that does not know a label has no say, also not as infinity times zero.
    known = torch.where(active > 0, logits, 0.0).sum(0)
    mean = known / active.sum(0).clamp_min(1)  # (n_points, n_labels)
    gradients = [
        torch.autograd.grad(mean[:, int(label)].sum(), moving, retain_graph=True)[0]
        for label in labels
    ]
    return np.stack([gradient.cpu().double().numpy() for gradient in gradients])


def kernel_gradients(
    model: KernelRidge,
    points: np.ndarray,
    columns: np.ndarray,
    labels: np.ndarray,
    steps: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Gradients of the log-odds of the kernel regression, in closed form.

    Parameters and result are those of :func:`network_gradients`, and ``steps`` (n_columns,), of
    which the points are the middles: signs, which jump, are averaged over them. With kernel values
    k_i and coefficients c_i the regression value has the gradient
    -2 precision (x sum(c_i k_i) - sum(c_i k_i l_i)), or -precision sum(c_i k_i sign(x - l_i))
    where distances are absolute, times the factors of the columns, and the link the derivative
    1 / sqrt(v^2 + 4 s^2) + 1 / sqrt((1 - v)^2 + 4 s^2).
    """
    kernel = model.kernel(points)  # (n_points, n_landmarks)
    coefficients = model.coefficients[:, labels]
    offsets = 4 * np.square(np.broadcast_to(model.softness, model.intercept.shape)[labels])
    values = kernel @ coefficients + model.intercept[labels]
    slopes = 1 / np.sqrt(values**2 + offsets) + 1 / np.sqrt((1 - values) ** 2 + offsets)
    at, landmarks = points[:, columns], model.landmarks[:, columns]
    if model.distance == "absolute":
        away = _signs_away(at, kernel, coefficients, landmarks, steps)
    else:
        away = _differences_away(at, kernel, coefficients, landmarks)
    factors = -model.precision * model.column_factors[columns]
    return np.asarray(factors * slopes.T[:, :, None] * away)


def _differences_away(
    points: np.ndarray, kernel: np.ndarray, coefficients: np.ndarray, landmarks: Any
) -> np.ndarray:
    """2 sum(c_i k_i (x - l_i)) of every label, (n_wanted, n_points, n_columns)."""
    away = np.empty((coefficients.shape[1], *points.shape))
    for of_label, found in zip(coefficients.T, away, strict=True):
        pulls = kernel * of_label
        found[:] = 2 * (points * pulls.sum(axis=1)[:, None] - pulls @ landmarks)
    return away


def _signs_away(
    points: np.ndarray,
    kernel: np.ndarray,
    coefficients: np.ndarray,
    landmarks: np.ndarray,
    steps: np.ndarray | float,
) -> np.ndarray:
    """sum(c_i k_i sign(x - l_i)), likewise, of signs averaged over the steps."""
    reach = np.maximum(np.abs(steps) / 2, _SMALLEST_STEP)
    each = [
        (closeness * coefficients.T) @ np.clip((point - landmarks) / reach, -1, 1)
        for point, closeness in zip(points, kernel, strict=True)
    ]
    return np.stack(each, axis=1)


class _PartlyMovingRows(DenseRows):
    """Rows of which some columns carry a gradient."""

    def __init__(self, rest: Tensor, moving: Tensor, columns: Tensor) -> None:
        super().__init__(rest)
        self.moving = moving
        self.columns = columns

    def product(self, weight: Tensor) -> Tensor:
        """Rows times ``weight`` (n_features, n_outputs)."""
        return self.values @ weight + self.moving @ weight[self.columns]
