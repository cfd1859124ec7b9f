"""Pulls of features on a forest: it is constant but for jumps, each made by one feature.

Along a straight line a tree changes its leaf where one feature passes a threshold. The change
of the forest's log-odds at that place belongs to that feature, as the integral of a gradient
belongs to its coordinate; all jumps add up to the difference between the two ends.
"""

from __future__ import annotations

import numpy as np

from protolabel.companions.forest import Forest
from protolabel.companions.leaf_votes import LeafVotes
from protolabel.companions.trees import Trees

_INSIDE = 1e-12


def forest_pulls(
    forest: Forest, start: np.ndarray, end: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Jumps of the log-odds on the way from ``start`` to ``end``, by feature.

    Parameters
    ----------
    forest : Forest
    start, end : ndarray of shape (n_features,)
        Scaled rows.
    labels : ndarray of int, shape (n_wanted,)
        Positions of labels.

    Returns
    -------
    ndarray of shape (n_wanted, n_features)
        They add up to the score of ``end`` minus the score of ``start``.
    """
    tree, since, leaf, cause = _leaves_along(forest.trees, start, end)
    order = np.lexsort((since, tree))
    since, leaf, cause = since[order], leaf[order], cause[order]
    after, jumps = vote_jumps(forest, since, leaf, cause < 0, labels)
    pulls = np.zeros((len(start), len(labels)))
    np.add.at(pulls, cause[after], jumps)
    return pulls.T


def vote_jumps(
    forest: LeafVotes,
    since: np.ndarray,
    leaf: np.ndarray,
    is_first: np.ndarray,
    labels: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Jumps of the log-odds where trees change their leaves.

    Parameters
    ----------
    forest : LeafVotes
    since : ndarray of shape (n_visits,)
        Share of the way at which a leaf is reached; tree by tree, in the order of the way.
    leaf : ndarray of int, shape (n_visits,)
    is_first : ndarray of bool, shape (n_visits,)
        The leaf of a tree at the start.
    labels : ndarray of int, shape (n_wanted,)

    Returns
    -------
    after : ndarray of int, shape (n_jumps,)
        The visits that are no first ones, in the order of the way.
    jumps : ndarray of shape (n_jumps, n_wanted)
    """
    used, position = np.unique(leaf, return_inverse=True)
    votes = (forest.leaf_rows[used] @ forest.labels[:, labels]).toarray()  # (n_used, n_wanted)
    after = np.flatnonzero(~is_first)
    after = after[np.argsort(since[after], kind="stable")]
    changes = votes[position[after]] - votes[position[after - 1]]
    first = votes[position[is_first]].sum(axis=0) + forest.prior[labels]
    course = np.vstack([first, first + np.cumsum(changes, axis=0)])
    total = np.count_nonzero(is_first) + 1
    return after, np.diff(np.log(course) - np.log(total - course), axis=0)


def _leaves_along(
    trees: Trees, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Leaves that the line passes: tree, share of the way, leaf, feature that led there or -1."""
    # Trees compare in single precision, see Trees.leaves.
    start, end = start.astype(np.float32), end.astype(np.float32)
    n_trees = len(trees.roots)
    tree = np.arange(n_trees)
    node = trees.roots.astype(np.int64)
    since, until = np.zeros(n_trees), np.ones(n_trees)
    cause = np.full(n_trees, -1)
    found = []
    while len(node):
        is_leaf = trees.feature[node] < 0
        found.append((tree[is_leaf], since[is_leaf], node[is_leaf], cause[is_leaf]))
        inner = ~is_leaf
        tree, node, cause = tree[inner], node[inner], cause[inner]
        since, until = since[inner], until[inner]
        feature, threshold = trees.feature[node], trees.threshold[node]
        first, last = start[feature], end[feature]
        way = last.astype(np.float64) - first
        cut = (threshold - first) / np.where(way == 0, 1.0, way)
        # Never at an end: there the sides are known without rounding.
        cut = np.clip(cut, _INSIDE, 1 - _INSIDE)
        before = np.where(first <= threshold, trees.left[node], trees.right[node])
        behind = np.where(last <= threshold, trees.left[node], trees.right[node])
        stays = (before == behind) | (cut >= until)
        passed = ~stays & (cut <= since)
        splits = ~stays & ~passed
        node = np.concatenate([np.where(passed, behind, before), behind[splits]])
        tree = np.concatenate([tree, tree[splits]])
        cause = np.concatenate([cause, feature[splits]])
        since, until = (
            np.concatenate([since, cut[splits]]),
            np.concatenate([np.where(splits, cut, until), until[splits]]),
        )
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]
