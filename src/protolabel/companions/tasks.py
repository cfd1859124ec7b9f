"""The fits of all companions, as tasks that can be done side by side."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.companions.forest import Forest, fit_forest
from protolabel.companions.kernel_ridge import KernelRidge, fit_to_rows
from protolabel.companions.kernel_rows import KernelRows
from protolabel.companions.prototype_forest import PrototypeForest, fit_prototype_forest
from protolabel.row_groups import Groups

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)
Companion = KernelRidge | Forest | PrototypeForest
# Companions, each with the scores of its training rows without them.
Fitted = list[tuple[Companion, np.ndarray]]


def companion_tasks(
    X: Matrix,
    Y: sp.csr_array,
    rng: np.random.Generator,
    *,
    n_landmarks: int,
    n_trees: int,
    groups: Groups = None,
) -> list[Callable[[int], Fitted]]:
    """What is left to do once rows are drawn: a regression, and forests, of the number of threads.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    rng : numpy Generator
        The forests go on drawing from it.
    n_landmarks, n_trees : int
        Of the regression and of a forest, neither of which is fitted where it is 0. Sparse rows
        have so many prototype trees, and half as many others.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together.
    """
    tasks: list[Callable[[int], Fitted]] = []
    if n_landmarks:
        rows = KernelRows.drawn(X.shape[0], n_landmarks, rng, groups)
        tasks.append(lambda _: [fit_to_rows(X, Y, rows, groups)])
    if n_trees:
        tasks.append(lambda n_threads: _fit_forests(X, Y, rng, n_trees, groups, n_threads))
    return tasks


def _fit_forests(
    X: Matrix,
    Y: sp.csr_array,
    rng: np.random.Generator,
    n_trees: int,
    groups: Groups,
    n_jobs: int,
) -> Fitted:
    if not sp.issparse(X):
        return [fit_forest(X, Y, rng, n_trees=n_trees, n_jobs=n_jobs, groups=groups)]
    n_random = math.ceil(n_trees / 2)
    return [
        fit_forest(X, Y, rng, n_trees=n_random, n_jobs=n_jobs, groups=groups),
        fit_prototype_forest(X, Y, rng, n_trees=n_trees, groups=groups),
    ]
