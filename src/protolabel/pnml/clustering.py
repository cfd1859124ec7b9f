"""Adaptive prototypes: an infinite mixture in each component (mode PNML-multiple, Eq. 7).

A component, the rows with or without one label, starts with its mean. Rows farther than a
threshold from every prototype found so far become prototypes of their own; soft
assignments then re-estimate all prototypes. Everything here runs on detached embeddings
of one member, with squared Euclidean distances in the shared space; side 0 of a label is
its negative component, side 1 its positive one.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor

from protolabel.pnml.settings import PNMLSettings

# Clusters with less total responsibility are removed.
MIN_MASS = 1e-3
# Responsibilities below this are denormal-number traps and carry no information.
_NEGLIGIBLE = 1e-20
_MIN_VARIANCE = 1e-6
# Entries of the largest labels x rows x prototypes tensor that is kept at once.
_MAX_CHUNK_ENTRIES = 2**24


@dataclass(frozen=True)
class CreationRule:
    """When a row becomes a prototype: its cluster variance sigma and the threshold lambda."""

    variance: float
    threshold: float
    temperature: float


@dataclass(frozen=True)
class Clustering:
    """Prototypes of all components of one member.

    ``prototypes`` (n_labels, 2, n_slots, dim), ``exists`` and ``mass`` (n_labels, 2, n_slots);
    ``responsibilities`` (n_labels, n_rows, n_slots) over the slots of each row's own side.
    """

    prototypes: Tensor
    exists: Tensor
    mass: Tensor
    responsibilities: Tensor | None
    rule: CreationRule


def cluster_components(
    embeddings: Tensor,
    membership: Tensor,
    settings: PNMLSettings,
    *,
    trained_variance: float | None = None,
    keep_responsibilities: bool = False,
) -> Clustering:
    """Find the prototypes of all components of one member.

    Parameters
    ----------
    embeddings : Tensor of shape (n_rows, dim)
    membership : Tensor of bool, shape (2, n_labels, n_rows)
        Rows of the negative and of the positive component of each label.
    settings : PNMLSettings
    trained_variance : float or None
        Value of the trainable cluster variance, where the settings ask for it.
    keep_responsibilities : bool, default=False
        Keep the soft assignments, so that means with gradient can be taken from them.
    """
    used = membership.any(0).any(0)
    centre = embeddings[used].mean(0) if used.any() else embeddings.new_zeros(embeddings.shape[1])
    centred = embeddings - centre
    means, sizes = _component_means(centred, membership)
    rule = creation_rule(centred, membership, means, sizes, settings, trained_variance)

    n_labels, n_rows = membership.shape[1:]
    chunk = max(1, _MAX_CHUNK_ENTRIES // (2 * settings.max_prototypes * max(n_rows, 1)))
    parts = [
        _cluster_labels(
            centred,
            membership[:, start : start + chunk],
            means[start : start + chunk],
            rule,
            settings,
            keep_responsibilities,
        )
        for start in range(0, n_labels, chunk)
    ]
    n_slots = max(part[1].shape[-1] for part in parts)
    prototypes = torch.cat([_pad_slots(part[0], n_slots, dim=2) for part in parts])
    responsibilities = None
    if keep_responsibilities:
        responsibilities = torch.cat(
            [_pad_slots(part[3], n_slots, dim=2) for part in parts if part[3] is not None]
        )
    return Clustering(
        prototypes=prototypes + centre,
        exists=torch.cat([_pad_slots(part[1], n_slots, dim=2) for part in parts]),
        mass=torch.cat([_pad_slots(part[2], n_slots, dim=2) for part in parts]),
        responsibilities=responsibilities,
        rule=rule,
    )


def creation_threshold(variance: float, spread: float, concentration: float, dim: float) -> float:
    """Squared distance beyond which a row becomes a prototype (Eq. 7), never negative.

    The printed formula, -2 sigma log(alpha / (1 + rho/sigma)^(M/2)), overflows for large M;
    this is its expansion.

    Examples
    --------
    >>> round(creation_threshold(variance=1.0, spread=1.0, concentration=0.5, dim=2), 4)
    2.7726
    """
    threshold = 2 * variance * (-math.log(concentration) + dim / 2 * math.log1p(spread / variance))
    if threshold < 0:
        warnings.warn(
            f"concentration={concentration} gives a negative creation threshold; every row that "
            "differs from its component's mean becomes a prototype until max_prototypes. "
            "Use a concentration of at most 1.",
            stacklevel=2,
        )
    return max(threshold, 0.0)


def creation_rule(
    embeddings: Tensor,
    membership: Tensor,
    means: Tensor,
    sizes: Tensor,
    settings: PNMLSettings,
    trained_variance: float | None = None,
) -> CreationRule:
    """Cluster variance, threshold and temperature for one set of (centred) embeddings.

    Parameters
    ----------
    embeddings : Tensor of shape (n_rows, dim)
    membership : Tensor of bool, shape (2, n_labels, n_rows)
    means : Tensor of shape (n_labels, 2, dim)
    sizes : Tensor of shape (n_labels, 2)
    settings : PNMLSettings
    trained_variance : float or None
    """
    dim = embeddings.shape[1]
    spread = spread_of_means(means[sizes > 0])
    effective_dim = float(dim)
    if settings.cluster_variance == "trainable":
        assert trained_variance is not None
        variance = trained_variance
    elif isinstance(settings.cluster_variance, str):
        scatter = _mean_within_square(embeddings, membership, means, sizes)
        if settings.cluster_variance == "effective":
            effective_dim = participation_ratio(embeddings[membership.any(0).any(0)])
            spread *= dim / effective_dim
        variance = scatter / effective_dim
    else:
        variance = float(settings.cluster_variance)
    variance = max(variance, _MIN_VARIANCE)
    threshold = creation_threshold(variance, spread, settings.concentration, effective_dim)
    temperature = settings.assignment_temperature or 2 * variance
    return CreationRule(variance=variance, threshold=threshold, temperature=temperature)


def spread_of_means(means: Tensor) -> float:
    """rho: mean over the coordinates of the unbiased variance of the component means."""
    return float(means.var(0, unbiased=True).mean()) if len(means) > 1 else 0.0


def participation_ratio(embeddings: Tensor) -> float:
    """Number of dimensions that the embeddings occupy: tr(A)^2 / tr(A^2) of their covariance A.

    Examples
    --------
    >>> import torch
    >>> round(participation_ratio(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [2.0, 0.0]])), 3)
    1.0
    """
    if len(embeddings) < 2:
        return 1.0
    centred = embeddings - embeddings.mean(0)
    covariance = centred.mT @ centred
    squared_trace = float(covariance.square().sum())
    # Identical rows have no covariance and occupy no more than one dimension.
    return float(covariance.trace()) ** 2 / squared_trace if squared_trace > 0 else 1.0


def growth_pass(
    embeddings: Tensor, membership: Tensor, nearest: Tensor, threshold: Tensor, room: Tensor
) -> Tensor:
    """Rows that become prototypes when each component reads its members in order.

    The same rows as a loop over members that adds one when it lies beyond the threshold
    from all prototypes so far, found in as many batched rounds as the largest component
    gains prototypes: in each round the first violator of every component is added, and
    violators at or before it are settled.

    Parameters
    ----------
    embeddings : Tensor of shape (n_rows, dim)
    membership : Tensor of bool, shape (n_components, n_rows)
    nearest : Tensor of shape (n_components, n_rows)
        Squared distance to the nearest prototype so far; updated in place.
    threshold : Tensor of shape (n_components,)
    room : Tensor of int, shape (n_components,)
        How many prototypes each component may still gain.

    Returns
    -------
    Tensor of int, shape (n_components, n_rounds)
        Row numbers in order of creation, -1 where a component had no more.
    """
    n_components, n_rows = membership.shape
    violators = membership & (nearest > threshold[:, None])
    room = room.clone()
    position = torch.arange(n_rows, device=embeddings.device)
    created = []
    while True:
        growing = (violators.any(1) & (room > 0)).nonzero().squeeze(1)
        if len(growing) == 0:
            break
        candidates = violators[growing]
        first = candidates.to(torch.uint8).argmax(1)
        closer = torch.minimum(nearest[growing], squared_distances(embeddings[first], embeddings))
        nearest[growing] = closer
        candidates &= (closer > threshold[growing, None]) & (position > first[:, None])
        violators[growing] = candidates
        room[growing] -= 1
        chosen = torch.full((n_components,), -1, device=embeddings.device)
        chosen[growing] = first
        created.append(chosen)
    if not created:
        return torch.empty((n_components, 0), dtype=torch.int64, device=embeddings.device)
    return torch.stack(created, dim=1)


def responsibilities_of(squares: Tensor, exists: Tensor, temperature: float) -> Tensor:
    """Soft assignment of rows over the existing clusters, (..., n_rows, n_slots).

    Parameters
    ----------
    squares : Tensor of shape (..., n_rows, n_slots)
        Squared distances.
    exists : Tensor of bool, shape (..., n_slots)
    temperature : float
    """
    scores = (squares / -temperature).masked_fill_(~exists[..., None, :], -1e30)
    shares = torch.softmax(scores, dim=-1)
    return shares.masked_fill_(shares < _NEGLIGIBLE, 0.0)


def squared_distances(points: Tensor, others: Tensor) -> Tensor:
    """Squared Euclidean distances, (..., n_points, n_others), rounding noise set to zero."""
    norms = points.square().sum(-1)[..., :, None] + others.square().sum(-1)[..., None, :]
    squares = norms - 2 * torch.matmul(points, others.mT)
    noise = 8 * torch.finfo(squares.dtype).eps
    return squares.masked_fill_(squares < noise * norms, 0.0)


def _cluster_labels(
    embeddings: Tensor,
    membership: Tensor,
    means: Tensor,
    rule: CreationRule,
    settings: PNMLSettings,
    keep_responsibilities: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Grow and re-estimate the components of some labels."""
    members = membership.transpose(0, 1)  # (n_labels, 2, n_rows)
    occupied = members.any(-1)
    prototypes, exists = means[:, :, None, :], occupied[..., None]
    for _ in range(settings.n_clustering):
        prototypes, exists = _grow(embeddings, members, prototypes, exists, rule, settings)
        shares = responsibilities_of(
            squared_distances(embeddings, prototypes), exists, rule.temperature
        )  # (n_labels, 2, n_rows, n_slots)
        shares *= members[..., None]
        mass = shares.sum(2)
        exists = _without_empty_clusters(exists, mass)
        shares *= exists[:, :, None, :]
        mass = mass * exists
        prototypes = torch.matmul(shares.mT, embeddings) / mass.clamp_min(MIN_MASS)[..., None]
    # A row is a member of one side only, so the two sides fit into one tensor.
    kept = shares.sum(1) if keep_responsibilities else None
    return prototypes * exists[..., None], exists, mass, kept


def _grow(
    embeddings: Tensor,
    members: Tensor,
    prototypes: Tensor,
    exists: Tensor,
    rule: CreationRule,
    settings: PNMLSettings,
) -> tuple[Tensor, Tensor]:
    """Add the rows that violate the threshold to the prototypes of their components."""
    n_labels, _, n_rows = members.shape
    squares = squared_distances(prototypes, embeddings)  # (n_labels, 2, n_slots, n_rows)
    squares.masked_fill_(~exists[..., None], math.inf)
    created = growth_pass(
        embeddings,
        members.reshape(-1, n_rows),
        squares.amin(2).view(-1, n_rows),
        torch.full((2 * n_labels,), rule.threshold, device=embeddings.device),
        settings.max_prototypes - exists.sum(-1).flatten(),
    ).view(n_labels, 2, -1)
    added = embeddings[created.clamp_min(0)]  # (n_labels, 2, n_rounds, dim)
    return torch.cat([prototypes, added], dim=2), torch.cat([exists, created >= 0], dim=2)


def _without_empty_clusters(exists: Tensor, mass: Tensor) -> Tensor:
    """Existing clusters that keep a minimal mass; the heaviest one of a component always does."""
    heaviest = torch.zeros_like(exists).scatter_(
        -1, mass.masked_fill(~exists, -1.0).argmax(-1, keepdim=True), True
    )
    return exists & ((mass > MIN_MASS) | heaviest)


def _component_means(embeddings: Tensor, membership: Tensor) -> tuple[Tensor, Tensor]:
    weights = membership.transpose(0, 1).to(embeddings.dtype)  # (n_labels, 2, n_rows)
    sizes = weights.sum(-1)
    return torch.matmul(weights, embeddings) / sizes.clamp_min(1)[..., None], sizes


def _mean_within_square(
    embeddings: Tensor, membership: Tensor, means: Tensor, sizes: Tensor
) -> float:
    """Mean squared distance of the members to their component's mean, over all components."""
    memberships_of_row = membership.sum((0, 1)).to(embeddings.dtype)
    total = (embeddings.square().sum(1) * memberships_of_row).sum()
    between = (means.square().sum(-1) * sizes).sum()
    return float((total - between).clamp_min(0) / sizes.sum().clamp_min(1))


def _pad_slots(values: Tensor, n_slots: int, dim: int) -> Tensor:
    missing = n_slots - values.shape[dim]
    if missing == 0:
        return values
    shape = list(values.shape)
    shape[dim] = missing
    return torch.cat([values, values.new_zeros(shape)], dim=dim)
