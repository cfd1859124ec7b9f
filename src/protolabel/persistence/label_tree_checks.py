"""Whether the decoded trees of Parabel can score rows."""

from __future__ import annotations

import numpy as np

from protolabel.baselines._label_tree import LabelTree
from protolabel.baselines.parabel import LabelForest
from protolabel.persistence.array_checks import check_indices, check_shapes
from protolabel.safefiles.bundle import Bundle

_SHAPES = {
    "node_weights": "nodes features+1",
    "label_weights": "learned features+1",
    "parents": "nodes",
    "depths": "nodes",
    "leaves": "learned",
    "sure_nodes": "nodes",
    "sure_labels": "learned",
}


def check_label_forest(
    forest: LabelForest, n_features: int, n_learned: int, bundle: Bundle
) -> None:
    """Refuse trees whose parts do not fit each other or the number of labels."""
    if forest.n_labels != n_learned or bool(forest.trees) != (n_learned > 0):
        bundle.refuse(f"{len(forest.trees)} trees of {forest.n_labels} labels; {n_learned} learned")
    sizes = {"features": n_features, "learned": n_learned}
    for position, tree in enumerate(forest.trees):
        place = f"model.trees.{position}"
        check_shapes(tree, place, _SHAPES, sizes, bundle)
        _check_paths(tree, place, bundle)


def _check_paths(tree: LabelTree, place: str, bundle: Bundle) -> None:
    """Parents come before their children, one level above them."""
    n_nodes = len(tree.parents)
    if n_nodes == 0 or tree.parents[0] != -1 or tree.depths[0] != 0:
        bundle.refuse(f"{place} has no root")
    below = tree.parents[1:]
    check_indices(below, 0, np.arange(1, n_nodes), f"{place}.parents", bundle)
    check_indices(tree.leaves, 0, n_nodes, f"{place}.leaves", bundle)
    check_indices(tree.depths, 0, n_nodes, f"{place}.depths", bundle)
    if not np.array_equal(tree.depths[1:], tree.depths[below] + 1):
        bundle.refuse(f"{place}.depths are not those of the parents")
    if tree.sure_nodes.dtype != bool or tree.sure_labels.dtype != bool:
        bundle.refuse(f"{place} has marks that are not yes or no")
