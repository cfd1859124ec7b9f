"""Whether the decoded companions of a network can score rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from protolabel.companions.forest import Forest
from protolabel.companions.fusion import Fusion
from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.companions.leaf_votes import LeafVotes
from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.companions.prototype_trees import PrototypeTrees
from protolabel.companions.set_prototypes import SetPrototypes
from protolabel.companions.tasks import Companion
from protolabel.companions.trees import Trees
from protolabel.persistence.array_checks import check_indices, check_membership, check_shapes
from protolabel.safefiles.bundle import Bundle

_KERNEL_SHAPES = {
    "landmarks": "landmarks features",
    "coefficients": "landmarks labels",
    "intercept": "labels",
}
_VOTES_SHAPES = {
    "leaf_rows": "nodes rows",
    "labels": "rows labels",
    "prior": "labels",
}
_FOREST_SHAPES = _VOTES_SHAPES | {
    "trees.roots": "trees",
    "trees.feature": "nodes",
    "trees.left": "nodes",
    "trees.right": "nodes",
    "trees.threshold": "nodes",
}
_PROTOTYPE_FOREST_SHAPES = _VOTES_SHAPES | {
    "prototype_trees.projection": "features dim",
    "prototype_trees.roots": "trees",
    "prototype_trees.first_child": "nodes",
    "prototype_trees.n_children": "nodes",
    "prototype_trees.prototypes": "nodes dim",
}


def check_companions(
    companions: Sequence[Companion],
    fusion: Fusion | None,
    n_features: int,
    n_labels: int,
    n_added: int,
    bundle: Bundle,
) -> None:
    """Refuse companions that do not fit the network or each other."""
    sizes = {"features": n_features, "labels": n_labels - n_added}
    for position, companion in enumerate(companions):
        place = f"companions.{position}"
        if isinstance(companion, Forest):
            check_shapes(companion, place, _FOREST_SHAPES, sizes, bundle)
            _check_trees(companion.trees, f"{place}.trees", n_features, bundle)
            _check_votes(companion, companion.trees.roots, place, bundle)
        elif isinstance(companion, PrototypeForest):
            trees = companion.prototype_trees
            check_shapes(companion, place, _PROTOTYPE_FOREST_SHAPES, sizes, bundle)
            _check_prototype_trees(trees, f"{place}.prototype_trees", bundle)
            _check_votes(companion, trees.roots, place, bundle)
        else:
            _check_kernel(companion, place, sizes, bundle)
    if (fusion is None) != (len(companions) == 0):
        bundle.refuse(f"there are {len(companions)} companions, which does not fit the fusion")
    if fusion is None:
        return
    if fusion.slopes.shape != (1 + len(companions),):
        bundle.refuse(f"the fusion has slopes of shape {fusion.slopes.shape}")
    if fusion.learned.shape != (n_labels,) or fusion.learned.dtype != bool:
        bundle.refuse(f"the fusion does not mark {n_labels} labels as learned or not")
    if fusion.learned[n_labels - n_added :].any():
        bundle.refuse("the fusion expects companions to know labels that were added later")
    if np.shape(fusion.shifts) not in ((), (n_labels,)):
        bundle.refuse(f"the fusion has shifts of shape {np.shape(fusion.shifts)}")
    # Models from before labels were judged together have no sets.
    if fusion.set_prototypes is not None:
        _check_set_prototypes(fusion.set_prototypes, n_labels, n_added, bundle)


def _check_set_prototypes(sets: SetPrototypes, n_labels: int, n_added: int, bundle: Bundle) -> None:
    place = "fusion.set_prototypes"
    shapes = {"sets": "sets labels", "counts": "sets", "prior": "labels"}
    check_shapes(sets, place, shapes, {"labels": n_labels}, bundle)
    check_membership(sets.sets, f"{place}.sets", bundle)
    parts = (sets.sets, sets.counts, sets.prior, np.asarray(sets.offset))
    if any(part.dtype != np.float64 for part in parts):
        bundle.refuse(f"{place} is not in double precision")
    if not len(sets.counts) or not (sets.counts > 0).all():
        bundle.refuse(f"{place} has no sets, or sets of no rows")
    if (sets.sets.indices >= n_labels - n_added).any():
        bundle.refuse(f"{place} has sets with labels that were added later")
    if np.shape(sets.offset) not in ((), (n_labels,)):
        bundle.refuse(f"{place} has an offset of shape {np.shape(sets.offset)}")
    if not 0 < sets.weight <= 1:
        bundle.refuse(f"{place} has the weight {sets.weight}, which is no share")


def _check_kernel(
    kernel: KernelRidge, place: str, sizes: Mapping[str, int], bundle: Bundle
) -> None:
    check_shapes(kernel, place, _KERNEL_SHAPES, sizes, bundle)
    # Models from before labels had their own have one number for all.
    if np.shape(kernel.softness) not in ((), kernel.intercept.shape):
        bundle.refuse(f"{place} has a softness of shape {np.shape(kernel.softness)}")
    if not (np.asarray(kernel.softness) > 0).all():
        bundle.refuse(f"{place} has a softness that is not above 0")
    # Models from before columns had weights have none.
    if kernel.weights is not None:
        check_shapes(kernel, place, {"weights": "features"}, sizes, bundle)
        weights = kernel.weights
        if weights.dtype != np.float64 or not ((weights > 0) & (weights <= 1)).all():
            bundle.refuse(f"{place} has weights that are no shares in double precision")
    # Models from before rows were compared by absolute differences have squared ones.
    if kernel.distance == "absolute" and sp.issparse(kernel.landmarks):
        bundle.refuse(f"{place} has sparse landmarks, whose distances cannot be absolute")


def _check_trees(trees: Trees, place: str, n_features: int, bundle: Bundle) -> None:
    """Every step from a root leads to a later node, so that every path ends."""
    n_nodes = len(trees.feature)
    check_indices(trees.roots, 0, n_nodes, f"{place}.roots", bundle)
    check_indices(trees.feature, -2, n_features, f"{place}.feature", bundle)
    inner = np.flatnonzero(trees.feature >= 0)
    for side in ("left", "right"):
        children = getattr(trees, side)[inner]
        check_indices(children, inner + 1, n_nodes, f"{place}.{side}", bundle)


def _check_prototype_trees(trees: PrototypeTrees, place: str, bundle: Bundle) -> None:
    """The same: children come after their node, are all there, and have no other parent."""
    n_nodes = len(trees.first_child)
    check_indices(trees.roots, 0, n_nodes, f"{place}.roots", bundle)
    check_indices(trees.first_child, -1, n_nodes, f"{place}.first_child", bundle)
    inner = np.flatnonzero(trees.first_child >= 0)
    first = trees.first_child[inner].astype(np.int64)
    check_indices(first, inner + 1, n_nodes, f"{place}.first_child", bundle)
    n_children = trees.n_children[inner]
    check_indices(n_children, 1, n_nodes + 1 - first, f"{place}.n_children", bundle)
    starts, stops = np.sort(first), np.sort(first + n_children)
    if trees.n_children[trees.first_child < 0].any() or (stops[:-1] > starts[1:]).any():
        bundle.refuse(f"{place} has leaves with children, or children of two nodes")


def _check_votes(forest: LeafVotes, roots: np.ndarray, place: str, bundle: Bundle) -> None:
    check_membership(forest.labels, f"{place}.labels", bundle)
    if not len(roots) or not ((forest.prior > 0) & (forest.prior < 1)).all():
        bundle.refuse(f"{place} has no trees, or priors that are no shares")
