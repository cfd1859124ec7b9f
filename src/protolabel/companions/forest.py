"""Extremely randomised trees as a weighting of training rows.

A tree puts a row into a leaf with some of its training rows, and the forest's probability of a
label is a weighted mean of the labels of those rows. Kept in this form a forest needs memory
for its rows, not for its labels, and no class of another library to predict with. Rows that a
tree did not draw give honest scores of the training rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesRegressor

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Beyond this many labels the trees are grown on random mixtures of them (Joly et al. 2014).
_MAX_GROWTH_TARGETS = 64
_ROWS_OF_A_TREE = 10_000
_CHUNK_CELLS = 1_000_000
# Pairs of a row and a tree that walk down together: few enough to stay in the cache.
_WALKERS = 2**14
_LEVELS_BETWEEN_CHECKS = 4


@dataclass(frozen=True)
class Trees:
    """Trees as arrays over all of their nodes.

    Parameters
    ----------
    roots : ndarray of int, shape (n_trees,)
        First node of each tree.
    feature, left, right : ndarray of int, shape (n_nodes,)
        Split feature, negative at a leaf, and the children.
    threshold : ndarray of shape (n_nodes,)
        A row goes left when its value, in single precision, is at most this.
    """

    roots: np.ndarray
    feature: np.ndarray
    left: np.ndarray
    right: np.ndarray
    threshold: np.ndarray

    @classmethod
    def of(cls, trees: Sequence[Any]) -> Trees:
        """Join the trees of scikit-learn estimators."""
        sizes = [tree.node_count for tree in trees]
        roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        return cls(
            roots=roots,
            feature=np.concatenate([tree.feature for tree in trees]).astype(np.int32),
            left=_shifted([tree.children_left for tree in trees], roots),
            right=_shifted([tree.children_right for tree in trees], roots),
            threshold=np.concatenate([tree.threshold for tree in trees]),
        )

    def leaves(self, X: Matrix) -> np.ndarray:
        """Leaf that each row reaches in each tree, (n_samples, n_trees)."""
        n_samples = X.shape[0]
        reached = np.empty((n_samples, len(self.roots)), dtype=np.int32)
        step = min(max(1, _CHUNK_CELLS // X.shape[1]), _WALKERS)
        for start in range(0, n_samples, step):
            rows = X[start : start + step]
            rows = rows.toarray() if sp.issparse(rows) else rows
            rows = np.ascontiguousarray(rows, dtype=np.float32)
            n_trees = max(1, _WALKERS // len(rows))
            for first in range(0, len(self.roots), n_trees):
                trees = slice(first, first + n_trees)
                reached[start : start + step, trees] = self._walk(rows, self.roots[trees]).T
        return reached

    def _walk(self, rows: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """Leaf of each row in each tree, (n_roots, n_rows); all rows of a tree side by side."""
        feature, threshold, children = self._steps
        values, n_features = rows.ravel(), rows.shape[1]
        nodes = np.repeat(roots.astype(np.intp), len(rows))
        walkers, at, row = np.arange(len(nodes)), nodes, np.tile(np.arange(len(rows)), len(roots))
        row *= n_features
        while len(at):
            for _ in range(_LEVELS_BETWEEN_CHECKS):
                goes_right = values.take(row + feature.take(at)) > threshold.take(at)
                at = children.take(2 * at + goes_right)
            nodes[walkers] = at
            inner = np.flatnonzero(threshold.take(at) < np.inf)
            walkers, at, row = walkers[inner], at[inner], row[inner]
        return nodes.reshape(len(roots), len(rows))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def _steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Feature, threshold and the two children of each node; a leaf leads to itself."""
        is_leaf = self.feature < 0
        own = np.arange(len(self.feature))
        children = np.stack(
            [np.where(is_leaf, own, self.left), np.where(is_leaf, own, self.right)], axis=1
        )
        return (
            np.where(is_leaf, 0, self.feature).astype(np.intp),
            np.where(is_leaf, np.inf, self.threshold),
            children.ravel().astype(np.intp),
        )


@dataclass(frozen=True)
class Forest:
    """Trees whose leaves are weighted training rows.

    Parameters
    ----------
    trees : Trees
    leaf_rows : CSR of shape (n_nodes, n_train)
        Weight of each training row in a leaf; the weights of a leaf add up to one.
    labels : CSR of 0 and 1, shape (n_train, n_labels)
    prior : ndarray of shape (n_labels,)
        Share of each label, the vote of one more tree: no label is impossible.
    """

    trees: Trees
    leaf_rows: sp.csr_array
    labels: sp.csr_array
    prior: np.ndarray

    def scores(self, X: Matrix) -> np.ndarray:
        """Log-odds of every label, (n_samples, n_labels)."""
        leaves = self.trees.leaves(X)
        return self.log_odds(leaves, np.ones(leaves.shape, dtype=bool))

    def log_odds(self, leaves: np.ndarray, has_say: np.ndarray) -> np.ndarray:
        """Scores from the leaves of rows, by the trees that have a say for a row."""
        n_samples, n_trees = leaves.shape
        scores = np.empty((n_samples, len(self.prior)))
        step = max(1, _CHUNK_CELLS // n_trees)
        for start in range(0, n_samples, step):
            part = slice(start, start + step)
            tree_weights = has_say[part].astype(np.float64)
            neighbours = self._neighbours(leaves[part], tree_weights)
            votes = (neighbours @ self.labels).toarray() + self.prior
            total = tree_weights.sum(axis=1, keepdims=True) + 1
            scores[part] = np.log(votes) - np.log(total - votes)
        return scores

    def _neighbours(self, leaves: np.ndarray, tree_weights: np.ndarray) -> sp.csr_array:
        """Weight of every training row for every row, over all trees."""
        n_samples, n_trees = leaves.shape
        starts = np.arange(n_samples + 1) * n_trees
        chosen = sp.csr_array(
            (tree_weights.ravel(), leaves.ravel(), starts),
            shape=(n_samples, self.leaf_rows.shape[0]),
        )
        return sp.csr_array(chosen @ self.leaf_rows)


def fit_forest(
    X: Matrix, Y: sp.csr_array, rng: np.random.Generator, *, n_trees: int = 300
) -> tuple[Forest, np.ndarray]:
    """Grow a forest, and score its training rows by the trees that did not draw them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
    n_trees : int, default=300

    Returns
    -------
    model : Forest
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-bag log-odds.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model, scores = fit_forest(X, sp.csr_array((X > 0).astype(int)), rng, n_trees=50)
    >>> float(((scores > 0) == (X > 0)).mean()) > 0.9
    True
    """
    n_samples = Y.shape[0]
    X = _with_short_indices(X)
    grown = ExtraTreesRegressor(
        n_trees,
        bootstrap=True,
        max_features="sqrt",
        max_samples=min(n_samples, _ROWS_OF_A_TREE),
        random_state=int(rng.integers(2**31 - 1)),
    ).fit(X, _growth_targets(Y, rng))
    trees = Trees.of([estimator.tree_ for estimator in grown.estimators_])
    draws = np.stack(
        [
            np.bincount(drawn, minlength=n_samples).astype(np.uint16)
            for drawn in grown.estimators_samples_
        ],
        axis=1,
    )
    leaves = trees.leaves(X)
    forest = Forest(
        trees=trees,
        leaf_rows=_leaf_rows(leaves, draws, len(trees.feature)),
        labels=Y.astype(np.float64),
        # Half a row on either side keeps a label without positives from odds of zero.
        prior=(np.asarray(Y.sum(axis=0)).ravel() + 0.5) / (n_samples + 1),
    )
    return forest, forest.log_odds(leaves, draws == 0)


def _with_short_indices(X: Matrix) -> Matrix:
    """The same rows with the only type of column numbers that scikit-learn's trees take."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csr_array((X.data, indices, indptr), shape=X.shape)


def _growth_targets(Y: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    n_labels = Y.shape[1]
    if n_labels <= _MAX_GROWTH_TARGETS:
        targets = np.asarray(Y.toarray(), dtype=np.float64)
        return targets.ravel() if n_labels == 1 else targets
    mixture = rng.normal(size=(n_labels, _MAX_GROWTH_TARGETS)) / np.sqrt(n_labels)
    return np.asarray(Y @ mixture)


def _leaf_rows(leaves: np.ndarray, draws: np.ndarray, n_nodes: int) -> sp.csr_array:
    """Training rows of each leaf, weighted by how often its tree drew them."""
    row, tree = draws.nonzero()
    weights = sp.csr_array(
        (draws[row, tree].astype(np.float64), (leaves[row, tree], row)),
        shape=(n_nodes, len(draws)),
    )
    totals = np.asarray(weights.sum(axis=1)).ravel()
    weights.data /= np.repeat(totals, np.diff(weights.indptr))
    return weights


def _shifted(children: list[np.ndarray], roots: np.ndarray) -> np.ndarray:
    """Children as numbers of the whole forest."""
    return np.concatenate(
        [
            np.where(nodes >= 0, nodes + root, -1)
            for nodes, root in zip(children, roots, strict=True)
        ]
    ).astype(np.int32)
