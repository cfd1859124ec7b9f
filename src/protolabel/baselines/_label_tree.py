"""Trees over labels with linear classifiers at their nodes, as Parabel grows them.

A tree is kept flat: one weight vector for each node but the root and for each label, and the
number of each node's parent. The score of a label is a sum along its path, so all labels of
many rows are scored by one product and one addition per level.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

_CLUSTER_TOLERANCE = 1e-4


@dataclass(frozen=True)
class LinearSettings:
    """Squared-hinge classifiers: loss weight C, pruning threshold, sweeps and tolerance."""

    loss_weight: float
    weight_threshold: float
    max_sweeps: int = 20
    tolerance: float = 0.1


@dataclass(frozen=True)
class LabelTree:
    """A grown tree.

    Parameters
    ----------
    node_weights : csr_array of shape (n_nodes, n_inputs)
        Classifier that leads to each node; the row of the root, node 0, is zero.
    label_weights : csr_array of shape (n_labels, n_inputs)
        Classifier of each label at its leaf.
    parents : ndarray of shape (n_nodes,)
        Number of each node's parent, always below its own; -1 for the root.
    depths : ndarray of shape (n_nodes,)
    leaves : ndarray of shape (n_labels,)
        Leaf node of each label.
    sure_nodes, sure_labels : ndarray of bool
        Classifiers that saw positive rows only and cost nothing to pass.
    """

    node_weights: sp.csr_array
    label_weights: sp.csr_array
    parents: np.ndarray
    depths: np.ndarray
    leaves: np.ndarray
    sure_nodes: np.ndarray
    sure_labels: np.ndarray

    def log_scores(self, inputs: Matrix, beam_width: int | None) -> np.ndarray:
        """Logarithm of every label's score, (n_samples, n_labels).

        With a beam only the best ``beam_width`` nodes of each level are followed; labels
        behind the others get minus infinity.
        """
        paths = _log_passes(inputs, self.node_weights, self.sure_nodes)
        paths[:, 0] = 0.0
        for depth in range(1, int(self.depths.max()) + 1):
            level = np.flatnonzero(self.depths == depth)
            paths[:, level] += paths[:, self.parents[level]]
            if beam_width is not None and beam_width < len(level):
                paths[:, level] = _best_of_row(paths[:, level], beam_width)
        passes = _log_passes(inputs, self.label_weights, self.sure_labels)
        return np.asarray(passes + paths[:, self.leaves])


def linear_inputs(X: Matrix) -> sp.csr_array:
    """Rows of unit length with a constant one appended; a row of zeros keeps the one only."""
    rows = sp.csr_array(X, dtype=np.float64)
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    scaled = sp.diags_array(1 / np.where(norms > 0, norms, 1.0)) @ rows
    return sp.csr_array(sp.hstack([scaled, np.ones((X.shape[0], 1))], format="csr"))


def label_centroids(rows: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """Unit-length sums of the rows of each label, (n_labels, n_features)."""
    sums = sp.csr_array(Y.T.astype(np.float64) @ rows)
    norms = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.where(norms > 0, norms, 1.0)) @ sums)


def balanced_halves(centroids: sp.csr_array, rng: np.random.Generator) -> np.ndarray:
    """Split unit vectors into halves by spherical 2-means; True marks the first half."""
    n_labels = centroids.shape[0]
    centres = centroids[rng.choice(n_labels, size=2, replace=False)].toarray()
    last = -np.inf
    while True:
        similarity = centroids @ centres.T  # (n_labels, 2)
        order = np.argsort(similarity[:, 1] - similarity[:, 0], kind="stable")
        first = np.zeros(n_labels, dtype=bool)
        first[order[: n_labels // 2]] = True
        mean = float(np.where(first, similarity[:, 0], similarity[:, 1]).mean())
        if mean - last < _CLUSTER_TOLERANCE:
            return first
        last = mean
        centres = np.stack([centroids[first].sum(axis=0), centroids[~first].sum(axis=0)])
        norms = np.linalg.norm(centres, axis=1, keepdims=True)
        centres /= np.where(norms > 0, norms, 1.0)


def grow_tree(
    inputs: sp.csr_array,
    Y: sp.csr_array,
    min_branch_size: int,
    max_depth: int,
    settings: LinearSettings,
    rng: np.random.Generator,
) -> LabelTree:
    """Split the labels until a node has fewer than ``min_branch_size``, then fit classifiers.

    Every classifier of a node is fitted to the rows that reached it: all rows at the root,
    below it the rows with at least one of the node's labels.
    """
    centroids = label_centroids(inputs[:, :-1], Y)
    n_labels = Y.shape[1]
    members = [np.arange(n_labels)]
    reaching = [np.arange(inputs.shape[0])]
    parents, depths = [-1], [0]
    leaves = np.zeros(n_labels, dtype=np.int64)
    label_rows: list[Any] = [None] * n_labels
    node_rows: list[Any] = [_Classifier(np.zeros(inputs.shape[1]), True)]
    by_row = sp.csr_array(Y)
    node = 0
    while node < len(members):
        labels, rows = members[node], reaching[node]
        targets = sp.csc_array(by_row[rows][:, labels])
        if len(labels) < min_branch_size or depths[node] + 1 >= max_depth:
            leaves[labels] = node
            fitted = _fit_columns(inputs[rows], targets.toarray() > 0, settings, rng)
            for label, classifier in zip(labels, fitted, strict=True):
                label_rows[label] = classifier
        else:
            first = balanced_halves(centroids[labels], rng)
            has_any = np.stack(
                [targets[:, half].sum(axis=1) > 0 for half in (first, ~first)], axis=1
            )
            node_rows += _fit_columns(inputs[rows], has_any, settings, rng)
            for side, half in enumerate((first, ~first)):
                members.append(labels[half])
                reaching.append(rows[has_any[:, side]])
                parents.append(node)
                depths.append(depths[node] + 1)
        reaching[node] = rows[:0]
        node += 1
    return LabelTree(
        node_weights=_stacked(node_rows),
        label_weights=_stacked(label_rows),
        parents=np.array(parents),
        depths=np.array(depths),
        leaves=leaves,
        sure_nodes=np.array([classifier.is_sure for classifier in node_rows]),
        sure_labels=np.array([classifier.is_sure for classifier in label_rows]),
    )


@dataclass(frozen=True)
class _Classifier:
    weights: np.ndarray
    is_sure: bool


def _fit_columns(
    inputs: sp.csr_array,
    targets: np.ndarray,
    settings: LinearSettings,
    rng: np.random.Generator,
) -> list[_Classifier]:
    """Fit one pruned squared-hinge classifier to each column of a boolean matrix."""
    fitted = []
    # liblinear is sequential in its rows, and indexes them with 32 bits.
    inputs = sp.csr_array(inputs)
    inputs.indices, inputs.indptr = inputs.indices.astype(np.int32), inputs.indptr.astype(np.int32)
    for target in targets.T:
        if target.all():
            fitted.append(_Classifier(np.zeros(inputs.shape[1]), True))
            continue
        svm = LinearSVC(
            loss="squared_hinge",
            C=settings.loss_weight,
            dual=True,
            tol=settings.tolerance,
            max_iter=settings.max_sweeps,
            fit_intercept=False,
            random_state=int(rng.integers(2**31 - 1)),
        )
        with warnings.catch_warnings():
            # Parabel stops early on purpose.
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights = svm.fit(inputs, target).coef_.ravel()
        fitted.append(
            _Classifier(np.where(np.abs(weights) > settings.weight_threshold, weights, 0.0), False)
        )
    return fitted


def _stacked(classifiers: list[_Classifier]) -> sp.csr_array:
    return sp.vstack(
        [sp.csr_array(classifier.weights[None]) for classifier in classifiers], format="csr"
    )


def _log_passes(inputs: Matrix, weights: sp.csr_array, is_sure: np.ndarray) -> np.ndarray:
    """Logarithm of the score of passing each classifier, ``-max(0, 1 - w.x)^2``."""
    shortfall = np.maximum(1.0 - (inputs @ weights.T).toarray(), 0.0)
    shortfall[:, is_sure] = 0.0
    return np.asarray(-(shortfall**2))


def _best_of_row(scores: np.ndarray, n_best: int) -> np.ndarray:
    """Scores with all but the first ``n_best`` of each row set to minus infinity."""
    order = np.argsort(-scores, axis=1, kind="stable")
    kept = np.full_like(scores, -np.inf)
    best = order[:, :n_best]
    np.put_along_axis(kept, best, np.take_along_axis(scores, best, axis=1), axis=1)
    return kept
