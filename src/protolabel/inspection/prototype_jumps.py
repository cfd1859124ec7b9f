"""Pulls of features on a forest of prototype trees: jumps that several features share.

Along a straight line the product of a row with a prototype is a straight line, too. A tree
changes its leaf where another prototype of a node becomes the nearest one. The change of the
log-odds there belongs to the features that bring the new prototype nearer, in proportion to what
each adds; all jumps add up to the difference between the two ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.companions.prototype_trees import PrototypeTrees
from protolabel.inspection.forest_jumps import vote_jumps

# A leaf that is reached at a share of the way, and the move between prototypes that led there;
# None for the first leaf.
_Visit = tuple[float, int, np.ndarray | None]


def prototype_forest_pulls(
    forest: PrototypeForest, start: np.ndarray, end: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Jumps of the log-odds on the way from ``start`` to ``end``, by feature.

    Parameters
    ----------
    forest : PrototypeForest
    start, end : ndarray of shape (n_features,)
        Scaled rows.
    labels : ndarray of int, shape (n_wanted,)
        Positions of labels.

    Returns
    -------
    ndarray of shape (n_wanted, n_features)
        They add up to the score of ``end`` minus the score of ``start``.
    """
    trees = forest.prototype_trees
    projection, _ = trees.in_double_precision
    ends = np.stack([start, end]) @ projection
    visits = [visit for root in trees.roots for visit in _visits(trees, ends, int(root))]
    since = np.array([at for at, _, _ in visits])
    leaf = np.array([leaf for _, leaf, _ in visits])
    is_first = np.array([move is None for _, _, move in visits])
    after, jumps = vote_jumps(forest, since, leaf, is_first, labels)
    pulls = np.zeros((len(labels), len(start)))
    moves = [move for move in (visits[place][2] for place in after) if move is not None]
    if moves:
        # Sparse rows differ in few of many features.
        columns = np.flatnonzero(end != start)
        way = (end - start)[columns]
        pulls[:, columns] = jumps.T @ _shares(np.stack(moves) @ projection[columns].T * way)
    return pulls


def _shares(parts: np.ndarray) -> np.ndarray:
    """What each feature has of a jump: parts with the sign of their sum, as shares of one."""
    sums = parts.sum(axis=1, keepdims=True)
    pushing = np.maximum(np.where(sums < 0, -parts, parts), 0.0)
    totals = pushing.sum(axis=1, keepdims=True)
    # A jump that rounding alone makes belongs to all features alike.
    return np.asarray(
        np.where(totals > 0, pushing / np.where(totals > 0, totals, 1.0), 1 / parts.shape[1])
    )


def _visits(trees: PrototypeTrees, ends: np.ndarray, root: int) -> Iterator[_Visit]:
    """Leaves of a tree that the line passes, in their order."""
    _, prototypes = trees.in_double_precision
    stretches: list[tuple[int, float, float, np.ndarray | None]] = [(root, 0.0, 1.0, None)]
    while stretches:
        node, since, until, move = stretches.pop()
        first = int(trees.first_child[node])
        if first < 0:
            yield since, node, move
            continue
        children = prototypes[first : first + trees.n_children[node]]
        parts = _nearest_along(children @ ends[0], children @ ends[1], since, until)
        moves = [move, *(children[b] - children[a] for (_, _, a), (_, _, b) in pairwise(parts))]
        stretches.extend(
            (first + child, at, stop, led_there)
            for (at, stop, child), led_there in zip(reversed(parts), reversed(moves), strict=True)
        )


def _nearest_along(
    low: np.ndarray, high: np.ndarray, since: float, until: float
) -> list[tuple[float, float, int]]:
    """Parts of the way, and which of some straight lines is the highest there.

    The lines rise from ``low`` to ``high`` on the whole way, of which ``since`` to ``until`` is
    looked at.
    """
    if since == 1:
        return [(1.0, 1.0, int(high.argmax()))]
    slopes = high - low
    # At the ends of the way the highest is known without rounding.
    nearest = int((low if since == 0 else low + since * slopes).argmax())
    found = []
    at = since
    while True:
        gains = slopes - slopes[nearest]
        overtakes = np.full(len(low), np.inf)
        np.divide(low[nearest] - low, gains, out=overtakes, where=gains > 0)
        overtakes = np.maximum(overtakes, at)
        earliest = np.flatnonzero(overtakes == overtakes.min())
        follower = int(earliest[slopes[earliest].argmax()])
        if overtakes[follower] >= until:
            break
        found.append((at, float(overtakes[follower]), nearest))
        at, nearest = float(overtakes[follower]), follower
    found.append((at, until, nearest))
    if until == 1 and nearest != (last := int(high.argmax())):
        found.append((1.0, 1.0, last))
    return found
