"""The objective: cross-entropy (Eq. 9), metric penalty (Eq. 11), label correlation (Eq. 12)."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional


def cross_entropy(logits: Tensor, labels: Tensor, cell_weights: Tensor) -> Tensor:
    """Sum over the weighted cells of -y log p - (1 - y) log(1 - p), from logits (Eq. 9).

    Parameters
    ----------
    logits, labels, cell_weights : Tensor of shape (n_members, n_rows, n_labels)
        Labels and weights may broadcast; a cell of weight 0 has no influence.

    Returns
    -------
    Tensor of shape (n_members,)
    """
    apply: Any = _CrossEntropy.apply
    entropy: Tensor = apply(logits, labels, cell_weights)
    return entropy


class _CrossEntropy(torch.autograd.Function):
    """The sum over cells, whose slope p - y takes one pass instead of the four of its terms."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor, cell_weights: Tensor) -> Tensor:
        # As the logits lie in memory, so that each pass runs through all of them alike.
        labels = torch.empty_like(logits[: len(labels)]).copy_(labels)
        ctx.save_for_backward(logits, labels, cell_weights)
        cells = functional.softplus(logits).sub_(labels * logits)
        return cells.mul_(cell_weights).sum((1, 2))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        logits, labels, cell_weights = ctx.saved_tensors
        slopes = torch.sigmoid(logits).sub_(labels).mul_(cell_weights)
        return slopes.mul_(gradient[:, None, None]), None, None


def mean_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    row_weights: Tensor,
    *,
    learnable: Tensor,
    n_labels: int,
    reduction: Literal["rows", "cells"],
) -> Tensor:
    """Cross-entropy averaged over rows, or over rows and labels, and summed over members.

    Parameters
    ----------
    logits, labels : Tensor of shape (n_members, n_rows, n_labels)
        Labels may broadcast.
    row_weights : Tensor of shape (n_members, n_rows)
    learnable : Tensor of bool, shape (n_members, n_labels)
        False for labels without influence.
    n_labels : int
        Labels that a mean over cells divides by.
    reduction : {"rows", "cells"}
    """
    cell_weights = (learnable[:, :, None] * row_weights[:, None, :]).mT
    entropy = cross_entropy(logits, labels, cell_weights)
    n_cells = row_weights.sum(1).clamp_min(1)
    if reduction == "cells":
        n_cells = n_cells * n_labels
    return (entropy / n_cells).sum()


def metric_penalty(metric: Tensor) -> Tensor:
    """Sum of the squared Frobenius norms of the metrics U_k (Eq. 11)."""
    return metric.square().sum()


def correlation_penalty(
    positive_means: Tensor,
    correlations: Tensor,
    kind: Literal["inner", "cosine"] = "inner",
) -> Tensor:
    """Half the sum over label pairs of (1 - c_jk) times the product of their prototypes (Eq. 12).

    The printed form is unbounded below; ``kind="cosine"`` normalises the means, which bounds
    it by n_labels (n_labels - 1).

    Parameters
    ----------
    positive_means : Tensor of shape (n_members, n_labels, dim)
        Mean of the positive prototypes; zero for a label that takes no part.
    correlations : Tensor of shape (n_labels, n_labels)
    kind : {"inner", "cosine"}, default="inner"
    """
    if kind == "cosine":
        norms = torch.linalg.vector_norm(positive_means, dim=-1, keepdim=True)
        positive_means = positive_means / (norms + 1e-12)
    mixed = torch.matmul(1 - correlations, positive_means)
    return (mixed * positive_means).sum() / 2


def label_correlations(labels: Tensor) -> Tensor:
    """Pearson correlation of the label columns; 1 on the diagonal, 0 where undefined.

    Examples
    --------
    >>> import torch
    >>> label_correlations(torch.tensor([[1.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    centred = labels.double() - labels.double().mean(0)
    norms = torch.linalg.vector_norm(centred, dim=0)
    # A constant column is zero up to rounding, far below the norm of a single positive.
    varies = norms > 1e-6
    scaled = torch.where(varies, centred / norms.clamp_min(1e-12), 0.0)
    correlations = scaled.mT @ scaled
    return correlations.fill_diagonal_(1.0).to(labels.dtype)
