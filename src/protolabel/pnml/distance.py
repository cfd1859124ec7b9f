"""Distances between embeddings and prototypes in the metric of each label (Eq. 10).

The squared form |U_k (e - p)|^2 is expanded into |U_k e|^2 + |U_k p|^2 - 2 (U_k e)(U_k p),
so that the largest tensor is labels x rank x batch, whatever the number of prototypes.
Both sides are first centred on the mean prototype: the expansion loses digits when the
embeddings lie far from the origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

# Projections of a chunk of labels, in entries: half a megabyte, a part of a core's own cache.
_CHUNK_ENTRIES = 2**17


def label_distances(
    embeddings: Tensor, prototypes: Tensor, metric: Tensor | None, *, squared: bool = False
) -> Tensor:
    """Distance of every embedding to every prototype, in the metric of the prototype's label.

    Parameters
    ----------
    embeddings : Tensor of shape (n_members, n_rows, dim)
    prototypes : Tensor of shape (n_members, n_labels, n_prototypes, dim)
    metric : Tensor of shape (n_members, n_labels, rank, dim) or None
        The matrices U_k; None for the Euclidean distance (PNML-D).
    squared : bool, default=False
        Leave the square root of Eq. 10 out.

    Returns
    -------
    Tensor of shape (n_members, n_labels, n_rows, n_prototypes)

    Examples
    --------
    >>> import torch
    >>> e, p = torch.tensor([[[3.0, 4.0]]]), torch.zeros(1, 1, 1, 2)
    >>> label_distances(e, p, None).round(decimals=3).item()
    5.0
    """
    squares = label_squares(embeddings, prototypes, metric).mT.clamp_min(0)
    return squares if squared else (squares + root_offset(squares.dtype)).sqrt()


def label_squares(embeddings: Tensor, prototypes: Tensor, metric: Tensor | None) -> Tensor:
    """Squared distances, of which rounding may leave some slightly negative.

    Parameters and their shapes are those of :func:`label_distances`.

    Returns
    -------
    Tensor of shape (n_members, n_labels, n_prototypes, n_rows)
    """
    centre = prototypes.detach().mean(dim=(1, 2))[:, None, :]  # (n_members, 1, dim)
    embeddings = embeddings - centre
    prototypes = prototypes - centre[:, None]
    if metric is None:
        return _squared_euclidean(embeddings, prototypes)
    return _squared_mahalanobis(embeddings, prototypes, metric)


def linear_logits(embeddings: Tensor, prototypes: Tensor, metric: Tensor) -> Tensor:
    """Difference of squared distances to the negative and the positive mean, linear in e.

    With one prototype per component, d(e, p-) - d(e, p+) = 2 (e - (p+ + p-)/2)' U'U (p+ - p-):
    one product with a weight vector per label instead of a projection per label.

    Parameters
    ----------
    embeddings : Tensor of shape (n_members, n_rows, dim)
    prototypes : Tensor of shape (n_members, n_labels, 2, dim)
        Negative prototype first, positive second.
    metric : Tensor of shape (n_members, n_labels, rank, dim)

    Returns
    -------
    Tensor of shape (n_members, n_labels, n_rows)
    """
    negative, positive = prototypes.unbind(2)
    projected = torch.matmul(metric, (positive - negative)[..., None])  # U (p+ - p-)
    weights = 2 * torch.matmul(metric.mT, projected).squeeze(-1)  # (n_members, n_labels, dim)
    offsets = (weights * (positive + negative) / 2).sum(-1)
    return torch.matmul(weights, embeddings.mT) - offsets[..., None]


def _squared_euclidean(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    n_members, n_labels, n_prototypes, dim = prototypes.shape
    flat = prototypes.reshape(n_members, -1, dim)
    cross = torch.matmul(flat, embeddings.mT)  # (n_members, n_labels * n_prototypes, n_rows)
    squares = embeddings.square().sum(-1)[:, None, :] + flat.square().sum(-1)[..., None] - 2 * cross
    return squares.view(n_members, n_labels, n_prototypes, -1)


def _squared_mahalanobis(embeddings: Tensor, prototypes: Tensor, metric: Tensor) -> Tensor:
    apply: Any = _SquaredMahalanobis.apply
    learns = any(t.requires_grad for t in (embeddings, prototypes, metric))
    squares: Tensor = apply(
        embeddings, prototypes, metric.contiguous(), learns and torch.is_grad_enabled()
    )
    return squares


class _SquaredMahalanobis(torch.autograd.Function):
    """|U_k (e - p)|^2, (n_members, n_labels, n_prototypes, n_rows).

    Labels are done in chunks whose projections U_k e stay in the cache from the product that
    makes them to the last one that needs them. All three products of a chunk with the shared
    embeddings, forward and backward, are one matrix product each. The projections are kept for
    the backward pass where there will be one: one labels x rank x batch tensor.
    """

    @staticmethod
    def forward(
        ctx: Any, embeddings: Tensor, prototypes: Tensor, metric: Tensor, learns: bool
    ) -> Tensor:
        n_members, n_labels, rank, dim = metric.shape
        n_rows, n_prototypes = embeddings.shape[1], prototypes.shape[2]
        squares = embeddings.new_empty(n_members, n_labels, n_prototypes, n_rows)
        anchors = embeddings.new_empty(n_members, n_labels, n_prototypes, rank)  # U p
        columns = embeddings.mT.contiguous()
        # One buffer for all chunks: it stays in the cache, where new memory would not be.
        buffer = embeddings.new_empty(min(n_labels, _chunk_size(n_rows, rank)), rank, n_rows)
        kept = []
        for member, U, p, Up, out in _label_chunks(n_rows, metric, prototypes, anchors, squares):
            Ue = torch.mm(U.view(-1, dim), columns[member]).view(-1, rank, n_rows)
            torch.bmm(p, U.mT, out=Up)
            norms = torch.mul(Ue, Ue, out=buffer[: len(Ue)]).sum(1, keepdim=True)
            norms = norms + (Up * Up).sum(2, keepdim=True)
            torch.baddbmm(norms, Up, Ue, alpha=-2, out=out)
            if learns:
                kept.append(Ue)
        ctx.save_for_backward(embeddings, prototypes, metric, anchors, *kept)
        return squares

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None, Tensor, None]:
        embeddings, prototypes, metric, anchors, *kept = ctx.saved_tensors
        n_rows, dim = embeddings.shape[1:]
        by_row, by_prototype = gradient.sum(2, keepdim=True), gradient.sum(3, keepdim=True)
        by_embeddings, by_metric = torch.zeros_like(embeddings), torch.empty_like(metric)
        moves_prototypes = ctx.needs_input_grad[1]
        by_prototypes = torch.empty_like(prototypes) if moves_prototypes else prototypes
        chunks = _label_chunks(
            n_rows,
            *(metric, prototypes, anchors, gradient),
            *(by_row.mul_(2), by_prototype.mul_(2), by_metric, by_prototypes),
        )
        for chunk, Ue in zip(chunks, kept, strict=True):
            member, U, p, Up, g, g_row, g_prototype, by_U, by_p = chunk
            by_Up = (Up * g_prototype).baddbmm_(g, Ue.mT, alpha=-2)
            by_Ue = (Ue * g_row).baddbmm_(Up.mT, g, alpha=-2).view(-1, n_rows)
            torch.mm(by_Ue, embeddings[member], out=by_U.view(-1, dim))
            by_U.baddbmm_(by_Up.mT, p)
            by_embeddings[member].addmm_(by_Ue.mT, U.view(-1, dim))
            if moves_prototypes:
                torch.bmm(by_Up, U, out=by_p)
        return by_embeddings, by_prototypes if moves_prototypes else None, by_metric, None


def _label_chunks(n_rows: int, metric: Tensor, *others: Tensor) -> Iterator[Any]:
    """Member number and parts of all tensors, (n_members, n_labels, ...), label by label.

    A part holds as many labels as have projections of all rows that fit into the cache.
    """
    size = _chunk_size(n_rows, rank=metric.shape[2])
    for member in range(len(metric)):
        parts = [values[member].split(size) for values in (metric, *others)]
        for chunk in zip(*parts, strict=True):
            yield member, *chunk


def _chunk_size(n_rows: int, rank: int) -> int:
    """Labels of a chunk."""
    return max(1, _CHUNK_ENTRIES // max(1, n_rows * rank))


def root_offset(dtype: torch.dtype) -> float:
    """What keeps the gradient of the root finite where an embedding meets its prototype."""
    return 1e-12 if dtype == torch.float64 else 1e-6
