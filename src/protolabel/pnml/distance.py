"""Distances between embeddings and prototypes in the metric of each label (Eq. 10).

The squared form |U_k (e - p)|^2 is expanded into |U_k e|^2 + |U_k p|^2 - 2 (U_k e)(U_k p),
so that the largest tensor is labels x batch x rank, whatever the number of prototypes.
Both sides are first centred on the mean prototype: the expansion loses digits when the
embeddings lie far from the origin.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# Entries of one labels x batch x rank tensor; more labels than fit are done in chunks.
_MAX_PROJECTION_ENTRIES = 2**25


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
    centre = prototypes.detach().mean(dim=(1, 2))[:, None, :]  # (n_members, 1, dim)
    embeddings = embeddings - centre
    prototypes = prototypes - centre[:, None]
    if metric is None:
        squares = _squared_euclidean(embeddings, prototypes)
    else:
        squares = _squared_mahalanobis(embeddings, prototypes, metric)
    squares = squares.clamp_min(0)
    return squares if squared else (squares + root_offset(squares.dtype)).sqrt()


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
    return squares.view(n_members, n_labels, n_prototypes, -1).mT


def _squared_mahalanobis(embeddings: Tensor, prototypes: Tensor, metric: Tensor) -> Tensor:
    n_members, n_labels, rank, _ = metric.shape
    per_label = max(1, n_members * embeddings.shape[1] * rank)
    chunk = max(1, _MAX_PROJECTION_ENTRIES // per_label)
    apply: Any = _SquaredMahalanobis.apply
    if chunk >= n_labels:
        return apply(embeddings, prototypes, metric)  # type: ignore[no-any-return]
    return torch.cat(
        [
            apply(
                embeddings, prototypes[:, start : start + chunk], metric[:, start : start + chunk]
            )
            for start in range(0, n_labels, chunk)
        ],
        dim=1,
    )


class _SquaredMahalanobis(torch.autograd.Function):
    """|U_k (e - p)|^2, keeping one labels x batch x rank tensor for the backward pass.

    Members are a loop and labels a batched product: the embeddings are then expanded
    over the labels without a copy.
    """

    @staticmethod
    def forward(ctx: Any, embeddings: Tensor, prototypes: Tensor, metric: Tensor) -> Tensor:
        n_members, n_labels, rank, _ = metric.shape
        n_rows = embeddings.shape[1]
        projected = embeddings.new_empty(n_members, n_labels, n_rows, rank)
        for member in range(n_members):
            batch = embeddings[member].expand(n_labels, -1, -1)
            torch.bmm(batch, metric[member].mT, out=projected[member])
        anchors = torch.matmul(prototypes, metric.mT)  # U p: (members, labels, prototypes, rank)
        ctx.save_for_backward(embeddings, prototypes, metric, projected, anchors)
        squares = torch.matmul(projected, anchors.mT).mul_(-2)
        squares += torch.linalg.vector_norm(projected, dim=-1, keepdim=True).square_()
        squares += anchors.square().sum(-1)[:, :, None, :]
        return squares

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        embeddings, prototypes, metric, projected, anchors = ctx.saved_tensors
        n_members, n_labels, rank, dim = metric.shape
        gradient = 2 * gradient
        # With respect to U e and U p.
        by_projected = torch.matmul(gradient, anchors).neg_()
        by_projected.addcmul_(projected, gradient.sum(-1, keepdim=True))
        by_anchors = torch.matmul(gradient.mT, projected).neg_()
        by_anchors.addcmul_(anchors, gradient.sum(-2)[..., None])

        by_metric = torch.matmul(by_anchors.mT, prototypes)
        for member in range(n_members):
            batch = embeddings[member].expand(n_labels, -1, -1)
            by_metric[member] += torch.bmm(by_projected[member].mT, batch)
        stacked = by_projected.transpose(1, 2).reshape(n_members, -1, n_labels * rank)
        by_embeddings = torch.matmul(stacked, metric.reshape(n_members, n_labels * rank, dim))
        by_prototypes = torch.matmul(by_anchors, metric)
        return by_embeddings, by_prototypes, by_metric


def root_offset(dtype: torch.dtype) -> float:
    """What keeps the gradient of the root finite where an embedding meets its prototype."""
    return 1e-12 if dtype == torch.float64 else 1e-6
