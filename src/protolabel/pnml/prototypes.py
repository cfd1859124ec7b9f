"""Prototypes of the components of every label: means (Eq. 6) and weighted cluster means.

A prototype set holds, for each member and label, the slots of the negative component
(side 0) and of the positive one (side 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from protolabel.pnml.components import Components

# Stands for log 0: a real -inf would turn gradients of empty components into NaN.
LOG_ZERO = -1e9


@dataclass(frozen=True)
class PrototypeSet:
    """Prototypes and their mixing weights.

    ``positions`` (n_members, n_labels, 2, n_slots, dim);
    ``log_weights`` (n_members, n_labels, 2, n_slots), :data:`LOG_ZERO` for an unused slot.
    """

    positions: Tensor
    log_weights: Tensor

    @property
    def exists(self) -> Tensor:
        """Which slots hold a prototype."""
        return self.log_weights > LOG_ZERO / 2

    @property
    def complete(self) -> Tensor:
        """Labels with a prototype on both sides, (n_members, n_labels)."""
        return self.exists.any(-1).all(-1)

    def without_unused(self) -> tuple[Tensor, Tensor, int]:
        """Positions and log-weights with the slots of both sides in one row, and where they part.

        Slots that no label uses are left out. Positions (n_members, n_labels, n_slots, dim),
        with gradient; log-weights (n_members, n_labels, n_slots); the number of negative ones.
        """
        n_negative, n_positive = slots_in_use(self.exists)
        if n_negative == n_positive == self.positions.shape[3]:
            return self.positions.flatten(2, 3), self.log_weights.flatten(2), n_negative
        weights = self.log_weights
        joined = torch.cat([weights[:, :, 0, :n_negative], weights[:, :, 1, :n_positive]], dim=2)
        apply: Any = _FirstSlots.apply
        return apply(self.positions, n_negative, n_positive), joined, n_negative

    def positive_means(self) -> Tensor:
        """Unweighted mean of the positive prototypes of each label, (n_members, n_labels, dim)."""
        exists = self.exists.to(self.positions.dtype)
        weights = exists / exists.sum(-1, keepdim=True).clamp_min(1)
        weights[:, :, 0] = 0.0
        # A product over both sides: the gradient of one of them would be written out in zeros.
        return torch.matmul(weights.flatten(2)[:, :, None], self.positions.flatten(2, 3)).squeeze(2)


class _FirstSlots(torch.autograd.Function):
    """The first slots of each side in one row; plain slices would add up gradients of zeros."""

    @staticmethod
    def forward(ctx: Any, positions: Tensor, n_negative: int, n_positive: int) -> Tensor:
        ctx.shape, ctx.n_slots = positions.shape, (n_negative, n_positive)
        sides = positions.unbind(2)
        return torch.cat([sides[0][:, :, :n_negative], sides[1][:, :, :n_positive]], dim=2)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        by_positions = gradient.new_empty(ctx.shape)
        for side, part in enumerate(gradient.split(ctx.n_slots, dim=2)):
            by_positions[:, :, side, : part.shape[2]] = part
            by_positions[:, :, side, part.shape[2] :] = 0.0
        return by_positions, None, None


def slots_in_use(exists: Tensor) -> tuple[int, int]:
    """Slots of the negative and the positive sides up to the last one in use, at least one.

    Examples
    --------
    >>> import torch
    >>> slots_in_use(torch.tensor([[[[True, False, False], [False, True, False]]]]))
    (1, 2)
    """
    used = exists.flatten(0, -3).any(0)  # (2, n_slots)
    numbers = torch.arange(1, used.shape[1] + 1, device=used.device)
    negative, positive = (used * numbers).amax(1).clamp_min(1).tolist()
    return negative, positive


def single_prototypes(embeddings: Tensor, labels: Tensor, row_weights: Tensor) -> PrototypeSet:
    """One prototype per component: the mean of its embeddings (Eq. 6).

    Parameters
    ----------
    embeddings : Tensor of shape (n_slices, n_rows, dim)
    labels : Tensor of shape (1 or n_slices, n_rows, n_labels)
        1 where the row belongs to the positive component, else 0.
    row_weights : Tensor of shape (n_slices, n_rows)
        1 for the rows that a slice may use, 0 for the others.

    Examples
    --------
    >>> import torch
    >>> e = torch.tensor([[[0.0], [2.0], [5.0]]])
    >>> y = torch.tensor([[[0.0], [1.0], [1.0]]])
    >>> single_prototypes(e, y, torch.ones(1, 3)).positions.flatten().tolist()
    [0.0, 3.5]
    """
    return component_means(embeddings, Components.of(labels, row_weights))


def component_means(embeddings: Tensor, components: Components) -> PrototypeSet:
    """Means of listed or drawn rows, (Eq. 6), with gradient to the embeddings.

    Parameters
    ----------
    embeddings : Tensor of shape (n_slices, n_rows, dim)
    components : Components
    """
    counts = components.counts().to(embeddings.dtype)
    positions = components.sums(embeddings) / counts.clamp_min(1)[..., None]
    log_weights = torch.zeros_like(counts).masked_fill(counts == 0, LOG_ZERO)
    return PrototypeSet(positions[..., None, :], log_weights[..., None])


def mixing_log_weights(
    exists: Tensor, mass: Tensor, mixing: Literal["uniform", "empirical"]
) -> Tensor:
    """Log of the mixing weights, equal (Eq. 8) or by the mass of each cluster (Eq. 1).

    Parameters
    ----------
    exists : Tensor of bool, shape (..., n_slots)
    mass : Tensor of shape (..., n_slots)
    mixing : {"uniform", "empirical"}
    """
    weights = (exists if mixing == "uniform" else mass * exists).to(mass.dtype)
    total = weights.sum(-1, keepdim=True).clamp_min(torch.finfo(mass.dtype).tiny)
    return torch.where(exists, (weights / total).clamp_min(1e-30).log(), LOG_ZERO)
