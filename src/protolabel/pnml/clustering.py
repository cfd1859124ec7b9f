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
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from protolabel.pnml.growth import growth_pass, prototypes_of, squared_distances
from protolabel.pnml.settings import PNMLSettings

# Clusters with less total responsibility are removed.
MIN_MASS = 1e-3
# Responsibilities below this are denormal-number traps and carry no information.
_NEGLIGIBLE = 1e-20
_MIN_VARIANCE = 1e-6
# Entries of the largest components x prototypes x rows tensor that is worked on at once.
_MAX_CHUNK_ENTRIES = 2**21


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
    ``responsibilities`` (n_labels, n_rows, n_slots) over the slots of each row's own side. Only
    one of prototypes and responsibilities is there: either is what the other gives.
    """

    prototypes: Tensor | None
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
    starts, members = means.flatten(0, 1), membership.transpose(0, 1).reshape(-1, n_rows)
    found = []
    for batch in _component_batches(members, settings.max_prototypes):
        points = centred if batch.rows is None else centred[batch.rows]
        found.append(
            (
                batch,
                _cluster_batch(
                    points,
                    batch.members,
                    starts[batch.components],
                    rule,
                    settings,
                    wants_prototypes=not keep_responsibilities,
                ),
            )
        )
    n_slots = max([part.exists.shape[1] for _, part in found], default=1)
    exists = torch.zeros((2 * n_labels, n_slots), dtype=torch.bool, device=members.device)
    mass = centred.new_zeros((2 * n_labels, n_slots))
    for batch, part in found:
        exists[batch.components, : part.exists.shape[1]] = part.exists
        mass[batch.components, : part.exists.shape[1]] = part.mass
    prototypes = responsibilities = None
    if keep_responsibilities:
        responsibilities = _joined_shares(found, (n_labels, n_rows, n_slots))
    else:
        prototypes = centred.new_zeros((2 * n_labels, n_slots, centred.shape[1]))
        for batch, part in found:
            assert part.prototypes is not None
            prototypes[batch.components, : part.exists.shape[1]] = part.prototypes + centre
        prototypes = (prototypes * exists[..., None]).unflatten(0, (n_labels, 2))
    return Clustering(
        prototypes=prototypes,
        exists=exists.unflatten(0, (n_labels, 2)),
        mass=mass.unflatten(0, (n_labels, 2)),
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


def responsibilities_of(squares: Tensor, exists: Tensor, temperature: float) -> Tensor:
    """Soft assignment of rows over the existing clusters, (..., n_slots, n_rows).

    Parameters
    ----------
    squares : Tensor of shape (..., n_slots, n_rows)
        Squared distances.
    exists : Tensor of bool, shape (..., n_slots)
    temperature : float
    """
    scores = squares / -temperature
    if not bool(exists.all()):
        scores.masked_fill_(~exists[..., None], -1e30)
    return functional.threshold(torch.softmax(scores, dim=-2), _NEGLIGIBLE, 0.0, inplace=True)


@dataclass(frozen=True)
class _Batch:
    """Components that are worked on together.

    ``rows`` (n_components, n_rows), padded, or None where they read all rows; ``members``
    (n_components, n_rows) tells which of those belong to each.
    """

    components: Tensor
    rows: Tensor | None
    members: Tensor


@dataclass(frozen=True)
class _BatchClusters:
    """What was found for a batch; ``shares`` (n_components, n_slots, n_rows)."""

    prototypes: Tensor | None
    exists: Tensor
    mass: Tensor
    shares: Tensor


def _component_batches(members: Tensor, max_prototypes: int) -> Iterator[_Batch]:
    """Components with rows: large ones on all rows, small ones of like size on their own."""
    n_rows = members.shape[1]
    sizes = members.sum(1)
    large = (sizes > n_rows // 4).nonzero().squeeze(1)
    slots = min(max_prototypes, n_rows + 1)
    if len(large):
        for part in large.split(max(1, _MAX_CHUNK_ENTRIES // (slots * n_rows))):
            yield _Batch(part, None, members[part])
    small = ((sizes > 0) & (sizes <= n_rows // 4)).nonzero().squeeze(1)
    small = small[torch.argsort(sizes[small], descending=True, stable=True)]
    counts = sizes[small].tolist()
    start = 0
    while start < len(small):
        width = counts[start]
        most = max(1, _MAX_CHUNK_ENTRIES // (max(slots, 64) * width))
        stop = start
        while stop < len(small) and stop - start < most and 2 * counts[stop] + 8 >= width:
            stop += 1
        part = small[start:stop]
        # The members of each component in order, and others behind them.
        rows = torch.argsort(~members[part], dim=1, stable=True)[:, :width]
        yield _Batch(part, rows, members[part].gather(1, rows))
        start = stop


def _cluster_batch(
    points: Tensor,
    members: Tensor,
    means: Tensor,
    rule: CreationRule,
    settings: PNMLSettings,
    *,
    wants_prototypes: bool,
) -> _BatchClusters:
    """Grow and re-estimate some components."""
    prototypes, exists = means[:, None, :], members.any(1, keepdim=True)
    threshold = torch.full((len(members),), rule.threshold, device=points.device)
    for iteration in range(settings.n_clustering):
        room = settings.max_prototypes - exists.sum(1)
        created = growth_pass(points, members, prototypes, exists, threshold, room)
        n_old = prototypes.shape[1]
        prototypes, exists = prototypes_of(points, prototypes, exists, created)
        squares = _squares_to_all(points, prototypes, n_old, created)
        shares = responsibilities_of(squares, exists, rule.temperature)
        shares *= members[:, None, :]
        mass = shares.sum(2)
        kept = _without_empty_clusters(exists, mass)
        if not torch.equal(kept, exists):
            exists = kept
            shares *= exists[..., None]
            mass = mass * exists
        if wants_prototypes or iteration + 1 < settings.n_clustering:
            prototypes = torch.matmul(shares, points) / mass.clamp_min(MIN_MASS)[..., None]
    return _BatchClusters(prototypes if wants_prototypes else None, exists, mass, shares)


def _squares_to_all(points: Tensor, prototypes: Tensor, n_old: int, created: Tensor) -> Tensor:
    """Squared distances of all rows to the prototypes, the last of which are created rows."""
    if points.ndim == 3 or created.numel() == 0:
        return squared_distances(prototypes, points)
    # Components that read the same rows mostly add the same ones.
    rows, which = created.clamp_min(0).unique(return_inverse=True)
    to_created = squared_distances(points[rows], points)[which]
    return torch.cat([squared_distances(prototypes[:, :n_old], points), to_created], dim=1)


def _joined_shares(
    found: list[tuple[_Batch, _BatchClusters]], shape: tuple[int, int, int]
) -> Tensor:
    """Soft assignments of all rows, (n_labels, n_rows, n_slots).

    A row is a member of one side only, so the two sides of a label fit into one tensor.
    """
    example = found[0][1].shares if found else torch.empty(())
    joined = torch.empty(shape, dtype=example.dtype, device=example.device)
    is_open = [True] * shape[0]
    for batch, part in found:
        if batch.rows is not None:
            continue
        for label, shares in zip((batch.components // 2).tolist(), part.shares, strict=True):
            target = joined[label, :, : len(shares)]
            if is_open[label]:
                target.copy_(shares.mT)
                joined[label, :, len(shares) :] = 0.0
            else:
                target += shares.mT
            is_open[label] = False
    joined[torch.tensor(is_open, device=joined.device)] = 0.0
    for batch, part in found:
        if batch.rows is None:
            continue
        position, column = batch.members.nonzero().unbind(1)
        cells = ((batch.components // 2)[position], batch.rows[position, column])
        joined[..., : part.shares.shape[1]][cells] = part.shares[position, :, column]
    return joined


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
