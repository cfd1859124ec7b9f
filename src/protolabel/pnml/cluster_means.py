"""Means of clusters from frozen soft assignments: what follows the embeddings within an epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from protolabel.pnml.components import ComponentRows, Components

# Entries of the embeddings that are gathered at once: one megabyte.
_GATHERED_ENTRIES = 2**18
# Entries of the shares of negative rows that are worked on at once.
_SHARE_ENTRIES = 2**20


def cluster_means(
    embeddings: Tensor,
    responsibilities: Tensor,
    components: Components,
    position: int,
    *,
    n_negative_slots: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Cluster means of one slice, with gradient to the embeddings.

    Parameters
    ----------
    embeddings : Tensor of shape (n_rows, dim)
    responsibilities : Tensor of shape (n_rows, n_labels, n_slots)
        Soft assignment of each row over the slots of its own side.
    components : Components
        Rows to take the means over.
    position : int
        Number of the slice.
    n_negative_slots : int or None
        Slots that negative components use, the first ones; None for all.

    Returns
    -------
    positions : Tensor of shape (n_labels, 2, n_slots, dim)
    mass : Tensor of shape (n_labels, 2, n_slots)
    """
    apply: Any = _ClusterMeans.apply
    positives = components.of_slice(components.positives, position)
    rows, is_negative = components.drawn_rows, components.negatives_among_drawn(position)
    n_slots = responsibilities.shape[2] if n_negative_slots is None else n_negative_slots
    negatives = _Negatives(responsibilities[..., :n_slots], rows, is_negative.mT.contiguous())
    means: tuple[Tensor, Tensor] = apply(embeddings, responsibilities, positives, negatives)
    return means


class _ClusterMeans(torch.autograd.Function):
    """Means of embeddings by soft assignment.

    Most rows are negative for most labels, so that these means are one matrix product for all
    labels. Positive components are lists of few rows, and those of like size one batched product.
    """

    @staticmethod
    def forward(
        ctx: Any,
        embeddings: Tensor,
        responsibilities: Tensor,
        positives: ComponentRows,
        negatives: _Negatives,
    ) -> tuple[Tensor, Tensor]:
        _, n_labels, n_slots = responsibilities.shape
        dim = embeddings.shape[1]
        means = embeddings.new_zeros(n_labels, 2, n_slots, dim)
        mass = embeddings.new_zeros(n_labels, 2, n_slots)
        ctx.groups = list(_groups(responsibilities, positives))
        buffer = _room_for_rows(embeddings)
        for group in ctx.groups:
            mass[group.labels, 1] = group.mass
            for labels, members, shares, room in group.parts(buffer):
                torch.index_select(embeddings, 0, members, out=room)
                means[labels, 1] = torch.bmm(shares.mT, room.view(len(labels), -1, dim))
        used = negatives.responsibilities.shape[2]
        sums = embeddings.new_zeros(n_labels * used, dim)
        for members, shares in negatives.parts():
            sums.addmm_(shares.mT, _taken(embeddings, members))
            mass[:, 0, :used] += shares.sum(0).view(n_labels, used)
        ctx.negatives, ctx.shape = negatives, embeddings.shape
        ctx.safe_mass = _above_zero(mass[:, 0, :used])[..., None]
        torch.div(sums.view(n_labels, used, dim), ctx.safe_mass, out=means[:, 0, :used])
        ctx.mark_non_differentiable(mass)
        return means, mass

    @staticmethod
    def backward(
        ctx: Any, gradient: Tensor, _mass_gradient: Tensor
    ) -> tuple[Tensor, None, None, None]:
        by_embeddings = gradient.new_zeros(ctx.shape)
        dim = ctx.shape[1]
        used = ctx.safe_mass.shape[1]
        by_sums = (gradient[:, 0, :used] / ctx.safe_mass).view(-1, dim)
        for members, shares in ctx.negatives.parts():
            by_embeddings[members] = torch.mm(shares, by_sums)  # no row is drawn twice
        buffer = _room_for_rows(by_embeddings)
        for group in ctx.groups:
            for labels, members, shares, room in group.parts(buffer):
                by_rows = room.view(len(labels), -1, dim)
                torch.bmm(shares, gradient[labels, 1], out=by_rows)
                by_embeddings.index_add_(0, members, room)
        return by_embeddings, None, None, None


@dataclass(frozen=True)
class _Negatives:
    """Shares of rows in the negative clusters of all labels.

    ``rows`` are those that were drawn, None for all; ``is_negative`` (n_drawn, n_labels) tells
    the labels that each of them lacks.
    """

    responsibilities: Tensor
    rows: Tensor | None
    is_negative: Tensor

    def parts(self) -> Iterable[tuple[Tensor | slice, Tensor]]:
        """Some rows after the others, and their shares, (n_some, n_labels * n_slots)."""
        # A step draws few rows, whose shares are kept for the gradient.
        return self._made() if self.rows is None else self._kept

    @cached_property
    def _kept(self) -> list[tuple[Tensor | slice, Tensor]]:
        return list(self._made())

    def _made(self) -> Iterator[tuple[Tensor | slice, Tensor]]:
        n_slots = self.responsibilities.shape[2]
        size = max(1, _SHARE_ENTRIES // max(1, self.is_negative.shape[1] * n_slots))
        for start in range(0, len(self.is_negative), size):
            some = slice(start, start + size)
            members = some if self.rows is None else self.rows[some]
            shares = _taken(self.responsibilities, members) * self.is_negative[some, :, None]
            yield members, shares.flatten(1)


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


def _groups(responsibilities: Tensor, members: ComponentRows) -> Iterator[_Group]:
    """Components with rows, the largest first; none is padded by more than a third and a bit."""
    n_rows, n_labels, n_slots = responsibilities.shape
    flat = responsibilities.reshape(n_rows * n_labels, n_slots)
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
        shares = flat.index_select(0, (rows * n_labels + labels[:, None]).flatten())
        padding = (within >= counts[start:stop, None]).flatten().nonzero().squeeze(1)
        shares = shares.index_fill_(0, padding, 0.0).view(*rows.shape, n_slots)
        mass = shares.sum(1)
        shares.div_(_above_zero(mass)[:, None])
        yield _Group(labels, sizes[start:stop], rows, shares, mass)
        start = stop


def _taken(values: Tensor, rows: Tensor | slice) -> Tensor:
    """Some rows of values; indexing by numbers would take twice as long."""
    return values[rows] if isinstance(rows, slice) else values.index_select(0, rows)


def _room_for_rows(embeddings: Tensor) -> Tensor:
    """Memory for gathered rows: fresh memory for each part would cost more than the rows."""
    dim = embeddings.shape[1]
    return embeddings.new_empty(max(1, _GATHERED_ENTRIES // max(1, dim)), dim)


def _above_zero(mass: Tensor) -> Tensor:
    """What the sums of a cluster are divided by; one without rows stays at zero."""
    return mass.clamp_min(torch.finfo(mass.dtype).tiny)
