"""Grown trees as plain arrays, and the leaves that rows reach in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.sparse_rows import part_of

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_CHUNK_CELLS = 1_000_000
# Pairs of a row and a tree that walk down together: few enough to stay in the cache.
_WALKERS = 2**14
_LEVELS_BETWEEN_CHECKS = 4
# One row walks down so few trees faster alone than in steps of all trees at once.
_FEW_TREES = 32
# Distance of a threshold to the values beside it: many times what rounding moves them.
_CLEARANCE = 1e-5


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
        return cls.joined(
            [
                cls(
                    roots=np.zeros(1, dtype=np.int32),
                    feature=tree.feature.astype(np.int32),
                    left=tree.children_left,
                    right=tree.children_right,
                    threshold=tree.threshold,
                )
                for tree in trees
            ]
        )

    @classmethod
    def joined(cls, parts: Sequence[Trees]) -> Trees:
        """All trees of several collections, in their order."""
        sizes = [len(part.feature) for part in parts]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        roots = [part.roots + start for part, start in zip(parts, starts, strict=True)]
        return cls(
            roots=np.concatenate(roots),
            feature=np.concatenate([part.feature for part in parts]),
            left=_shifted([part.left for part in parts], starts),
            right=_shifted([part.right for part in parts], starts),
            threshold=np.concatenate([part.threshold for part in parts]),
        )

    def off_the_values(self, X: np.ndarray) -> Trees:
        """The same trees, with thresholds that stand off the values of the rows they grew on.

        A cut midway between .2 and .4 stands on .3, which rounding then takes to either side, in
        single precision to another one than in double. The rows themselves go where they went.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        """
        threshold = self.threshold.copy()
        order = np.argsort(self.feature, kind="stable")
        features, starts = np.unique(self.feature[order], return_index=True)
        for feature, nodes in zip(features, np.split(order, starts[1:]), strict=True):
            if feature < 0:
                continue
            values = np.unique(X[:, feature].astype(np.float32)).astype(np.float64)
            place = np.searchsorted(values, threshold[nodes], side="right")
            is_between = (place > 0) & (place < len(values))
            inner, place = nodes[is_between], place[is_between]
            below, above = values[place - 1], values[place]
            room = _CLEARANCE * np.maximum(1.0, np.abs(below))
            room = np.minimum(room, (above - below) / 2)
            threshold[inner] = np.clip(threshold[inner], below + room, above - room)
        return replace(self, threshold=threshold)

    def leaves(self, X: Matrix) -> np.ndarray:
        """Leaf that each row reaches in each tree, (n_samples, n_trees)."""
        n_samples = X.shape[0]
        if n_samples == 1 and len(self.roots) <= _FEW_TREES:
            row = X.toarray() if sp.issparse(X) else X
            return self._walk_alone(np.ascontiguousarray(row[0], dtype=np.float32))[None]
        reached = np.empty((n_samples, len(self.roots)), dtype=np.int32)
        step = min(max(1, _CHUNK_CELLS // X.shape[1]), _WALKERS)
        for start in range(0, n_samples, step):
            rows = part_of(X, slice(start, start + step))
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

    def _walk_alone(self, row: np.ndarray) -> np.ndarray:
        """Leaf of one row in each tree, (n_trees,)."""
        # A memory view hands out plain numbers, several times as fast as an array does.
        steps = (self.feature, self.threshold, self.left, self.right, row)
        feature, threshold, left, right, value = (values.data for values in steps)
        nodes = self.roots.tolist()
        for tree, root in enumerate(nodes):
            node = root
            while (split := feature[node]) >= 0:
                node = left[node] if value[split] <= threshold[node] else right[node]
            nodes[tree] = node
        return np.array(nodes, dtype=np.int32)

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


def _shifted(children: list[np.ndarray], roots: np.ndarray) -> np.ndarray:
    """Children as numbers of the whole forest."""
    return np.concatenate(
        [
            np.where(nodes >= 0, nodes + root, -1)
            for nodes, root in zip(children, roots, strict=True)
        ]
    ).astype(np.int32)
