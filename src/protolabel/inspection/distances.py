"""Distances of a row to all prototypes, as the networks use them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from protolabel.inspection.explanation import MemberView, PrototypeDistance
from protolabel.pnml.distance import label_distances
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import FeatureRows


@torch.no_grad()
def member_views(
    network: PrototypeNetwork,
    row: FeatureRows,
    labels: np.ndarray,
    training_rows: FeatureRows | None = None,
    n_nearest: int = 3,
) -> list[tuple[MemberView, ...]]:
    """The prototypes of labels as every network that knows them sees a row.

    Parameters
    ----------
    network : PrototypeNetwork
    row : FeatureRows
        One scaled row.
    labels : ndarray of int
        Positions of labels.
    training_rows : FeatureRows or None, default=None
        Scaled rows among which to look for those nearest to the nearest prototypes.
    n_nearest : int, default=3
        How many of them.

    Returns
    -------
    list of tuple of MemberView
        One entry for each label.
    """
    own = network.embed(row)
    others = None if training_rows is None else network.embed(training_rows)
    return [
        tuple(
            _member_view(network, member, int(label), own, others, n_nearest)
            for member in range(network.n_members)
            if bool(_heads(network, network.active)[member, label])
        )
        for label in labels
    ]


def distances_to_label(
    network: PrototypeNetwork, member: int, label: int, embeddings: Tensor
) -> Tensor:
    """Distances of rows to the prototypes of one label in one network, (n_rows, 2, n_slots).

    Parameters
    ----------
    network : PrototypeNetwork
    member, label : int
    embeddings : Tensor of shape (n_slices, n_rows, dim)
        From :meth:`PrototypeNetwork.embed`.
    """
    slice_number, head = head_of(network, member, label)
    positions = network.positions[slice_number, head]  # (2, n_slots, dim)
    metric = None if network.metric is None else network.metric[slice_number, head][None, None]
    distances = label_distances(
        embeddings[slice_number][None],
        positions.flatten(0, 1)[None, None],
        metric,
        squared=network.settings.squared_distance,
    )
    if network.log_variance is not None:
        distances = distances / (2 * network.log_variance[slice_number].exp())
    return distances[0, 0].view(-1, 2, positions.shape[1])


def head_of(network: PrototypeNetwork, member: int, label: int) -> tuple[int, int]:
    """Slice of a member and position of a label in it."""
    if network.settings.shared_embedding:
        return member, label
    return member * network.n_labels + label, 0


def _member_view(
    network: PrototypeNetwork,
    member: int,
    label: int,
    own: Tensor,
    others: Tensor | None,
    n_nearest: int,
) -> MemberView:
    distances = distances_to_label(network, member, label, own)[0].cpu().double().numpy()
    slice_number, head = head_of(network, member, label)
    exists = network.prototypes.exists[slice_number, head].cpu().numpy()  # (2, n_slots)
    weights = network.log_weights[slice_number, head].double().exp().cpu().numpy()
    found: list[tuple[PrototypeDistance, ...]] = []
    for side in (0, 1):
        slots = np.flatnonzero(exists[side])
        slots = slots[np.argsort(distances[side, slots], kind="stable")]
        rows: dict[int, tuple[int, ...]] = {}
        if others is not None:
            to_nearest = distances_to_label(network, member, label, others)[:, side, slots[0]]
            order = torch.argsort(to_nearest, stable=True)[:n_nearest]
            rows = {0: tuple(order.tolist())}
        numbers = {int(slot): number for number, slot in enumerate(np.flatnonzero(exists[side]))}
        found.append(
            tuple(
                PrototypeDistance(
                    numbers[int(slot)],
                    float(distances[side, slot]),
                    float(weights[side, slot]),
                    rows.get(place, ()),
                )
                for place, slot in enumerate(slots)
            )
        )
    prior = _heads(network, network.log_prior_odds)[member, label]
    return MemberView(member, float(prior), positive=found[1], negative=found[0])


def _heads(network: PrototypeNetwork, values: Tensor) -> Tensor:
    """One value per slice and head as one per member and label."""
    return values.reshape(network.n_members, network.n_labels)
