"""Labels learned from a handful of rows, in the embedding of a trained network.

Few rows cannot train a metric. What a new label borrows from training is the spread of all
embeddings, the usual distance of the two prototypes, and the usual prior. Its metric is that
of a linear discriminant, A = (S + c/n v I)^-1 with the covariance S of the embeddings, their
mean variance v and n positive rows: the fewer rows, the closer to the plain distance.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.prototypes import LOG_ZERO, PrototypeSet

# Shrinkage c of the covariance towards its mean variance; docs/growing_models.md has the
# measurement that it comes from.
_SHRINKAGE_ROWS = 100.0


def network_with_label(
    network: PrototypeNetwork, positives: Tensor, negatives: Tensor | None = None
) -> PrototypeNetwork:
    """Copy of a trained network that knows one more label; the scores of the others stay.

    Parameters
    ----------
    network : PrototypeNetwork
        Trained, with a shared embedding.
    positives : Tensor of shape (n_slices, n_positives, dim)
        Embedded rows that have the label.
    negatives : Tensor of shape (n_slices, n_negatives, dim) or None
        Embedded rows without it; None for the mean of the training rows.
    """
    positive = positives.mean(1)
    negative = network.mean_embedding if negatives is None else negatives.mean(1)
    grown = copy.deepcopy(network)
    if network.metric is not None:
        rank = network.metric.shape[2]
        form = discriminant_form(network.covariance, positives.shape[1])
        metric = low_rank_metric(form, positive - negative, rank)
        metric = metric * _scale_to(_usual_gap(network), metric, positive - negative)
        grown.metric = _extended(network.metric, metric)
    prior = _median_of_active(network.log_prior_odds.detach(), network.active)
    grown.log_prior_odds = _extended(network.log_prior_odds, prior)
    grown.active = torch.cat([network.active, torch.ones_like(network.active[:, :1])], dim=1)
    grown.constant_logits = torch.cat([network.constant_logits, prior.mean()[None]])
    grown.prototypes = _with_prototypes(network.prototypes, negative, positive)
    grown.n_labels += 1
    grown.labels_per_slice += 1
    grown.n_added += 1
    return grown


def discriminant_form(covariance: Tensor, n_positives: int) -> Tensor:
    """Inverse of the covariance, shrunk the more the fewer positive rows there are.

    Parameters
    ----------
    covariance : Tensor of shape (n_slices, dim, dim)
    n_positives : int

    Returns
    -------
    Tensor of shape (n_slices, dim, dim), symmetric and positive definite

    Examples
    --------
    >>> import torch
    >>> discriminant_form(torch.eye(2)[None], 100)[0].tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    dim = covariance.shape[-1]
    variance = covariance.diagonal(dim1=-2, dim2=-1).mean(-1)
    # An embedding without any spread has no direction to prefer.
    variance = torch.where(variance > 0, variance, 1.0)
    ridge = _SHRINKAGE_ROWS / n_positives * variance
    identity = torch.eye(dim, dtype=covariance.dtype, device=covariance.device)
    inverse: Tensor = torch.linalg.inv(covariance + ridge[:, None, None] * identity)
    return (inverse + inverse.mT) / 2


def low_rank_metric(form: Tensor, difference: Tensor, rank: int) -> Tensor:
    """Matrices U of a given rank with U'U close to a form A, and U'U v = A v exactly.

    The first row of U is A v / sqrt(v'A v); what it leaves of A does not know v any more, and
    the other rows are the largest principal axes of that. So the rank costs nothing in the one
    direction that tells the two prototypes apart.

    Parameters
    ----------
    form : Tensor of shape (n_slices, dim, dim)
        Symmetric and positive definite.
    difference : Tensor of shape (n_slices, dim)
        The vectors v, from the negative to the positive prototype.
    rank : int

    Returns
    -------
    Tensor of shape (n_slices, rank, dim)
    """
    direction = torch.matmul(form, difference[..., None]).squeeze(-1)
    length = (direction * difference).sum(-1, keepdim=True)
    differs = length > torch.finfo(form.dtype).tiny
    first = torch.where(differs, direction / length.clamp_min(1e-300).sqrt(), 0.0)
    rest = form - first[..., None] * first[:, None, :]
    values, vectors = torch.linalg.eigh(rest)
    axes = vectors * values.clamp_min(0).sqrt()[:, None, :]
    return torch.cat([first[:, None, :], axes.mT.flip(1)[:, : rank - 1]], dim=1)


def embedding_moments(embeddings: Tensor, row_weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weighted mean and covariance of embeddings.

    Parameters
    ----------
    embeddings : Tensor of shape (n_slices, n_rows, dim)
    row_weights : Tensor of shape (n_slices, n_rows)

    Returns
    -------
    mean : Tensor of shape (n_slices, dim)
    covariance : Tensor of shape (n_slices, dim, dim)

    Examples
    --------
    >>> import torch
    >>> mean, covariance = embedding_moments(torch.tensor([[[1.0], [3.0]]]), torch.ones(1, 2))
    >>> mean.item(), covariance.item()
    (2.0, 1.0)
    """
    shares = row_weights / row_weights.sum(1, keepdim=True).clamp_min(1)
    mean = (embeddings * shares[..., None]).sum(1)
    centred = embeddings - mean[:, None, :]
    return mean, torch.matmul(centred.mT * shares[:, None, :], centred)


def _usual_gap(network: PrototypeNetwork) -> Tensor:
    """Median over the labels of the distance between their two mean prototypes, (n_slices,)."""
    prototypes = network.prototypes
    weights = prototypes.log_weights.exp() * prototypes.exists
    means = (prototypes.positions * weights[..., None]).sum(3)  # (n_slices, n_labels, 2, dim)
    difference = means[:, :, 1] - means[:, :, 0]
    assert network.metric is not None
    projected = torch.matmul(network.metric.detach(), difference[..., None]).squeeze(-1)
    return _median_of_active(torch.linalg.vector_norm(projected, dim=-1), network.active)


def _scale_to(gap: Tensor, metric: Tensor, difference: Tensor) -> Tensor:
    """Factors that bring the prototypes to a given distance, (n_slices, 1, 1)."""
    projected = torch.matmul(metric, difference[..., None]).squeeze(-1)
    length = torch.linalg.vector_norm(projected, dim=-1)
    usable = (length > 0) & (gap > 0)
    return torch.where(usable, gap / torch.where(usable, length, 1.0), 1.0)[:, None, None]


def _median_of_active(values: Tensor, active: Tensor) -> Tensor:
    """Median over the labels that a slice knows, 0 where it knows none, (n_slices,)."""
    return torch.where(active, values, torch.nan).nanmedian(1).values.nan_to_num(0.0)


def _extended(parameter: nn.Parameter, values: Tensor) -> Any:
    joined = torch.cat([parameter.detach(), values[:, None]], dim=1)
    return nn.Parameter(joined, requires_grad=parameter.requires_grad)


def _with_prototypes(prototypes: PrototypeSet, negative: Tensor, positive: Tensor) -> PrototypeSet:
    """Put one prototype on each side of the new label into the first slot."""
    positions = torch.zeros_like(prototypes.positions[:, :1])
    positions[:, 0, :, 0] = torch.stack([negative, positive], dim=1)
    log_weights = torch.full_like(prototypes.log_weights[:, :1], LOG_ZERO)
    log_weights[..., 0] = 0.0
    return PrototypeSet(
        torch.cat([prototypes.positions, positions], dim=1),
        torch.cat([prototypes.log_weights, log_weights], dim=1),
    )
