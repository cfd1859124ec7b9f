"""Pulls of features on a forest of prototype trees: jumps that several features share.

Along a straight line the product of a row with a prototype is a straight line, too. A tree
changes its leaf where another prototype of a node becomes the nearest one. The change of the
log-odds there belongs to the features in proportion to what each adds to the difference between
the two products on its way; all jumps add up to the difference between the two ends.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    visits = [visit for root in trees.roots for visit in _visits(trees, ends, int(root), 0.0, 1.0)]
    since = np.array([at for at, _, _ in visits])
    leaf = np.array([leaf for _, leaf, _ in visits])
    is_first = np.array([move is None for _, _, move in visits])
    after, jumps = vote_jumps(forest, since, leaf, is_first, labels)
    if len(after) == 0:
        return np.zeros((len(labels), len(start)))
    moves = np.stack([move for move in (visits[place][2] for place in after) if move is not None])
    return np.asarray(jumps.T @ _shares(moves @ projection.T * (end - start)))


def _shares(parts: np.ndarray) -> np.ndarray:
    """Rows divided by their sums; by magnitudes where a sum is lost in rounding."""
    totals = parts.sum(axis=1, keepdims=True)
    sizes = np.abs(parts).sum(axis=1, keepdims=True)
    is_lost = np.abs(totals) <= 1e-9 * sizes
    parts = np.where(is_lost, np.abs(parts), parts)
    totals = np.where(is_lost, sizes, totals)
    return np.asarray(parts / np.where(totals == 0, 1.0, totals))


def _visits(
    trees: PrototypeTrees, ends: np.ndarray, node: int, since: float, until: float
) -> Iterator[_Visit]:
    """Leaves below a node that the line passes in a part of its way."""
    first = int(trees.first_child[node])
    if first < 0:
        yield since, node, None
        return
    _, prototypes = trees.in_double_precision
    children = prototypes[first : first + trees.n_children[node]]
    low, high = children @ ends[0], children @ ends[1]
    before = None
    for at, stop, child in _nearest_along(low, high, since, until):
        move = None if before is None else children[child] - children[before]
        for reached, leaf, inner_move in _visits(trees, ends, first + child, at, stop):
            yield reached, leaf, move if inner_move is None else inner_move
        before = child


def _nearest_along(
    low: np.ndarray, high: np.ndarray, since: float, until: float
) -> list[tuple[float, float, int]]:
    """Parts of the way, and which of some straight lines is the highest there.

    The lines rise from ``low`` to ``high`` on the whole way, of which ``since`` to ``until`` is
    looked at.
    """
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
