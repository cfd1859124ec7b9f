"""Whether the decoded companions of a network can score rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protolabel.companions.forest import Forest
from protolabel.companions.fusion import Fusion
from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.persistence.array_checks import check_indices, check_membership, check_shapes
from protolabel.safefiles.bundle import Bundle

_KERNEL_SHAPES = {
    "landmarks": "landmarks features",
    "coefficients": "landmarks labels",
    "intercept": "labels",
}
_FOREST_SHAPES = {
    "trees.roots": "trees",
    "trees.feature": "nodes",
    "trees.left": "nodes",
    "trees.right": "nodes",
    "trees.threshold": "nodes",
    "leaf_rows": "nodes rows",
    "labels": "rows labels",
    "prior": "labels",
}


def check_companions(
    companions: Sequence[KernelRidge | Forest],
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
            _check_trees(companion, place, n_features, bundle)
        else:
            check_shapes(companion, place, _KERNEL_SHAPES, sizes, bundle)
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


def _check_trees(forest: Forest, place: str, n_features: int, bundle: Bundle) -> None:
    """Every step from a root leads to a later node, so that every path ends."""
    trees = forest.trees
    n_nodes = len(trees.feature)
    check_indices(trees.roots, 0, n_nodes, f"{place}.trees.roots", bundle)
    check_indices(trees.feature, -2, n_features, f"{place}.trees.feature", bundle)
    inner = np.flatnonzero(trees.feature >= 0)
    for side in ("left", "right"):
        children = getattr(trees, side)[inner]
        check_indices(children, inner + 1, n_nodes, f"{place}.trees.{side}", bundle)
    check_membership(forest.labels, f"{place}.labels", bundle)
    if not len(trees.roots) or not ((forest.prior > 0) & (forest.prior < 1)).all():
        bundle.refuse(f"{place} has no trees, or priors that are no shares")
