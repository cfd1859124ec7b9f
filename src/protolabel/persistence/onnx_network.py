"""The prototype network as ONNX operations, in double precision as the library predicts."""

from __future__ import annotations

import numpy as np

from protolabel.persistence.onnx_graph import GraphBuilder
from protolabel.pnml.network import PrototypeNetwork

# What the library adds under the root of a distance in double precision.
_ROOT_OFFSET = 1e-12


def network_scores(graph: GraphBuilder, rows: str, network: PrototypeNetwork) -> str:
    """Mean log-odds of the members, (n_samples, n_labels), of scaled rows.

    Parameters
    ----------
    graph : GraphBuilder
    rows : str
        Scaled rows in single precision.
    network : PrototypeNetwork
    """
    state = {name: value.cpu().numpy() for name, value in network.state_dict().items()}
    embeddings = _embeddings(graph, graph.cast(rows, np.float64), network, state)
    distances = _distances(graph, embeddings, network, state)
    logits = _logits(graph, distances, state)  # (n_slices, labels_per_slice, n_samples)
    return _member_mean(graph, logits, network, state)


def _embeddings(
    graph: GraphBuilder, rows: str, network: PrototypeNetwork, state: dict[str, np.ndarray]
) -> str:
    weight = state["embedding.weight"]  # (n_features, n_slices, first)
    n_features, n_slices, first = weight.shape
    product = graph.apply("MatMul", rows, graph.constant(weight.reshape(n_features, -1)))
    by_slice = graph.apply("Transpose", graph.reshape(product, -1, n_slices, first), perm=[1, 0, 2])
    hidden = graph.apply("Add", by_slice, graph.constant(state["embedding.bias"]))
    embeddings = _leaky_relu(graph, hidden, network.settings.negative_slope)
    if "embedding.top_weight" in state:
        product = graph.apply("MatMul", embeddings, graph.constant(state["embedding.top_weight"]))
        hidden = graph.apply("Add", product, graph.constant(state["embedding.top_bias"]))
        embeddings = _leaky_relu(graph, hidden, network.settings.negative_slope)
    return embeddings


def _leaky_relu(graph: GraphBuilder, values: str, slope: float) -> str:
    positive = graph.apply("Greater", values, graph.constant(np.float64(0)))
    return graph.apply(
        "Where", positive, values, graph.apply("Mul", values, graph.constant(np.float64(slope)))
    )


def _distances(
    graph: GraphBuilder, embeddings: str, network: PrototypeNetwork, state: dict[str, np.ndarray]
) -> str:
    """Distances to all prototypes, (n_slices, labels_per_slice, n_samples, 2 * n_slots)."""
    positions = state["positions"]
    prototypes = positions.reshape(*positions.shape[:2], -1, positions.shape[-1])
    centre = prototypes.mean(axis=(1, 2))[:, None, None, :]
    anchors = prototypes - centre
    axis = graph.constant(np.array([1], dtype=np.int64))
    projected = graph.apply(
        "Sub", graph.apply("Unsqueeze", embeddings, axis), graph.constant(centre)
    )
    if "metric" in state:
        transposed = np.swapaxes(state["metric"], -1, -2)
        projected = graph.apply("MatMul", projected, graph.constant(transposed))
        anchors = anchors @ transposed
    cross = graph.apply("MatMul", projected, graph.constant(-2 * np.swapaxes(anchors, -1, -2)))
    own = graph.reduce("ReduceSum", graph.apply("Mul", projected, projected), -1)
    lengths = graph.constant(np.square(anchors).sum(-1)[:, :, None, :])
    squares = graph.apply("Add", graph.apply("Add", cross, own), lengths)
    distances = graph.apply("Max", squares, graph.constant(np.float64(0)))
    if not network.settings.squared_distance:
        offset = graph.constant(np.float64(_ROOT_OFFSET))
        distances = graph.apply("Sqrt", graph.apply("Add", distances, offset))
    if "log_variance" in state:
        factor = 1 / (2 * np.exp(state["log_variance"]))
        distances = graph.apply("Mul", distances, graph.constant(factor[:, None, None, None]))
    return distances


def _logits(graph: GraphBuilder, distances: str, state: dict[str, np.ndarray]) -> str:
    log_weights = state["log_weights"]  # (n_slices, labels_per_slice, 2, n_slots)
    n_slices, n_labels, _, n_slots = log_weights.shape
    by_side = graph.reshape(distances, n_slices, n_labels, -1, 2, n_slots)
    joint = graph.apply("Sub", graph.constant(log_weights[:, :, None]), by_side)
    # The logarithm of a sum of exponentials, without overflow.
    largest = graph.reduce("ReduceMax", joint, -1)
    shares = graph.apply("Exp", graph.apply("Sub", joint, largest))
    total = graph.apply("Log", graph.reduce("ReduceSum", shares, -1))
    density = graph.reshape(graph.apply("Add", total, largest), n_slices, n_labels, -1, 2)
    negative, positive = (
        graph.apply("Gather", density, graph.constant(np.int64(side)), axis=3) for side in (0, 1)
    )
    ratio = graph.apply("Sub", positive, negative)
    return graph.apply("Add", ratio, graph.constant(state["log_prior_odds"][..., None]))


def _member_mean(
    graph: GraphBuilder, logits: str, network: PrototypeNetwork, state: dict[str, np.ndarray]
) -> str:
    """Mean over the members that know a label; the prior where none does."""
    n_members, n_labels = network.n_members, network.n_labels
    active = state["active"].reshape(n_members, n_labels)
    n_active = active.sum(axis=0)
    weights = active / np.maximum(n_active, 1)
    known = graph.apply(
        "Where",
        graph.constant(active[..., None]),
        graph.reshape(logits, n_members, n_labels, -1),
        graph.constant(np.float64(0)),
    )
    weighted = graph.apply("Mul", known, graph.constant(weights[..., None]))
    mean = graph.reduce("ReduceSum", weighted, 0, keep=False)
    prior = np.where(n_active == 0, state["constant_logits"], 0.0)
    return graph.apply("Add", graph.apply("Transpose", mean, perm=[1, 0]), graph.constant(prior))
