"""Rows that stay on disk: what training needs to know of them.

Training asks for rows by their positions, a batch or a chunk at a time, and never holds all of
them. Whatever can answer that is a source; :func:`protolabel.datasets.open_rows` makes one of a
file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from protolabel.datasets.tidy_rows import tidy_rows

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# Bytes of one part, where rows are read one part after the other.
PART_BYTES = 2**24


@runtime_checkable
class RowSource(Protocol):
    """A table of numbers that is read by rows.

    ``shape`` is (n_rows, n_features); ``is_sparse`` says whether rows come as CSR.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""

    @property
    def is_sparse(self) -> bool:
        """Whether rows are sparse."""

    def read_rows(self, positions: NDArray[np.int64]) -> Matrix:
        """Rows at these positions, in this order, as ndarray or CSR."""


class CheckedRows:
    """A source whose rows are checked as they are read: shape, type, and finite numbers.

    Parameters
    ----------
    source : RowSource

    Examples
    --------
    >>> import numpy as np
    >>> class Ones:
    ...     shape, is_sparse = (5, 2), False
    ...
    ...     def read_rows(self, positions):
    ...         return np.ones((len(positions), 2))
    >>> [part.shape for part in CheckedRows(Ones()).parts()]
    [(5, 2)]
    """

    def __init__(self, source: RowSource) -> None:
        n_rows, n_features = source.shape
        if n_rows < 1 or n_features < 1:
            raise ValueError(
                f"The rows have shape {(n_rows, n_features)}; expected at least one row and one "
                "feature."
            )
        self.source = source
        self.shape = (int(n_rows), int(n_features))
        self.is_sparse = bool(source.is_sparse)

    def read_rows(self, positions: NDArray[np.int64]) -> Matrix:
        """Rows at these positions, refused where a number is missing or infinite."""
        rows = self.source.read_rows(positions)
        expected = (len(positions), self.shape[1])
        if rows.shape != expected:
            raise ValueError(f"The source gave rows of shape {rows.shape}; expected {expected}.")
        if sp.issparse(rows) != self.is_sparse:
            raise ValueError(
                f"The source has is_sparse={self.is_sparse}, but gave {type(rows).__name__}; make "
                "both agree."
            )
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        values = rows.data if self.is_sparse else rows
        if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
            raise ValueError(
                f"Input X contains NaN or infinity among the rows {int(positions.min())} to "
                f"{int(positions.max())}; every cell needs a finite number."
            )
        return tidy_rows(rows) if self.is_sparse else rows

    def parts(self, positions: NDArray[np.int64] | None = None) -> Iterator[Matrix]:
        """Yield all rows, or those at these positions, some megabytes at a time."""
        chosen = np.arange(self.shape[0]) if positions is None else positions
        step = self.rows_of(PART_BYTES)
        for start in range(0, len(chosen), step):
            yield self.read_rows(chosen[start : start + step])

    def rows_of(self, n_bytes: int) -> int:
        """How many rows take that many bytes as numbers, at least one.

        The size of a sparse row is taken from a few rows.
        """
        n_rows, n_features = self.shape
        per_row = 8.0 * n_features
        if self.is_sparse:
            some = np.linspace(0, n_rows - 1, min(n_rows, 64)).astype(np.int64)
            rows = self.source.read_rows(some)
            per_row = 8 + 16 * rows.nnz / len(some)
        return max(1, int(n_bytes / per_row))
