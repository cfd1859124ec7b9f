"""Trees whose nodes are prototypes: a row goes to the child whose prototype is nearest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from protolabel.companions.sparse_rows import part_of, row_product

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Rows whose products with the children of a node are kept together.
ROWS_AT_ONCE = 2**16


@dataclass(frozen=True)
class PrototypeTrees:
    """Trees as arrays over all of their nodes.

    Parameters
    ----------
    projection : ndarray of shape (n_features, dim)
        From rows to the space of the prototypes.
    roots : ndarray of int, shape (n_trees,)
        First node of each tree.
    first_child, n_children : ndarray of int, shape (n_nodes,)
        The children of a node follow each other; a leaf has -1 and 0.
    prototypes : ndarray of shape (n_nodes, dim)
        Unit vector of each node, zero at a root. Nearest is the largest product with it.
    """

    projection: np.ndarray
    roots: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    prototypes: np.ndarray

    def leaves(self, X: Matrix) -> np.ndarray:
        """Leaf that each row reaches in each tree, (n_samples, n_trees)."""
        projection, _ = self.in_double_precision
        if X.shape[0] == 1:
            return self._leaves_of_one(row_product(X, projection))[None]
        starts = range(0, X.shape[0], ROWS_AT_ONCE)
        parts = (part_of(X, slice(start, start + ROWS_AT_ONCE)) for start in starts)
        return np.concatenate([self._leaves_of(np.asarray(part @ projection)) for part in parts])

    def _leaves_of(self, rows: np.ndarray) -> np.ndarray:
        """Leaves of projected rows, which go down each tree together."""
        _, prototypes = self.in_double_precision
        reached = np.empty((len(rows), len(self.roots)), dtype=np.int32)
        for tree, root in enumerate(self.roots):
            visits = [(root, np.arange(len(rows)))]
            while visits:
                node, visitors = visits.pop()
                first = self.first_child[node]
                if first < 0:
                    reached[visitors, tree] = node
                    continue
                children = prototypes[first : first + self.n_children[node]]
                visiting = rows if len(visitors) == len(rows) else rows[visitors]
                nearest = (visiting @ children.T).argmax(axis=1)
                visits.extend((first + child, part) for child, part in parted(visitors, nearest))
        return reached

    def _leaves_of_one(self, row: np.ndarray) -> np.ndarray:
        """Leaves of one projected row, without sorting rows into groups."""
        _, prototypes = self.in_double_precision
        # A memory view hands out plain numbers, several times as fast as an array does.
        first_child, n_children = self.first_child.data, self.n_children.data
        nodes = self.roots.tolist()
        for tree, root in enumerate(nodes):
            node = root
            while (first := first_child[node]) >= 0:
                node = first + int(prototypes[first : first + n_children[node]].dot(row).argmax())
            nodes[tree] = node
        return np.array(nodes, dtype=np.int32)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def in_double_precision(self) -> tuple[np.ndarray, np.ndarray]:
        """Projection and prototypes: in double precision a row goes one way in any company."""
        return self.projection.astype(np.float64), self.prototypes.astype(np.float64)


def parted(items: np.ndarray, group: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Items of each group that has any, in the order of the groups.

    Examples
    --------
    >>> [(g, part.tolist()) for g, part in parted(np.array([7, 8, 9]), np.array([2, 0, 2]))]
    [(0, [8]), (2, [7, 9])]
    """
    sizes = np.bincount(group)
    # Short numbers are sorted digit by digit, in a fraction of the time.
    group = group.astype(np.min_scalar_type(len(sizes)))
    items = items[np.argsort(group, kind="stable")]
    start = 0
    for name, size in enumerate(sizes.tolist()):
        if size:
            yield name, items[start : start + size]
            start += size
