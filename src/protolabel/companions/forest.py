"""A random forest of scikit-learn's trees, kept as votes of their leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeRegressor

from protolabel.companions import MAX_ROWS
from protolabel.companions.label_priors import label_shares
from protolabel.companions.leaf_votes import LeafVotes, rows_of_leaves
from protolabel.companions.trees import Trees
from protolabel.row_groups import Groups, drawn_rows

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Beyond this many labels the trees are grown on random mixtures of them (Joly et al. 2014).
_MAX_GROWTH_TARGETS = 64
# Down to single rows, trees of sparse rows become hundreds of levels deep.
_ROWS_OF_A_SPARSE_LEAF, _LEVELS_OF_SPARSE_TREES = 3, 60
# Most features of sparse rows tell little: a split looks at more of them.
_TRIED_ROOTS_OF_SPARSE = 2
_LARGEST_SEED = 2**31 - 1
# Trees of fewer rows are grown in less time than threads take to share them out.
_MIN_ROWS_OF_THREADS = 2000


@dataclass(frozen=True)
class Forest(LeafVotes):
    """Trees whose leaves vote.

    Parameters
    ----------
    leaf_rows, labels, prior
        As :class:`~protolabel.companions.leaf_votes.LeafVotes` describes them.
    trees : Trees
    """

    trees: Trees

    def leaves(self, X: Matrix) -> np.ndarray:
        """Leaf that each row reaches in each tree, (n_samples, n_trees)."""
        return self.trees.leaves(X)


def fit_forest(
    X: Matrix,
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    n_trees: int = 200,
    n_jobs: int = 1,
    groups: Groups = None,
) -> tuple[Forest, np.ndarray]:
    """Grow a forest, and score its training rows by the trees that did not draw them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
    n_trees : int, default=200
    n_jobs : int, default=1
        Threads that grow trees of many rows; the trees are the same with any number.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are drawn together.

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
    seed = int(rng.integers(_LARGEST_SEED))
    targets = _growth_targets(Y, rng)
    trees, draws = _grown(X, targets, n_trees, seed, n_jobs, groups)
    if not sp.issparse(X):
        trees = trees.off_the_values(X)
    leaves = trees.leaves(X)
    forest = Forest(
        trees=trees,
        leaf_rows=rows_of_leaves(leaves, draws, len(trees.feature)),
        labels=Y.astype(np.float64),
        prior=label_shares(Y),
    )
    return forest, forest.log_odds(leaves, draws == 0)


def _grown(
    X: Matrix, targets: np.ndarray, n_trees: int, seed: int, n_jobs: int, groups: Groups
) -> tuple[Trees, np.ndarray]:
    """Trees, and how often each drew each row, (n_samples, n_trees).

    They are those of scikit-learn's forest where there are no groups. That class is not used: it
    sets and resets Python's warning filters, which are of the whole process, and keeps the targets
    of every node.
    """
    n_samples = X.shape[0]
    X = _as_grown_from(X)
    draws = np.empty((n_samples, n_trees), dtype=np.uint16)
    seeds = np.random.RandomState(seed).randint(_LARGEST_SEED, size=n_trees)

    def grow(tree: int) -> Trees:
        seed_of_tree = int(seeds[tree])
        if groups is None:
            drawn = _rows_of_tree(n_samples, seed_of_tree)
        else:
            rng = np.random.default_rng((seed, tree))
            drawn = drawn_rows(n_samples, min(n_samples, MAX_ROWS), groups, rng)
            seed_of_tree = int(rng.integers(_LARGEST_SEED))
        draws[:, tree] = drawn
        estimator = DecisionTreeRegressor(**_shape_of_trees(X), random_state=seed_of_tree)
        estimator.fit(X, targets, sample_weight=drawn.astype(np.float64), check_input=False)
        return Trees.of([estimator.tree_])

    n_jobs = n_jobs if n_samples >= _MIN_ROWS_OF_THREADS else 1
    # Threads share the rows; processes, which a caller may have asked joblib for, copy them.
    grown = Parallel(n_jobs, backend="threading")(delayed(grow)(tree) for tree in range(n_trees))
    return Trees.joined(grown), draws


def _rows_of_tree(n_samples: int, seed: int) -> np.ndarray:
    """How often a tree draws each row, with replacement."""
    stream = np.random.RandomState(seed)
    drawn = stream.randint(0, n_samples, min(n_samples, MAX_ROWS), dtype=np.int32)
    return np.bincount(drawn, minlength=n_samples)


def _as_grown_from(X: Matrix) -> Matrix:
    """Rows in the form that scikit-learn grows trees from, made once for all of them."""
    return X.tocsc().astype(np.float32) if sp.issparse(X) else X.astype(np.float32)


def _shape_of_trees(X: Matrix) -> dict[str, Any]:
    return {
        "max_features": _n_tried(X),
        "min_samples_leaf": _ROWS_OF_A_SPARSE_LEAF if sp.issparse(X) else 1,
        "max_depth": _LEVELS_OF_SPARSE_TREES if sp.issparse(X) else None,
    }


def _n_tried(X: Matrix) -> int:
    """Features among which a split chooses."""
    n_features = int(X.shape[1])
    n_roots = _TRIED_ROOTS_OF_SPARSE if sp.issparse(X) else 1
    return min(n_features, n_roots * max(1, math.isqrt(n_features)))


def _growth_targets(Y: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    n_labels = Y.shape[1]
    if n_labels <= _MAX_GROWTH_TARGETS:
        targets = np.asarray(Y.toarray(), dtype=np.float64)
        return targets.ravel() if n_labels == 1 else targets
    mixture = rng.normal(size=(n_labels, _MAX_GROWTH_TARGETS)) / np.sqrt(n_labels)
    return np.asarray(Y @ mixture)
