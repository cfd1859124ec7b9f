"""Means of clusters from frozen soft assignments: what follows the embeddings within an epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from protolabel.pnml.components import ComponentRows, Components

# Entries of the embeddings or shares that are worked on at once: one megabyte.
_GATHERED_ENTRIES = 2**18


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
    listed: Any = _ListedMeans.apply
    masked: Any = _MaskedMeans.apply
    positives = components.of_slice(components.positives, position)
    positive_means, positive_mass = listed(embeddings, responsibilities, positives)
    rows, is_negative = components.drawn_rows, components.negatives_among_drawn(position)
    if rows is not None:
        embeddings = embeddings.index_select(0, rows)
        responsibilities = responsibilities.index_select(1, rows)
    means, mass = masked(embeddings, responsibilities, is_negative)
    return torch.stack([means, positive_means], dim=1), torch.stack([mass, positive_mass], dim=1)


class _MaskedMeans(torch.autograd.Function):
    """Means of embeddings by soft assignment, for components that most rows belong to."""

    @staticmethod
    def forward(
        ctx: Any, embeddings: Tensor, responsibilities: Tensor, members: Tensor
    ) -> tuple[Tensor, Tensor]:
        n_labels, _, n_slots = responsibilities.shape
        means = embeddings.new_empty(n_labels, n_slots, embeddings.shape[1])
        mass = embeddings.new_empty(n_labels, n_slots)
        for labels, shares in _masked_shares(responsibilities, members):
            torch.matmul(shares.mT, embeddings, out=means[labels])
            torch.sum(shares, 1, out=mass[labels])
        safe_mass = _above_zero(mass)[..., None]
        ctx.save_for_backward(responsibilities, members, safe_mass)
        ctx.mark_non_differentiable(mass)
        return means.div_(safe_mass), mass

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _mass_gradient: Tensor) -> tuple[Tensor, None, None]:
        responsibilities, members, safe_mass = ctx.saved_tensors
        by_sums = gradient / safe_mass
        by_embeddings = gradient.new_zeros(responsibilities.shape[1], gradient.shape[-1])
        for labels, shares in _masked_shares(responsibilities, members):
            by_embeddings.addbmm_(shares, by_sums[labels])
        return by_embeddings, None, None


def _masked_shares(responsibilities: Tensor, members: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Shares of the members in the clusters of some labels after the others."""
    n_labels, n_rows, n_slots = responsibilities.shape
    size = max(1, _GATHERED_ENTRIES // max(1, n_rows * n_slots))
    for start in range(0, n_labels, size):
        labels = slice(start, start + size)
        yield labels, responsibilities[labels] * members[labels, :, None]


@dataclass(frozen=True)
class _Group:
    """Components of like size, the largest first, and their rows padded to one length.

    ``shares`` are those of each row in the mass of the clusters, zero where it is padding.
    """

    labels: Tensor
    sizes: Sequence[int]
    rows: Tensor  # (n_components, n_rows)
    shares: Tensor  # (n_components, n_rows, n_slots)
    mass: Tensor  # (n_components, n_slots)

    def parts(self, buffer: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Labels, rows and shares of some components, and room for the embeddings of their rows.

        They are as many as fit into the buffer (n_gathered, dim), or one.
        """
        start = 0
        while start < len(self.sizes):
            width = self.sizes[start]
            some = slice(start, start + max(1, len(buffer) // width))
            rows = self.rows[some, :width].flatten()
            fits = len(rows) <= len(buffer)
            room = buffer[: len(rows)] if fits else buffer.new_empty(len(rows), buffer.shape[1])
            yield self.labels[some], rows, self.shares[some, :width], room
            start = some.stop


class _ListedMeans(torch.autograd.Function):
    """Means of embeddings by soft assignment, for components that are lists of few rows.

    Components of like size are one batched product.
    """

    @staticmethod
    def forward(
        ctx: Any, embeddings: Tensor, responsibilities: Tensor, members: ComponentRows
    ) -> tuple[Tensor, Tensor]:
        n_labels, _, n_slots = responsibilities.shape
        dim = embeddings.shape[1]
        means = embeddings.new_zeros(n_labels, n_slots, dim)
        mass = embeddings.new_zeros(n_labels, n_slots)
        ctx.shape = embeddings.shape
        ctx.groups = list(_groups(responsibilities, members))
        buffer = _room_for_rows(embeddings)
        for group in ctx.groups:
            mass[group.labels] = group.mass
            for labels, rows, shares, room in group.parts(buffer):
                torch.index_select(embeddings, 0, rows, out=room)
                means[labels] = torch.bmm(shares.mT, room.view(len(labels), -1, dim))
        ctx.mark_non_differentiable(mass)
        return means, mass

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _mass_gradient: Tensor) -> tuple[Tensor, None, None]:
        by_embeddings = gradient.new_zeros(ctx.shape)
        buffer = _room_for_rows(by_embeddings)
        for group in ctx.groups:
            for labels, rows, shares, room in group.parts(buffer):
                by_rows = room.view(len(labels), -1, ctx.shape[1])
                torch.bmm(shares, gradient[labels], out=by_rows)
                by_embeddings.index_add_(0, rows, room)
        return by_embeddings, None, None


def _groups(responsibilities: Tensor, members: ComponentRows) -> Iterator[_Group]:
    """Components with rows, the largest first; none is padded by more than a third and a bit."""
    n_labels, n_rows, n_slots = responsibilities.shape
    flat = responsibilities.view(n_labels * n_rows, n_slots)
    counts, order = torch.sort(members.counts, descending=True)
    sizes = counts.tolist()
    start = 0
    while start < n_labels and sizes[start] > 0:
        width = sizes[start]
        stop = start + 1
        while stop < n_labels and sizes[stop] > 0 and 4 * sizes[stop] + 16 > 3 * width:
            stop += 1
        labels = order[start:stop]
        within = torch.arange(width, device=labels.device)
        entries = (members.offsets[labels, None] + within).clamp_max_(len(members.rows) - 1)
        rows = members.rows[entries]  # (n_components, width)
        shares = flat.index_select(0, (labels[:, None] * n_rows + rows).flatten())
        padding = (within >= counts[start:stop, None]).flatten().nonzero().squeeze(1)
        shares = shares.index_fill_(0, padding, 0.0).view(*rows.shape, n_slots)
        mass = shares.sum(1)
        shares.div_(_above_zero(mass)[:, None])
        yield _Group(labels, sizes[start:stop], rows, shares, mass)
        start = stop


def _room_for_rows(embeddings: Tensor) -> Tensor:
    """Memory for gathered rows: fresh memory for each part would cost more than the rows."""
    dim = embeddings.shape[1]
    return embeddings.new_empty(max(1, _GATHERED_ENTRIES // max(1, dim)), dim)


def _above_zero(mass: Tensor) -> Tensor:
    """What the sums of a cluster are divided by; one without rows stays at zero."""
    return mass.clamp_min(torch.finfo(mass.dtype).tiny)
