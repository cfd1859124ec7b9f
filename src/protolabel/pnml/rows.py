"""Feature rows on the device, dense or sparse, behind one product with a weight matrix.

A sparse batch is never made dense: its product is a sum of weighted rows of the weight
matrix (``embedding_bag``), and the gradient of the weights is the same sum over the
transposed batch, which is many times faster than ``embedding_bag``'s own backward pass. The
matrix whose rows are summed is read in strips of columns that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

# Entries of a strip of columns: one megabyte, most of a core's own cache.
_STRIP_ENTRIES = 2**18
# Narrower strips cost more to go through the stored entries again than they save.
_STRIP_UNIT = 32
# How often a row of the matrix has to be read for its copy into a strip to pay.
_READS_OF_A_STRIP = 16
# Share of entries that are not zero below which a sparse product is faster than a dense one.
_SPARSE_SHARE = 0.1


class FeatureRows(Protocol):
    """What the embedding needs to know of its input."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def take(self, index: Tensor) -> FeatureRows:
        """Rows at the given positions."""

    def parts(self, n_rows: int) -> Iterator[FeatureRows]:
        """All rows in their order, so many at a time."""

    def to(self, dtype: torch.dtype) -> FeatureRows:
        """The same rows in another floating-point type."""

    def dropout(self, rate: float, generator: torch.Generator) -> FeatureRows:
        """Rows with a random share of the entries set to zero, the rest scaled up."""

    def product(self, weight: Tensor) -> Tensor:
        """Rows times ``weight`` (n_features, n_outputs)."""


def feature_rows(X: Any, device: torch.device, dtype: torch.dtype = torch.float32) -> FeatureRows:
    """Move a NumPy array or SciPy CSR matrix to the device.

    Examples
    --------
    >>> import numpy as np, torch
    >>> feature_rows(np.eye(2), torch.device("cpu")).product(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if sp.issparse(X):
        return SparseRows.of(X, device, dtype)
    return DenseRows(torch.from_numpy(np.ascontiguousarray(X)).to(device, dtype))


def compact_rows(rows: FeatureRows) -> FeatureRows:
    """The same rows, in compressed form where they are dense and hold little but zeros.

    Examples
    --------
    >>> import numpy as np, torch
    >>> rows = feature_rows(np.eye(20), torch.device("cpu"))
    >>> type(compact_rows(rows)).__name__
    'SparseRows'
    """
    if not isinstance(rows, DenseRows) or rows.values.numel() == 0:
        return rows
    is_stored = rows.values != 0
    if float(is_stored.sum()) > _SPARSE_SHARE * rows.values.numel():
        return rows
    return SparseRows(
        indptr=functional.pad(is_stored.sum(1).cumsum(0), (1, 0)),
        columns=is_stored.nonzero()[:, 1].int(),
        values=rows.values[is_stored],
        n_features=rows.n_features,
    )


class DenseRows:
    """Rows held as one matrix."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    def take(self, index: Tensor) -> DenseRows:
        """Rows at the given positions."""
        return DenseRows(self.values[index])

    def parts(self, n_rows: int) -> Iterator[DenseRows]:
        """All rows in their order, so many at a time."""
        # Copies, because the last digits of a product depend on where in memory a matrix starts.
        return (DenseRows(part.clone()) for part in self.values.split(n_rows))

    def to(self, dtype: torch.dtype) -> DenseRows:
        """The same rows in another floating-point type."""
        return DenseRows(self.values.to(dtype))

    def dropout(self, rate: float, generator: torch.Generator) -> DenseRows:
        """Rows with a random share of the entries set to zero, the rest scaled up."""
        return DenseRows(inverted_dropout(self.values, rate, generator))

    def product(self, weight: Tensor) -> Tensor:
        """Rows times ``weight`` (n_features, n_outputs)."""
        return self.values @ weight


class SparseRows:
    """Rows held in compressed form; the transpose is built when a gradient first needs it."""

    def __init__(self, indptr: Tensor, columns: Tensor, values: Tensor, n_features: int) -> None:
        self.indptr = indptr  # (n_rows + 1,)
        self.columns = columns  # (n_stored,)
        self.values = values  # (n_stored,)
        self.n_features = n_features

    @classmethod
    def of(cls, X: Any, device: torch.device, dtype: torch.dtype) -> SparseRows:
        """Move a SciPy CSR matrix to the device."""
        return cls(
            indptr=torch.from_numpy(X.indptr.astype(np.int64)).to(device),
            columns=torch.from_numpy(X.indices.astype(np.int32)).to(device),
            values=torch.from_numpy(np.ascontiguousarray(X.data)).to(device, dtype),
            n_features=X.shape[1],
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def take(self, index: Tensor) -> SparseRows:
        """Rows at the given positions."""
        starts = self.indptr.index_select(0, index)
        lengths = self.indptr.index_select(0, index + 1) - starts
        indptr = functional.pad(lengths.cumsum(0), (1, 0))
        stored = torch.repeat_interleave(starts - indptr[:-1], lengths)
        stored += torch.arange(len(stored), device=index.device)
        columns, values = (part.index_select(0, stored) for part in (self.columns, self.values))
        return SparseRows(indptr, columns, values, self.n_features)

    def parts(self, n_rows: int) -> Iterator[SparseRows]:
        """All rows in their order, so many at a time, where they lie in memory."""
        for start in range(0, max(self.n_rows, 1), n_rows):
            indptr = self.indptr[start : start + n_rows + 1]
            stored = slice(int(indptr[0]), int(indptr[-1]))
            yield SparseRows(
                indptr - indptr[0], self.columns[stored], self.values[stored], self.n_features
            )

    def to(self, dtype: torch.dtype) -> SparseRows:
        """The same rows in another floating-point type."""
        return SparseRows(self.indptr, self.columns, self.values.to(dtype), self.n_features)

    def dropout(self, rate: float, generator: torch.Generator) -> SparseRows:
        """Rows with a random share of the stored entries set to zero, the rest scaled up."""
        values = inverted_dropout(self.values, rate, generator)
        return SparseRows(self.indptr, self.columns, values, self.n_features)

    def product(self, weight: Tensor) -> Tensor:
        """Rows times ``weight`` (n_features, n_outputs)."""
        apply: Any = _SparseProduct.apply
        result: Tensor = apply(weight, self)
        return result

    @cached_property
    def transpose(self) -> SparseRows:
        """Columns as rows, in the order of the original rows."""
        # SciPy transposes in linear time; PyTorch would have to sort.
        parts = (part.numpy(force=True) for part in (self.values, self.columns, self.indptr))
        turned = sp.csr_array(tuple(parts), shape=(self.n_rows, self.n_features)).tocsc()
        return SparseRows.of(turned.T, self.values.device, self.values.dtype)


class _SparseProduct(torch.autograd.Function):
    """Sparse rows times a dense matrix, differentiable in the matrix."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, rows: SparseRows) -> Tensor:
        ctx.rows = rows
        return _weighted_row_sums(rows, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _weighted_row_sums(ctx.rows.transpose, gradient.contiguous()), None


def inverted_dropout(values: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Zero a random share of the entries and scale the others by 1 / (1 - rate)."""
    if rate == 0:
        return values
    # Three times as fast as drawing from the Bernoulli distribution itself.
    keep = torch.empty_like(values).uniform_(generator=generator).ge_(rate)
    return values * keep.div_(1 - rate)


def _weighted_row_sums(rows: SparseRows, matrix: Tensor) -> Tensor:
    n_rows, n_columns = matrix.shape
    units = _STRIP_ENTRIES // max(1, n_rows * _STRIP_UNIT)
    width = _STRIP_UNIT * max(1, units)
    if n_columns <= width or len(rows.values) < _READS_OF_A_STRIP * n_rows:
        return _bag_sums(rows, matrix)
    sums = matrix.new_empty(rows.n_rows, n_columns)
    for start in range(0, n_columns, width):
        strip = slice(start, start + width)
        sums[:, strip] = _bag_sums(rows, matrix[:, strip].contiguous())
    return sums


def _bag_sums(rows: SparseRows, matrix: Tensor) -> Tensor:
    # Short numbers take a quarter of the time less.
    numbers = torch.int32 if len(rows.values) < 2**31 else torch.int64
    return functional.embedding_bag(
        rows.columns.to(numbers),
        matrix,
        rows.indptr.to(numbers),
        per_sample_weights=rows.values.to(matrix.dtype),
        mode="sum",
        include_last_offset=True,
    )
