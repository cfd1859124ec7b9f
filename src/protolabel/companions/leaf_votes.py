"""Votes of leaves: any kind of trees as a weighting of training rows.

A tree puts a row into a leaf with some of its training rows, and the forest's probability of a
label is a weighted mean of the labels of those rows. Stored in this form a forest needs memory
for its rows, not for its labels, and no class of another library to predict with. Rows that a
tree did not draw give honest scores of the training rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.sparse_rows import dense_product, weighted_entries

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Training rows of leaves that are gathered at once; a leaf of a tree that was cut off has many.
_CHUNK_ENTRIES = 4_000_000
# Shares of labels are kept beside the rows of leaves up to so many times the memory of those.
_LARGEST_SHARES = 4


@dataclass(frozen=True)
class LeafVotes(ABC):
    """What all forests share: leaves that are weighted training rows.

    Parameters
    ----------
    leaf_rows : CSR of shape (n_nodes, n_train)
        Weight of each training row in a leaf; the weights of a leaf add up to one.
    labels : CSR of 0 and 1, shape (n_train, n_labels)
    prior : ndarray of shape (n_labels,)
        Share of each label, the vote of one more tree: no label is impossible.
    """

    leaf_rows: sp.csr_array
    labels: sp.csr_array
    prior: np.ndarray

    @abstractmethod
    def leaves(self, X: Matrix) -> np.ndarray:
        """Leaf that each row reaches in each tree, (n_samples, n_trees)."""

    def scores(self, X: Matrix) -> np.ndarray:
        """Log-odds of every label, (n_samples, n_labels)."""
        leaves = self.leaves(X)
        if len(leaves) == 1:
            return self._log_odds(self._votes_of_one(leaves[0])[None], leaves.shape[1])
        return self.log_odds(leaves, np.ones(leaves.shape, dtype=bool))

    def log_odds(self, leaves: np.ndarray, has_say: np.ndarray) -> np.ndarray:
        """Scores from the leaves of rows, by the trees that have a say for a row."""
        scores = np.empty((len(leaves), len(self.prior)))
        for part in self._parts(leaves):
            tree_weights = has_say[part].astype(np.float64)
            votes = self._votes(leaves[part], tree_weights)
            scores[part] = self._log_odds(votes, tree_weights.sum(axis=1, keepdims=True))
        return scores

    def _log_odds(self, votes: np.ndarray, n_trees: np.ndarray | int) -> np.ndarray:
        votes = votes + self.prior
        against = n_trees + 1 - votes
        # In place: memory for many rows comes new, and takes longer than the logarithms.
        np.log(votes, out=votes)
        votes -= np.log(against, out=against)
        return votes

    def _parts(self, leaves: np.ndarray) -> Iterator[slice]:
        """Rows whose leaves hold a bounded number of training rows together."""
        gathered = self.leaf_rows if self._shares is None else self._shares
        n_gathered = np.diff(gathered.indptr)[leaves].sum(axis=1, dtype=np.int64)
        chunk = np.cumsum(n_gathered) // _CHUNK_ENTRIES
        bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(leaves)]
        return (slice(start, stop) for start, stop in pairwise(bounds) if start < stop)

    def _votes(self, leaves: np.ndarray, tree_weights: np.ndarray) -> np.ndarray:
        """Votes of all trees for each label, (n_samples, n_labels)."""
        n_samples, n_trees = leaves.shape
        starts = np.arange(n_samples + 1) * n_trees
        chosen = sp.csr_array(
            (tree_weights.ravel(), leaves.ravel(), starts),
            shape=(n_samples, self.leaf_rows.shape[0]),
        )
        if self._shares is not None:
            return dense_product(chosen, self._shares)
        neighbours = sp.csr_array(chosen @ self.leaf_rows)
        return dense_product(neighbours, self.labels)

    def _votes_of_one(self, leaves: np.ndarray) -> np.ndarray:
        """Votes of the leaves of a single row, (n_labels,)."""
        # Building sparse matrices takes longer than the votes themselves.
        if self._shares is None:
            labels, votes = weighted_entries(self.labels, *weighted_entries(self.leaf_rows, leaves))
        else:
            labels, votes = weighted_entries(self._shares, leaves)
        return np.bincount(labels, votes, minlength=len(self.prior))

    @cached_property
    def _shares(self) -> sp.csr_array | None:
        """Share of each label in each leaf, None where that would take much memory.

        Rare labels and easy ones leave leaves of thousands of rows that hold no label or one.
        """
        shares = sp.csr_array(self.leaf_rows @ self.labels)
        return shares if shares.nnz <= _LARGEST_SHARES * self.leaf_rows.nnz else None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def rows_of_leaves(leaves: np.ndarray, draws: np.ndarray, n_nodes: int) -> sp.csr_array:
    """Training rows of each leaf, weighted by how often its tree drew them.

    Parameters
    ----------
    leaves : ndarray of int, shape (n_train, n_trees)
    draws : ndarray of int, shape (n_train, n_trees)
        How often each tree drew each row.
    n_nodes : int

    Returns
    -------
    CSR of shape (n_nodes, n_train)
    """
    row, tree = draws.nonzero()
    weights = sp.csr_array(
        (draws[row, tree].astype(np.float64), (leaves[row, tree], row)),
        shape=(n_nodes, len(draws)),
    )
    totals = np.asarray(weights.sum(axis=1)).ravel()
    weights.data /= np.repeat(totals, np.diff(weights.indptr))
    return weights
