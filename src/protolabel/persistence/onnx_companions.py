"""The companions of the network as ONNX operations."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from protolabel.companions.forest import Forest
from protolabel.companions.fusion import Fusion
from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.companions.set_prototypes import SetPrototypes, member_probabilities
from protolabel.companions.trees import Trees
from protolabel.persistence.onnx_graph import GraphBuilder


def fused_scores(graph: GraphBuilder, scores: list[str], fusion: Fusion, n_added: int = 0) -> str:
    """Sum of the learners' scores times their slopes, plus the intercept and the shifts.

    The change by the sets of labels comes on top. Labels that were not learned keep the score of
    the network.
    """
    total = graph.constant(np.asarray(fusion.intercept + fusion.shifts, dtype=np.float64))
    if n_added:
        # Companions do not know the labels that were added after training.
        sizes = graph.constant(np.array([0, 0, 0, n_added], dtype=np.int64))
        scores = [scores[0], *(graph.apply("Pad", values, sizes) for values in scores[1:])]
    for slope, values in zip(fusion.slopes, scores, strict=True):
        part = graph.apply("Mul", values, graph.constant(np.float64(slope)))
        total = graph.apply("Add", part, total)
    if fusion.set_prototypes is not None:
        total = graph.apply("Add", total, _change_by_sets(graph, total, fusion.set_prototypes))
    return graph.apply("Where", graph.constant(fusion.learned), total, scores[0])


def _change_by_sets(graph: GraphBuilder, log_odds: str, model: SetPrototypes) -> str:
    """What :meth:`SetPrototypes.change` adds."""
    within, without = member_probabilities(model.prior)
    # Stored once, in a byte a cell.
    members = graph.cast(graph.constant(model.sets.toarray().astype(np.int8)), np.float64)
    evidence = graph.apply("Sub", log_odds, graph.constant(model.prior + model.offset))
    found = graph.apply("Sigmoid", evidence)
    likely, unlikely = (
        _linear(graph, found, 2 * chance - 1, 1 - chance) for chance in (within, without)
    )
    ratio = graph.apply("Div", unlikely, likely)
    for_sets = graph.apply("Neg", graph.apply("Log", ratio))
    heights = graph.apply(
        "Add",
        graph.apply("MatMul", for_sets, graph.apply("Transpose", members)),
        graph.constant(np.log(model.counts)),
    )
    weights = graph.apply("Softmax", heights, axis=1)
    inside = graph.apply("MatMul", weights, members)
    outside = graph.apply("Sub", graph.constant(np.float64(1)), inside)
    scaled = graph.apply("Mul", inside, ratio)
    present, absent = (
        graph.apply(
            "Add",
            graph.apply("Mul", outside, graph.constant(of_others)),
            graph.apply("Mul", scaled, graph.constant(of_members)),
        )
        for of_others, of_members in ((without, within), (1 - without, 1 - within))
    )
    excess = graph.apply("Sub", graph.apply("Log", present), graph.apply("Log", absent))
    beyond = graph.apply("Sub", excess, graph.constant(model.prior))
    return graph.apply("Mul", beyond, graph.constant(np.float64(model.weight)))


def _linear(graph: GraphBuilder, values: str, slope: np.ndarray, intercept: np.ndarray) -> str:
    product = graph.apply("Mul", values, graph.constant(slope))
    return graph.apply("Add", product, graph.constant(intercept))


def kernel_scores(graph: GraphBuilder, scaled: str, model: KernelRidge) -> str:
    """Log-odds of a kernel regression; its large coefficients need double precision.

    Parameters
    ----------
    graph : GraphBuilder
    scaled : str
        Scaled rows in double precision.
    model : KernelRidge
    """
    landmarks = model.landmarks
    landmarks = np.asarray(
        landmarks.toarray() if sp.issparse(landmarks) else landmarks, dtype=np.float64
    )
    if model.weights is not None:
        scaled = graph.apply("Mul", scaled, graph.constant(model.weights))
        landmarks = landmarks * model.weights
    measure = _absolute_distances if model.distance == "absolute" else _squared_distances
    distances = measure(graph, scaled, landmarks)
    exponents = graph.apply("Mul", distances, graph.constant(np.float64(-model.precision)))
    product = graph.apply(
        "MatMul", graph.apply("Exp", exponents), graph.constant(model.coefficients)
    )
    values = graph.apply("Add", product, graph.constant(model.intercept))
    complement = graph.apply("Sub", graph.constant(np.float64(1)), values)
    square = np.square(np.asarray(model.softness, dtype=np.float64))
    return graph.apply(
        "Sub",
        _log_positive_part(graph, values, square),
        _log_positive_part(graph, complement, square),
    )


def _squared_distances(graph: GraphBuilder, rows: str, landmarks: np.ndarray) -> str:
    own = graph.reduce("ReduceSum", graph.apply("Mul", rows, rows), 1)
    cross = graph.apply("MatMul", rows, graph.constant(-2 * landmarks.T))
    lengths = graph.constant(np.square(landmarks).sum(axis=1))
    squares = graph.apply("Add", graph.apply("Add", cross, own), lengths)
    return graph.apply("Max", squares, graph.constant(np.float64(0)))


def _absolute_distances(graph: GraphBuilder, rows: str, landmarks: np.ndarray) -> str:
    """Sums of absolute differences, column by column: all at once would be a large tensor."""

    def add_column(inner: GraphBuilder, so_far: str, items: list[str]) -> str:
        of_rows, of_landmarks = inner.reshape(items[0], -1, 1), items[1]
        apart = inner.apply("Abs", inner.apply("Sub", of_rows, of_landmarks))
        return inner.apply("Add", so_far, apart)

    first = graph.apply("Gather", rows, graph.constant(np.array([0])), axis=1)
    start = graph.apply("Mul", first, graph.constant(np.zeros((1, len(landmarks)))))
    return graph.fold(add_column, start, [rows, graph.constant(landmarks.T)], axes=[1, 0])


def _log_positive_part(graph: GraphBuilder, values: str, square: np.ndarray) -> str:
    """Logarithm of (v + sqrt(v^2 + 4 s^2)) / 2, by its conjugate below zero, of given s^2."""
    offset = graph.constant(4 * square)
    roots = graph.apply("Sqrt", graph.apply("Add", graph.apply("Mul", values, values), offset))
    above = graph.apply("Mul", graph.apply("Add", values, roots), graph.constant(np.float64(0.5)))
    below = graph.apply(
        "Div",
        graph.constant(2 * square),
        graph.apply("Add", roots, graph.apply("Abs", values)),
    )
    positive = graph.apply("Greater", values, graph.constant(np.float64(0)))
    return graph.apply("Log", graph.apply("Where", positive, above, below))


def forest_scores(graph: GraphBuilder, rows: str, forest: Forest) -> str:
    """Log-odds of a forest, whose leaves vote with the shares of the labels in them.

    Parameters
    ----------
    graph : GraphBuilder
    rows : str
        Scaled rows in single precision.
    forest : Forest
    """
    n_trees, n_labels = len(forest.trees.roots), len(forest.prior)
    summed = graph.apply(
        "TreeEnsembleRegressor",
        rows,
        domain="ai.onnx.ml",
        aggregate_function="SUM",
        n_targets=n_labels,
        post_transform="NONE",
        **_tree_attributes(forest.trees),
        **_vote_attributes(forest),
    )
    return vote_log_odds(graph, summed, forest.prior, n_trees)


def vote_log_odds(graph: GraphBuilder, summed: str, prior: np.ndarray, n_trees: int) -> str:
    """Log-odds from the summed votes of all trees, with one more vote for the prior."""
    votes = graph.apply("Add", graph.cast(summed, np.float64), graph.constant(prior))
    others = graph.apply("Sub", graph.constant(np.float64(n_trees + 1)), votes)
    return graph.apply("Sub", graph.apply("Log", votes), graph.apply("Log", others))


def _tree_attributes(trees: Trees) -> dict[str, list[float] | list[int] | list[str]]:
    tree, local = _places(trees)
    inner = trees.feature >= 0
    # A value in single precision is at most a threshold if it is at most the next one below it.
    rounded = trees.threshold.astype(np.float32)
    too_high = rounded.astype(np.float64) > trees.threshold
    rounded[too_high] = np.nextafter(rounded[too_high], np.float32(-np.inf))
    starts = trees.roots[tree]
    return {
        "nodes_treeids": tree.tolist(),
        "nodes_nodeids": local.tolist(),
        "nodes_featureids": np.where(inner, trees.feature, 0).tolist(),
        "nodes_modes": np.where(inner, "BRANCH_LEQ", "LEAF").tolist(),
        "nodes_values": np.where(inner, rounded, 0).tolist(),
        "nodes_truenodeids": np.where(inner, trees.left - starts, 0).tolist(),
        "nodes_falsenodeids": np.where(inner, trees.right - starts, 0).tolist(),
        "nodes_missing_value_tracks_true": [0] * len(inner),
    }


def _vote_attributes(forest: Forest) -> dict[str, list[float] | list[int]]:
    """Share of each label in each leaf; a leaf without labels votes nothing for the first."""
    tree, local = _places(forest.trees)
    votes = sp.coo_array(forest.leaf_rows @ forest.labels)
    leaves = np.flatnonzero(forest.trees.feature < 0)
    silent = np.setdiff1d(leaves, votes.row)
    nodes = np.concatenate([votes.row, silent])
    return {
        "target_treeids": tree[nodes].tolist(),
        "target_nodeids": local[nodes].tolist(),
        "target_ids": np.concatenate([votes.col, np.zeros(len(silent), int)]).tolist(),
        "target_weights": np.concatenate([votes.data, np.zeros(len(silent))]).tolist(),
    }


def _places(trees: Trees) -> tuple[np.ndarray, np.ndarray]:
    """Tree of each node, and its number there."""
    nodes = np.arange(len(trees.feature))
    tree = np.searchsorted(trees.roots, nodes, side="right") - 1
    return tree, nodes - trees.roots[tree]
