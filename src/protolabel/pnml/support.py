"""The rows behind the prototypes of one training step, and the prototypes they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from protolabel.pnml.cluster_means import cluster_means
from protolabel.pnml.clustering import Clustering, cluster_components
from protolabel.pnml.components import Components
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.prototypes import (
    LOG_ZERO,
    PrototypeSet,
    component_means,
    mixing_log_weights,
)


@dataclass(frozen=True)
class Support:
    """Embedded rows, (n_slices, n_rows, dim), and the components they stand for."""

    embeddings: Tensor
    components: Components

    def stretch(self, batch: Tensor, squared: bool) -> Tensor:
        """Factors n / (n - 1) on the distance of a query to the mean it is part of.

        The distance to the mean without the query is exactly that much longer, since
        e - (n p - e) / (n - 1) = n / (n - 1) (e - p).

        Parameters
        ----------
        batch : Tensor of int, shape (n_queries,)
            Positions of the queries in the support.
        squared : bool

        Returns
        -------
        Tensor of shape (n_slices, n_labels, n_queries, 2)
        """
        counts = self.components.counts().to(self.embeddings.dtype)
        factors = torch.where(counts > 1, counts / (counts - 1).clamp_min(1), 1.0)
        members = torch.stack(
            [self.components.membership(s)[..., batch] for s in range(len(counts))]
        )  # (n_slices, 2, n_labels, n_queries)
        own = torch.where(members.permute(0, 2, 3, 1), factors[:, :, None, :], 1.0)
        return own.square() if squared else own


def cluster_slices(
    network: PrototypeNetwork, support: Support, *, keep_responsibilities: bool
) -> list[Clustering]:
    """Run the adaptive clustering in every slice, on detached embeddings."""
    variances = None if network.log_variance is None else network.log_variance.detach().exp()
    return [
        cluster_components(
            support.embeddings[position].detach(),
            support.components.membership(position),
            network.settings,
            trained_variance=None if variances is None else float(variances[position]),
            keep_responsibilities=keep_responsibilities,
        )
        for position in range(network.n_slices)
    ]


def support_prototypes(
    network: PrototypeNetwork, support: Support, clusterings: Sequence[Clustering] | None = None
) -> PrototypeSet:
    """Prototypes of the support; with gradient to its embeddings where they carry one.

    Parameters
    ----------
    network : PrototypeNetwork
    support : Support
    clusterings : sequence of Clustering or None
        Frozen soft assignments over the rows of the support, one per slice; None finds new
        ones. Without effect for single prototypes.
    """
    if network.settings.prototypes == "single":
        return component_means(support.embeddings, support.components)
    if not support.embeddings.requires_grad:
        found = cluster_slices(network, support, keep_responsibilities=False)
        parts = [(c.prototypes, c.exists, c.mass) for c in found if c.prototypes is not None]
        return _stack(network, parts)
    if clusterings is None:
        clusterings = cluster_slices(network, support, keep_responsibilities=True)
    parts = []
    for position, clustering in enumerate(clusterings):
        assert clustering.responsibilities is not None
        positions, mass = cluster_means(
            support.embeddings[position],
            clustering.responsibilities,
            support.components,
            position,
            n_negative_slots=clustering.n_negative_slots,
        )
        # A cluster without a row in this support sits the step out.
        parts.append((positions, clustering.exists & (mass > 1e-12), mass))
    return _stack(network, parts)


def _stack(network: PrototypeNetwork, parts: list[tuple[Tensor, Tensor, Tensor]]) -> PrototypeSet:
    """Join slices with different numbers of slots into one padded set."""
    n_slots = max(exists.shape[-1] for _, exists, _ in parts)
    positions, log_weights = [], []
    if len(parts) == 1:
        found, exists, mass = parts[0]
        weights = mixing_log_weights(exists, mass, network.settings.mixing)
        return PrototypeSet(found[None], weights[None])
    for found, exists, mass in parts:
        missing = n_slots - exists.shape[-1]
        weights = mixing_log_weights(exists, mass, network.settings.mixing)
        positions.append(torch.nn.functional.pad(found, (0, 0, 0, missing)))
        log_weights.append(torch.nn.functional.pad(weights, (0, missing), value=LOG_ZERO))
    return PrototypeSet(torch.stack(positions), torch.stack(log_weights))
