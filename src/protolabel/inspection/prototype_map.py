"""Rows and prototypes of one network in the plane, by t-SNE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.manifold import TSNE

from protolabel.classifier import PNMLClassifier
from protolabel.inspection.distances import distances_to_label, head_of
from protolabel.pnml.rows import feature_rows

_N_NEAREST = 3


@dataclass(frozen=True)
class MappedPrototype:
    """A prototype in the plane.

    Parameters
    ----------
    label : int
        Position of its label.
    side : {"positive", "negative"}
        Its component.
    number, n_prototypes : int
        Position among the prototypes of the component, and how many there are.
    x, y : float
        Place.
    n_members, n_component : int
        Rows of the component nearer to it than to its other prototypes, and all rows of it.
    nearest_rows : tuple of int
        Closest rows of the data in the metric of the label.
    """

    label: int
    side: Literal["positive", "negative"]
    number: int
    n_prototypes: int
    x: float
    y: float
    n_members: int
    n_component: int
    nearest_rows: tuple[int, ...]


@dataclass(frozen=True)
class PrototypeMap:
    """Rows and prototypes of one network.

    Parameters
    ----------
    member : int
        The network.
    labels : tuple of int
        Positions of the labels whose prototypes are shown, most frequent first.
    rows : ndarray of int, shape (n_shown,)
        Rows of the data that are shown.
    places : ndarray of shape (n_shown, 2)
        Their places.
    prototypes : tuple of MappedPrototype
    """

    member: int
    labels: tuple[int, ...]
    rows: np.ndarray
    places: np.ndarray
    prototypes: tuple[MappedPrototype, ...]


def map_prototypes(
    model: PNMLClassifier,
    X: Any,
    Y: Any,
    *,
    member: int = 0,
    max_rows: int = 400,
    max_labels: int = 15,
    max_prototypes: int = 200,
    random_state: int = 0,
) -> PrototypeMap:
    """Lay out rows and prototypes by their distances in the embedding of one network.

    Parameters
    ----------
    model : PNMLClassifier
        Fitted. Where every label has an embedding of its own, one label is mapped.
    X : array-like or sparse of shape (n_samples, n_features)
        Raw features.
    Y : array-like or sparse of shape (n_samples, n_labels)
        Labels as 0 and 1.
    member : int, default=0
        Network to look into.
    max_rows, max_labels : int, default=400 and 15
        Rows, drawn at random, and labels, the most frequent ones, that are shown.
    max_prototypes : int, default=200
        Labels are left out from the one on that would bring more prototypes; the first is
        always shown. The layout takes a second for a few hundred points.
    random_state : int, default=0
        Seed of draw and layout.

    Returns
    -------
    PrototypeMap
    """
    network = model.model_.network
    labels = sp.csr_array(Y)
    counts = np.asarray(labels.sum(axis=0)).ravel()
    active = network.active.cpu().numpy().reshape(network.n_members, network.n_labels)
    known = np.flatnonzero(active[member])
    shown = known[np.argsort(-counts[known], kind="stable")]
    shown = shown[: max_labels if network.settings.shared_embedding else 1]
    totals = np.cumsum(model.n_prototypes_[member][shown].sum(axis=1))
    shown = shown[: max(1, int((totals <= max_prototypes).sum()))]
    if len(shown) == 0:
        raise ValueError("No network knows a label: there are no prototypes to map.")
    scaled = model.model_.scaler.transform(model._checked(X))
    embeddings = network.embed(feature_rows(scaled, network.positions.device))
    rng = np.random.default_rng(random_state)
    rows = np.sort(rng.permutation(labels.shape[0])[:max_rows])
    own = embeddings[head_of(network, member, int(shown[0]))[0]].cpu().numpy()[rows]
    present = labels[:, shown].toarray().astype(bool)
    found: list[MappedPrototype] = []
    positions: list[np.ndarray] = []
    for column, label in enumerate(shown):
        distances = distances_to_label(network, member, int(label), embeddings)
        slice_number, head = head_of(network, member, int(label))
        exists = network.prototypes.exists[slice_number, head].cpu().numpy()
        places = network.positions[slice_number, head].detach().cpu().numpy()
        for side in (1, 0):
            found += _side(distances[:, side, exists[side]], present[:, column], int(label), side)
            positions.append(places[side][exists[side]])
    plane = _lay_out(np.vstack([own, *positions]), random_state)
    prototypes = tuple(
        MappedPrototype(**(vars(prototype) | {"x": float(x), "y": float(y)}))
        for prototype, (x, y) in zip(found, plane[len(rows) :], strict=True)
    )
    return PrototypeMap(
        member, tuple(int(label) for label in shown), rows, plane[: len(rows)], prototypes
    )


def _side(
    distances: torch.Tensor, has_label: np.ndarray, label: int, side: int
) -> list[MappedPrototype]:
    """Prototypes of one component with their rows, not yet placed."""
    values = distances.detach().cpu().numpy()  # (n_rows, n_prototypes)
    component = has_label if side == 1 else ~has_label
    members = np.bincount(values[component].argmin(axis=1), minlength=values.shape[1])
    nearest = np.argsort(values, axis=0, kind="stable")[:_N_NEAREST]
    return [
        MappedPrototype(
            label=label,
            side="positive" if side == 1 else "negative",
            number=number,
            n_prototypes=values.shape[1],
            x=0.0,
            y=0.0,
            n_members=int(members[number]),
            n_component=int(component.sum()),
            nearest_rows=tuple(nearest[:, number].tolist()),
        )
        for number in range(values.shape[1])
    ]


def _lay_out(points: np.ndarray, seed: int) -> np.ndarray:
    """Places in the unit square, (n_points, 2)."""
    perplexity = min(30.0, (len(points) - 1) / 3)
    points = points.astype(np.float64)
    plane = TSNE(
        perplexity=perplexity, init="pca", max_iter=500, random_state=seed, n_jobs=1
    ).fit_transform(points)
    low, high = plane.min(axis=0), plane.max(axis=0)
    return np.asarray((plane - low) / np.where(high > low, high - low, 1.0))
