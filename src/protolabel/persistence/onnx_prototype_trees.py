"""Prototype trees as ONNX operations: one product with all prototypes, then a step a level."""

from __future__ import annotations

import numpy as np

from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.companions.prototype_trees import PrototypeTrees
from protolabel.persistence.onnx_companions import vote_log_odds
from protolabel.persistence.onnx_graph import GraphBuilder


def prototype_forest_scores(graph: GraphBuilder, scaled: str, forest: PrototypeForest) -> str:
    """Log-odds of a forest of prototype trees.

    Parameters
    ----------
    graph : GraphBuilder
    scaled : str
        Scaled rows in double precision.
    forest : PrototypeForest
    """
    trees = forest.prototype_trees
    leaves = _leaves(graph, scaled, trees)
    shares = (forest.leaf_rows @ forest.labels).toarray().astype(np.float32)
    votes_of_trees = graph.apply("Gather", graph.constant(shares), leaves, axis=0)
    summed = graph.reduce("ReduceSum", votes_of_trees, 1, keep=False)
    return vote_log_odds(graph, summed, forest.prior, len(trees.roots))


def _leaves(graph: GraphBuilder, scaled: str, trees: PrototypeTrees) -> str:
    """Leaf of each row in each tree, (n_samples, n_trees)."""
    n_trees = len(trees.roots)
    projection = graph.constant(trees.projection.astype(np.float64))
    projected = graph.apply("MatMul", scaled, projection)
    prototypes = graph.constant(trees.prototypes.T.astype(np.float64))
    products = graph.apply("MatMul", projected, prototypes)  # (n_samples, n_nodes)
    children = _children(trees)
    table = graph.constant(children)
    n_samples = graph.apply("Shape", products, start=0, end=1)
    all_trees = graph.constant(np.array([n_trees], dtype=np.int64))
    roots = graph.constant(trees.roots.astype(np.int64))
    nodes = graph.apply("Expand", roots, graph.apply("Concat", n_samples, all_trees, axis=0))
    last = graph.constant(np.array([2], dtype=np.int64))
    for _ in range(_n_levels(trees)):
        candidates = graph.apply("Gather", table, nodes, axis=0)  # (n_samples, n_trees, width)
        flat = graph.reshape(candidates, -1, n_trees * children.shape[1])
        found = graph.apply("GatherElements", products, flat, axis=1)
        by_tree = graph.reshape(found, -1, n_trees, children.shape[1])
        nearest = graph.apply("ArgMax", by_tree, axis=2, keepdims=1)
        chosen = graph.apply("GatherElements", candidates, nearest, axis=2)
        nodes = graph.apply("Squeeze", chosen, last)
    return nodes


def _children(trees: PrototypeTrees) -> np.ndarray:
    """Children of each node, (n_nodes, width); the first once more where there are fewer.

    A leaf leads to itself.
    """
    own = np.arange(len(trees.first_child))
    first = np.where(trees.first_child < 0, own, trees.first_child)
    offsets = np.arange(max(trees.n_children.max(), 1))
    children = np.where(offsets < trees.n_children[:, None], offsets, 0)
    return np.asarray(first[:, None] + children, dtype=np.int64)


def _n_levels(trees: PrototypeTrees) -> int:
    """Steps of the longest way from a root to a leaf."""
    depth = np.zeros(len(trees.first_child), dtype=np.int64)
    # Children come after their node.
    for node in np.flatnonzero(trees.first_child >= 0):
        first = trees.first_child[node]
        depth[first : first + trees.n_children[node]] = depth[node] + 1
    return int(depth.max())
