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

from protolabel.pnml.growth import growth_pass, prototypes_of
from protolabel.pnml.prototypes import slots_in_use
from protolabel.pnml.settings import PNMLSettings
from protolabel.pnml.soft_assignment import (
    ComponentBatch,
    GrownBatch,
    JoinedShares,
    assignments,
    component_batches,
)

_MIN_VARIANCE = 1e-6
# Entries of the components x prototypes x rows tensor of a batch of small components.
_MAX_ENTRIES = 2**21


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
    ``responsibilities`` (n_rows, n_labels, n_slots) over the slots of each row's own side. Only
    one of prototypes and responsibilities is there: either is what the other gives.
    """

    prototypes: Tensor | None
    exists: Tensor
    mass: Tensor
    responsibilities: Tensor | None
    rule: CreationRule

    @property
    def n_negative_slots(self) -> int:
        """Slots that negative components need; those behind them are unused."""
        return slots_in_use(self.exists)[0]


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
    starts, members = means.flatten(0, 1), membership.transpose(0, 1).reshape(-1, n_rows)
    grown = [
        _grow(centred, batch, starts[batch.components], rule, settings)
        for batch in component_batches(members, _MAX_ENTRIES // max(settings.most_prototypes))
    ]
    n_slots = max([part.exists.shape[1] for part in grown], default=1)
    exists = torch.zeros((2 * n_labels, n_slots), dtype=torch.bool, device=members.device)
    mass = centred.new_zeros((2 * n_labels, n_slots))
    prototypes = joined = None
    if keep_responsibilities:
        joined = JoinedShares(centred, n_labels, n_slots)
    else:
        prototypes = centred.new_zeros((2 * n_labels, n_slots, centred.shape[1]))
    for part in grown:
        for found in assignments(part, rule.temperature):
            components, width = found.batch.components, found.exists.shape[1]
            exists[components, :width] = found.exists
            mass[components, :width] = found.mass
            if joined is not None:
                joined.write(found)
            if prototypes is not None:
                prototypes[components, :width] = found.means(centred) + centre
    if prototypes is not None:
        prototypes = (prototypes * exists[..., None]).unflatten(0, (n_labels, 2))
    return Clustering(
        prototypes=prototypes,
        exists=exists.unflatten(0, (n_labels, 2)),
        mass=mass.unflatten(0, (n_labels, 2)),
        responsibilities=None if joined is None else joined.finished(),
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
    # By a power of two, which changes no digit: squares of large numbers would be infinite.
    _, exponent = torch.frexp(centred.abs().max())
    centred = torch.ldexp(centred, -exponent)
    covariance = centred.mT @ centred
    squared_trace = float(covariance.square().sum())
    # Identical rows have no covariance and occupy no more than one dimension.
    return float(covariance.trace()) ** 2 / squared_trace if squared_trace > 0 else 1.0


def _grow(
    embeddings: Tensor,
    batch: ComponentBatch,
    means: Tensor,
    rule: CreationRule,
    settings: PNMLSettings,
) -> GrownBatch:
    """Prototypes of some components after the last growth pass, before they are re-estimated."""
    points = batch.points(embeddings)
    prototypes, exists = means[:, None, :], batch.members.any(1, keepdim=True)
    threshold = torch.full((len(means),), rule.threshold, device=points.device)
    most = torch.tensor(settings.most_prototypes, device=points.device)[batch.components % 2]
    for iteration in range(settings.n_clustering):
        room = most - exists.sum(1)
        created = growth_pass(points, batch.members, prototypes, exists, threshold, room)
        prototypes, exists = prototypes_of(points, prototypes, exists, created)
        grown = GrownBatch(batch, points, prototypes, exists, created)
        if iteration + 1 < settings.n_clustering:
            parts = list(assignments(grown, rule.temperature))
            prototypes = torch.cat([part.means(embeddings) for part in parts])
            exists = torch.cat([part.exists for part in parts])
    return grown


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
