"""The prototypes of a trained network, label by label, for people to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protolabel.pnml.network import PrototypeNetwork


@dataclass(frozen=True)
class LabelPrototypes:
    """Prototypes of one label in one member of the ensemble, with their mixing weights.

    ``positive`` and ``negative`` have one row per prototype, (n_prototypes, dim).
    """

    label: Any
    member: int
    positive: np.ndarray
    negative: np.ndarray
    positive_weights: np.ndarray
    negative_weights: np.ndarray


def prototype_counts(network: PrototypeNetwork) -> np.ndarray:
    """Number of prototypes of each component, (n_members, n_labels, 2), negative side first."""
    counts = network.prototypes.exists.sum(-1).cpu().numpy()
    return np.asarray(counts.reshape(network.n_members, network.n_labels, 2))


def label_prototypes(network: PrototypeNetwork, labels: Sequence[Any]) -> list[LabelPrototypes]:
    """Prototypes of every label, member by member.

    Parameters
    ----------
    network : PrototypeNetwork
    labels : sequence
        Name of each label.
    """
    heads = (network.n_members, network.n_labels)
    exists = network.prototypes.exists.cpu().numpy().reshape(*heads, 2, -1)
    positions = network.positions.cpu().numpy().reshape(*exists.shape, -1)
    weights = np.exp(network.log_weights.cpu().numpy().reshape(exists.shape))
    found = []
    for member in range(network.n_members):
        for position, label in enumerate(labels):
            negative, positive = exists[member, position]
            found.append(
                LabelPrototypes(
                    label=label,
                    member=member,
                    positive=positions[member, position, 1][positive],
                    negative=positions[member, position, 0][negative],
                    positive_weights=weights[member, position, 1][positive],
                    negative_weights=weights[member, position, 0][negative],
                )
            )
    return found
