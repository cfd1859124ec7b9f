"""Tables of any size for the speed benchmarks: sparse or dense rows whose labels can be learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def tagged_rows(
    n_rows: int,
    n_features: int,
    n_labels: int,
    *,
    entries_per_row: int = 40,
    labels_per_row: int = 3,
    is_sparse: bool = True,
    seed: int = 0,
) -> tuple[Any, sp.csr_array]:
    """Rows of 0 and 1, and their labels; each label prefers ten features.

    Four of ten entries of a row come from the preferred features of its labels.
    """
    rng = np.random.default_rng(seed)
    preferred = rng.integers(n_features, size=(n_labels, 10))
    labels = rng.integers(n_labels, size=(n_rows, labels_per_row))
    n_own = int(0.4 * entries_per_row)
    source = np.take_along_axis(labels, rng.integers(labels_per_row, size=(n_rows, n_own)), axis=1)
    own = preferred[source, rng.integers(10, size=source.shape)]
    other = rng.integers(n_features, size=(n_rows, entries_per_row - n_own))
    X = _indicator(np.hstack([own, other]), n_features, np.float32)
    Y = _indicator(labels, n_labels, np.int8)
    return (X if is_sparse else X.toarray() + rng.normal(size=X.shape).astype(np.float32)), Y


def _indicator(columns: np.ndarray, n_columns: int, dtype: Any) -> sp.csr_array:
    n_rows, per_row = columns.shape
    matrix = sp.csr_array(
        (
            np.ones(columns.size, dtype=dtype),
            columns.ravel().astype(np.int32),
            np.arange(n_rows + 1, dtype=np.int32) * per_row,
        ),
        shape=(n_rows, n_columns),
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
