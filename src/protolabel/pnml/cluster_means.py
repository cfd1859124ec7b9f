"""Means of clusters from frozen soft assignments: what follows the embeddings within an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from protolabel.pnml.components import ComponentRows, Components

# Entries of the embeddings or shares that are worked on at once: two megabytes.
_GATHERED_ENTRIES = 2**19


def cluster_means(
    embeddings: Tensor, responsibilities: Tensor, components: Components, position: int
) -> tuple[Tensor, Tensor]:
    """Cluster means of one slice, with gradient to the embeddings.

    Parameters
    ----------
    embeddings : Tensor of shape (n_rows, dim)
    responsibilities : Tensor of shape (n_labels, n_rows, n_slots)
        Soft assignment of each row over the slots of its own side.
    components : Components
        Rows to take the means over.
    position : int
        Number of the slice.

    Returns
    -------
    positions : Tensor of shape (n_labels, 2, n_slots, dim)
    mass : Tensor of shape (n_labels, 2, n_slots)
    """
    listed: Any = _ListedSums.apply
    positives = components.of_slice(components.positives, position)
    if components.negatives is not None:
        negatives = components.of_slice(components.negatives, position)
        sums, mass = listed(embeddings, responsibilities, negatives, positives)
    else:
        masked: Any = _MaskedSums.apply
        negative_rows = components.membership(position)[0]
        sides = (
            masked(embeddings, responsibilities, negative_rows),
            listed(embeddings, responsibilities, positives),
        )
        sums = torch.cat([sums for sums, _ in sides], dim=1)
        mass = torch.cat([mass for _, mass in sides], dim=1)
    return sums / mass.clamp_min(torch.finfo(mass.dtype).tiny)[..., None], mass


class _MaskedSums(torch.autograd.Function):
    """Sums of embeddings by soft assignment, for components that most rows belong to."""

    @staticmethod
    def forward(
        ctx: Any, embeddings: Tensor, responsibilities: Tensor, members: Tensor
    ) -> tuple[Tensor, Tensor]:
        n_labels, _, n_slots = responsibilities.shape
        ctx.save_for_backward(responsibilities, members)
        sums = embeddings.new_empty(n_labels, n_slots, embeddings.shape[1])
        mass = embeddings.new_empty(n_labels, n_slots)
        for labels, shares in _masked_shares(responsibilities, members):
            torch.matmul(shares.mT, embeddings, out=sums[labels])
            torch.sum(shares, 1, out=mass[labels])
        mass = mass[:, None]
        ctx.mark_non_differentiable(mass)
        return sums[:, None], mass

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _mass_gradient: Tensor) -> tuple[Tensor, None, None]:
        responsibilities, members = ctx.saved_tensors
        gradient = gradient.squeeze(1)
        by_embeddings = gradient.new_zeros(responsibilities.shape[1], gradient.shape[2])
        for labels, shares in _masked_shares(responsibilities, members):
            by_embeddings.addbmm_(shares, gradient[labels])
        return by_embeddings, None, None


def _masked_shares(responsibilities: Tensor, members: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Shares of the members in the clusters of some labels after the others."""
    n_labels, n_rows, n_slots = responsibilities.shape
    size = max(1, _GATHERED_ENTRIES // max(1, n_rows * n_slots))
    for start in range(0, n_labels, size):
        labels = slice(start, start + size)
        yield labels, responsibilities[labels] * members[labels, :, None]


@dataclass(frozen=True)
class _Batch:
    """Components of like size: their labels, and their rows and shares padded to one length."""

    labels: Tensor
    rows: Tensor  # (n_components * n_rows,)
    shares: Tensor  # (n_components, n_rows, n_slots)


class _ListedSums(torch.autograd.Function):
    """Sums of embeddings by soft assignment, for components that are lists of few rows.

    Components of like size are one batched product. Several lists, one after the other, give
    the sides of each label: sums (n_labels, n_sides, n_slots, dim).
    """

    @staticmethod
    def forward(
        ctx: Any, embeddings: Tensor, responsibilities: Tensor, *sides: ComponentRows
    ) -> tuple[Tensor, Tensor]:
        n_labels, _, n_slots = responsibilities.shape
        dim = embeddings.shape[1]
        sums = embeddings.new_zeros(n_labels, len(sides), n_slots, dim)
        mass = embeddings.new_zeros(n_labels, len(sides), n_slots)
        ctx.shape = embeddings.shape
        ctx.batches = [
            (side, batch)
            for side, members in enumerate(sides)
            for batch in _batches(responsibilities, members, dim)
        ]
        for side, batch in ctx.batches:
            gathered = embeddings.index_select(0, batch.rows).view(*batch.shares.shape[:2], dim)
            sums[batch.labels, side] = torch.bmm(batch.shares.mT, gathered)
            mass[batch.labels, side] = batch.shares.sum(1)
        ctx.mark_non_differentiable(mass)
        return sums, mass

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _mass_gradient: Tensor) -> tuple[Tensor | None, ...]:
        by_embeddings = gradient.new_zeros(ctx.shape)
        for side, batch in ctx.batches:
            by_rows = torch.bmm(batch.shares, gradient[batch.labels, side])
            by_embeddings.index_add_(0, batch.rows, by_rows.flatten(0, 1))
        return by_embeddings, *(None for _ in ctx.needs_input_grad[1:])


def _batches(responsibilities: Tensor, members: ComponentRows, dim: int) -> Iterator[_Batch]:
    n_labels, n_rows, n_slots = responsibilities.shape
    flat = responsibilities.view(n_labels * n_rows, n_slots)
    counts = members.counts
    order = torch.argsort(counts, descending=True)
    sizes = counts[order].tolist()
    start = 0
    while start < n_labels and sizes[start] > 0:
        width = sizes[start]
        most = max(1, _GATHERED_ENTRIES // (width * dim))
        stop = start + 1
        while stop < n_labels and stop - start < most and 4 * sizes[stop] + 16 > 3 * width:
            stop += 1
        labels = order[start:stop]
        labels = labels[counts[labels] > 0]
        within = torch.arange(width, device=labels.device)
        is_member = within < counts[labels, None]
        entries = (members.offsets[labels, None] + within).clamp_max(len(members.rows) - 1)
        rows = members.rows[entries]  # (n_components, width)
        shares = flat.index_select(0, (labels[:, None] * n_rows + rows).flatten())
        shares = shares.view(*rows.shape, n_slots).mul_(is_member[..., None])
        yield _Batch(labels, rows.flatten(), shares)
        start = stop
