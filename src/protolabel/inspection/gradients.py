"""Exact gradients of the log-odds by the scaled features: networks and kernel regression."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import DenseRows


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
    model: KernelRidge, points: np.ndarray, columns: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Gradients of the log-odds of the kernel regression, in closed form.

    Parameters and result are those of :func:`network_gradients`. With kernel values k_i and
    coefficients c_i the regression value has the gradient
    -2 precision (x sum(c_i k_i) - sum(c_i k_i l_i)), times the squared weights of the columns,
    and the link the derivative 1 / sqrt(v^2 + 4 s^2) + 1 / sqrt((1 - v)^2 + 4 s^2).
    """
    kernel = model.kernel(points)  # (n_points, n_landmarks)
    factors = -2 * model.precision * model.squared_weights[columns]
    landmarks = model.landmarks[:, columns]
    offsets = 4 * np.square(np.broadcast_to(model.softness, model.intercept.shape))
    found = np.empty((len(labels), len(points), len(columns)))
    for place, label in enumerate(labels):
        pulls = kernel * model.coefficients[:, label]
        value = pulls.sum(axis=1) + model.intercept[label]
        slope = 1 / np.sqrt(value**2 + offsets[label])
        slope += 1 / np.sqrt((1 - value) ** 2 + offsets[label])
        towards = points[:, columns] * pulls.sum(axis=1)[:, None] - pulls @ landmarks
        found[place] = factors * slope[:, None] * towards
    return found


class _PartlyMovingRows(DenseRows):
    """Rows of which some columns carry a gradient."""

    def __init__(self, rest: Tensor, moving: Tensor, columns: Tensor) -> None:
        super().__init__(rest)
        self.moving = moving
        self.columns = columns

    def product(self, weight: Tensor) -> Tensor:
        """Rows times ``weight`` (n_features, n_outputs)."""
        return self.values @ weight + self.moving @ weight[self.columns]
