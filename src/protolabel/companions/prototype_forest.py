"""A forest of prototype trees for sparse rows.

A node draws some of its rows as seeds and gathers the others around the seed whose labels are
most like theirs. The mean of each group, in the space of the leading singular vectors of the
rows, is a prototype, and every row, new or old, goes on to the child of the nearest one. Groups
are made by labels, ways are chosen by features: with the clustering trees of CRAFTML (Siblini,
Kuntz and Meyer, ICML 2018), whose random projections and k-means these replace, shares the idea.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from protolabel.companions import MAX_ROWS
from protolabel.companions.label_priors import label_shares
from protolabel.companions.leaf_votes import LeafVotes, rows_of_leaves
from protolabel.companions.prototype_trees import ROWS_AT_ONCE, PrototypeTrees, parted
from protolabel.row_groups import Groups, drawn_rows

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_DIM = 128
# Labels are compared by random mixtures of this many at the most.
_LABEL_DIM = 64
# Nodes with no more rows than this are leaves; groups have about as many on the mean.
_ROWS_OF_A_LEAF = 10
# Seeds of a node, drawn evenly on the logarithm: few make deep trees, many flat ones.
_FEWEST_SEEDS, _MOST_SEEDS = 8, 128
# Times that seeds are drawn where all rows would go the same way.
_MOST_TRIES = 20


@dataclass(frozen=True)
class PrototypeForest(LeafVotes):
    """Prototype trees whose leaves vote.

    Parameters
    ----------
    leaf_rows, labels, prior
        As :class:`~protolabel.companions.leaf_votes.LeafVotes` describes them.
    prototype_trees : PrototypeTrees
    """

    prototype_trees: PrototypeTrees

    def leaves(self, X: Matrix) -> np.ndarray:
        """Leaf that each row reaches in each tree, (n_samples, n_trees)."""
        return self.prototype_trees.leaves(X)


def fit_prototype_forest(
    X: Matrix,
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    n_trees: int = 50,
    groups: Groups = None,
) -> tuple[PrototypeForest, np.ndarray]:
    """Grow prototype trees, and score their training rows by the trees that did not draw them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
    n_trees : int, default=50
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are drawn together.

    Returns
    -------
    model : PrototypeForest
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-bag log-odds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model, scores = fit_prototype_forest(X, sp.csr_array((X > 0).astype(int)), rng)
    >>> float(((scores > 0) == (X > 0)).mean()) > 0.9
    True
    """
    n_samples = X.shape[0]
    units = normalize(X)
    projection = _leading_directions(units, rng)
    rows = np.asarray(units @ projection, dtype=np.float32)
    likeness = _label_directions(Y, rng)
    growth = _Growth()
    leaves = np.empty((n_samples, n_trees), dtype=np.int32)
    draws = np.empty((n_samples, n_trees), dtype=np.uint16)
    for tree in range(n_trees):
        draws[:, tree] = drawn_rows(n_samples, min(n_samples, MAX_ROWS), groups, rng)
        leaves[:, tree] = growth.add_tree(rows, likeness, draws[:, tree] > 0, rng)
    trees = growth.trees(projection)
    forest = PrototypeForest(
        leaf_rows=rows_of_leaves(leaves, draws, len(trees.first_child)),
        labels=Y.astype(np.float64),
        prior=label_shares(Y),
        prototype_trees=trees,
    )
    return forest, forest.log_odds(leaves, draws == 0)


class _Growth:
    """Nodes of all trees so far."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.first_child: list[int] = []
        self.n_children: list[int] = []
        self.prototypes: list[np.ndarray] = []

    def add_tree(
        self,
        rows: np.ndarray,
        likeness: np.ndarray,
        is_drawn: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Grow a tree on the drawn rows, and lead all rows to their leaves, (n_samples,)."""
        leaf_of = np.empty(len(rows), dtype=np.int32)
        root = len(self.first_child)
        self.roots.append(root)
        self._add_nodes(np.zeros((1, rows.shape[1]), dtype=np.float32))
        visits = [(root, np.arange(len(rows)))]
        while visits:
            node, visitors = visits.pop()
            drawn = is_drawn[visitors]
            # Most nodes are leaves, and need not be looked at any closer.
            if np.count_nonzero(drawn) <= _ROWS_OF_A_LEAF:
                leaf_of[visitors] = node
                continue
            children, nearest = _ways(rows[visitors], likeness[visitors[drawn]], drawn, rng)
            if len(children) == 0:
                leaf_of[visitors] = node
                continue
            first = len(self.first_child)
            self.first_child[node], self.n_children[node] = first, len(children)
            self._add_nodes(children)
            visits.extend((first + child, part) for child, part in parted(visitors, nearest))
        return leaf_of

    def trees(self, projection: np.ndarray) -> PrototypeTrees:
        """All trees as arrays."""
        return PrototypeTrees(
            projection=projection,
            roots=np.array(self.roots, dtype=np.int32),
            first_child=np.array(self.first_child, dtype=np.int32),
            n_children=np.array(self.n_children, dtype=np.int32),
            prototypes=np.concatenate(self.prototypes),
        )

    def _add_nodes(self, prototypes: np.ndarray) -> None:
        """Leaves until they get children."""
        self.prototypes.append(prototypes)
        self.first_child.extend([-1] * len(prototypes))
        self.n_children.extend([0] * len(prototypes))


def _ways(
    rows: np.ndarray, likeness: np.ndarray, is_drawn: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Prototypes of the children of a node, and the child of each row; none where it is a leaf.

    ``likeness`` is of the drawn rows alone.
    """
    drawn = rows[is_drawn]
    for _ in range(_MOST_TRIES):
        children = _prototypes(drawn, likeness, rng)
        if len(children) < 2:
            break
        used, nearest = _nearest_of_used(rows, children, is_drawn)
        if len(used) > 1:
            return children[used], nearest
        if (drawn == drawn[0]).all():
            break
    return rows[:0], np.empty(0, dtype=np.intp)


def _nearest_of_used(
    rows: np.ndarray, children: np.ndarray, is_drawn: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Children that drawn rows go to, as others would have no vote, and the nearest to each row."""
    if len(rows) <= ROWS_AT_ONCE:
        products = rows @ children.T
        used = np.flatnonzero(np.bincount(products[is_drawn].argmax(axis=1)))
        return used, products[:, used].argmax(axis=1)
    used = np.flatnonzero(np.bincount((rows[is_drawn] @ children.T).argmax(axis=1)))
    blocks = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
    return used, np.concatenate([(block @ children[used].T).argmax(axis=1) for block in blocks])


def _prototypes(rows: np.ndarray, likeness: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Unit means of the groups that the rows of a node form, one where all are alike."""
    wanted = round(_FEWEST_SEEDS * (_MOST_SEEDS / _FEWEST_SEEDS) ** rng.random())
    n_seeds = min(wanted, max(2, len(rows) // _ROWS_OF_A_LEAF))
    seeds = rng.choice(len(rows), n_seeds, replace=False)
    group = (likeness @ likeness[seeds].T).argmax(axis=1)
    is_member = np.zeros((n_seeds, len(rows)), dtype=np.float32)
    is_member[group, np.arange(len(rows))] = 1
    return _units(is_member[np.bincount(group, minlength=n_seeds) > 0] @ rows)


def _leading_directions(rows: Matrix, rng: np.random.Generator) -> np.ndarray:
    """Right singular vectors of the rows, (n_features, dim)."""
    seed = int(rng.integers(2**31 - 1))
    _, _, directions = randomized_svd(rows, min(_DIM, *rows.shape), n_iter=2, random_state=seed)
    return np.ascontiguousarray(directions.T, dtype=np.float32)


def _label_directions(Y: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Unit vectors of rows, alike where rows share labels, rare ones above all."""
    weights = -np.log(label_shares(Y))
    has_none = np.diff(Y.indptr) == 0
    mixture = rng.normal(size=(Y.shape[1] + 1, min(Y.shape[1] + 1, _LABEL_DIM)))
    mixed = (Y * weights) @ mixture[:-1] + np.outer(has_none, mixture[-1])
    return _units(mixed).astype(np.float32)


def _units(rows: np.ndarray) -> np.ndarray:
    """Rows at length one, those of length zero as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, 1)[:, None])
