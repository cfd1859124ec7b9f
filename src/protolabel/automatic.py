"""What "auto" stands for: rules by the level of effort and the shape of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp

from protolabel.companions import MAX_ROWS
from protolabel.datasets.row_source import CheckedRows
from protolabel.pnml.settings import embedding_dim_of_paper

# Companions hold a dense score matrix of all rows and labels.
_MAX_LABELS_OF_COMPANIONS = 1000
# Landmarks are kept with the model, and are dense where rows are. Sparse ones become so when a
# model is exported, to a file that holds two gigabytes.
_MAX_CELLS_OF_DENSE_LANDMARKS, _MAX_CELLS_OF_SPARSE_LANDMARKS = 2**25, 240_000_000
# Rows are left on disk where memory is dear: a kernel of more of them is kept out of it, too.
_MAX_EXACT_ROWS_ON_DISK = 6000
# Adaptive clusters compare all rows with the prototypes of every label.
_MAX_CELLS_OF_MULTIPLE = 2**24
_MIN_RANK, _MAX_RANK = 6, 16
# Rows of the metrics of all labels together: with many labels each needs fewer of its own.
_RANKS_OF_ALL_LABELS = 1024
# Larger batches are cheaper, but few steps are too few, and adaptive clusters rank worse with them.
_BATCH, _LARGE_BATCH, _MIN_ROWS_OF_LARGE_BATCH = 128, 256, 1000
_MIN_ROWS_OF_LARGEST_BATCH = 5000
# In proportion to larger batches, which take fewer steps, as far as that was tried.
_LEARNING_RATE, _MAX_LEARNING_RATE = 3e-3, 6e-3
_ROWS_SEEN, _MIN_EPOCHS, _MAX_EPOCHS = 64_000, 10, 40


@dataclass(frozen=True)
class Effort:
    """What one level of ``effort`` spends.

    ``n_landmarks`` are those of tables that are too wide to have all rows that companions learn
    from as landmarks; ``largest_batch`` is that of many rows.
    """

    n_members: int
    largest_batch: int
    n_landmarks: int
    n_trees: int
    multiple_for_sparse: bool
    multiple_for_dense: bool


_EFFORTS = {
    "fast": Effort(
        n_members=3,
        largest_batch=512,
        n_landmarks=0,
        n_trees=0,
        multiple_for_sparse=False,
        multiple_for_dense=False,
    ),
    "balanced": Effort(
        n_members=5,
        largest_batch=512,
        n_landmarks=2000,
        n_trees=200,
        multiple_for_sparse=False,
        multiple_for_dense=True,
    ),
    "best": Effort(
        n_members=10,
        largest_batch=256,
        n_landmarks=5000,
        n_trees=600,
        multiple_for_sparse=True,
        multiple_for_dense=True,
    ),
}


@dataclass(frozen=True)
class TableShape:
    """What the rules look at."""

    n_samples: int
    n_features: int
    n_labels: int
    is_sparse: bool = False
    stays_on_disk: bool = False

    @classmethod
    def of(cls, X: Any, n_labels: int) -> TableShape:
        """Shape of an array, a sparse matrix or rows on disk."""
        stays_on_disk = isinstance(X, CheckedRows)
        is_sparse = X.is_sparse if stays_on_disk else sp.issparse(X)
        n_samples, n_features = X.shape
        return cls(n_samples, n_features, n_labels, is_sparse, stays_on_disk)


def automatic_parameters(effort: str, table: TableShape) -> dict[str, Any]:
    """Value of every parameter of a model that may be left to these rules.

    Examples
    --------
    >>> automatic_parameters("fast", TableShape(2000, 294, 5))["n_members"]
    3
    """
    level = find_effort(effort)
    with_companions = table.n_labels <= _MAX_LABELS_OF_COMPANIONS
    # Trees of sparse rows take several times as long to grow.
    n_trees = level.n_trees // 4 if table.is_sparse else level.n_trees
    is_multiple = _has_multiple_prototypes(level, table)
    return {
        "prototypes": "multiple" if is_multiple else "single",
        "embedding_dim": embedding_dim_of_paper(table.n_features),
        "metric_rank": min(max(_RANKS_OF_ALL_LABELS // table.n_labels, _MIN_RANK), _MAX_RANK),
        "max_epochs": min(max(math.ceil(_ROWS_SEEN / table.n_samples), _MIN_EPOCHS), _MAX_EPOCHS),
        "batch_size": _BATCH if is_multiple else _batch_size(level, table.n_samples),
        "learning_rate": _LEARNING_RATE,
        "n_members": level.n_members,
        "n_landmarks": _n_landmarks(level, table) if with_companions else 0,
        "n_trees": n_trees if with_companions else 0,
    }


def automatic_learning_rate(batch_size: int) -> float:
    """Learning rate at the peak of one cycle, for batches of so many rows.

    Examples
    --------
    >>> automatic_learning_rate(128), automatic_learning_rate(512)
    (0.003, 0.006)
    """
    return min(_LEARNING_RATE * max(batch_size / _LARGE_BATCH, 1.0), _MAX_LEARNING_RATE)


def find_effort(name: str) -> Effort:
    """Look a level of effort up.

    Examples
    --------
    >>> find_effort("fast").n_members
    3
    """
    if name not in _EFFORTS:
        raise ValueError(f"effort={name!r} is unknown; use one of {', '.join(_EFFORTS)}.")
    return _EFFORTS[name]


def _batch_size(level: Effort, n_samples: int) -> int:
    if n_samples < _MIN_ROWS_OF_LARGE_BATCH:
        return _BATCH
    return _LARGE_BATCH if n_samples < _MIN_ROWS_OF_LARGEST_BATCH else level.largest_batch


def _n_landmarks(level: Effort, table: TableShape) -> int:
    """All rows that the regression learns from, where there is room for them."""
    # A kernel of all pairs of rows is factorised in seconds, and ranks better than a part of it.
    n_all = min(table.n_samples, MAX_ROWS)
    max_cells = _MAX_CELLS_OF_SPARSE_LANDMARKS if table.is_sparse else _MAX_CELLS_OF_DENSE_LANDMARKS
    has_room = n_all * table.n_features <= max_cells and (
        not table.stays_on_disk or table.n_samples <= _MAX_EXACT_ROWS_ON_DISK
    )
    return max(level.n_landmarks, n_all) if has_room and level.n_landmarks else level.n_landmarks


def _has_multiple_prototypes(level: Effort, table: TableShape) -> bool:
    if table.stays_on_disk or table.n_samples * table.n_labels > _MAX_CELLS_OF_MULTIPLE:
        return False
    return level.multiple_for_sparse if table.is_sparse else level.multiple_for_dense
