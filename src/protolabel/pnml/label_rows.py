"""Label matrices in compressed rows, for tables whose dense form would not fit into memory.

A label matrix is mostly zeros: ten thousand labels of fifty thousand rows are two gigabytes as
numbers and a few megabytes as positions. :class:`SparseLabels` stands in for the dense tensor
wherever a batch of rows, or the sums over the rows of each label, are all that is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


class SparseLabels:
    """Labels of rows as positions; indexing gives a dense tensor of those rows.

    Parameters
    ----------
    indptr : Tensor of int, shape (n_rows + 1,)
    columns : Tensor of int, shape (n_stored,)
        Labels of each row, one after the other.
    n_labels : int
    dtype : torch.dtype, default=torch.float32
        Type of what indexing gives.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, torch
    >>> labels = SparseLabels.of(sp.csr_array(np.eye(3)), torch.device("cpu"))
    >>> labels[torch.tensor([2])].tolist()
    [[0.0, 0.0, 1.0]]
    >>> labels.sums(torch.tensor([[1.0], [5.0], [7.0]])).tolist()
    [[1.0], [5.0], [7.0]]
    """

    def __init__(
        self, indptr: Tensor, columns: Tensor, n_labels: int, dtype: torch.dtype = torch.float32
    ) -> None:
        self.indptr = indptr
        self.columns = columns
        self.n_labels = n_labels
        self.dtype = dtype

    @classmethod
    def of(cls, Y: Any, device: torch.device) -> SparseLabels:
        """Take over a CSR matrix of 0 and 1 without explicit zeros."""
        return cls(
            torch.from_numpy(Y.indptr.astype(np.int64)).to(device),
            torch.from_numpy(Y.indices.astype(np.int64)).to(device),
            Y.shape[1],
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of labels."""
        return len(self), self.n_labels

    @property
    def device(self) -> torch.device:
        """Where the positions are."""
        return self.indptr.device

    def __getitem__(self, index: Tensor) -> Tensor:
        """Dense labels of the rows at these positions, (n_index, n_labels)."""
        rows = self.take(index)
        dense = torch.zeros(rows.shape, dtype=self.dtype, device=self.device)
        dense[rows.row_of_stored(), rows.columns] = 1.0
        return dense

    def take(self, index: Tensor) -> SparseLabels:
        """Labels of the rows at these positions."""
        lengths = self.indptr[index + 1] - self.indptr[index]
        indptr = functional.pad(lengths.cumsum(0), (1, 0))
        within = torch.arange(int(indptr[-1]), device=index.device)
        stored = torch.repeat_interleave(self.indptr[index] - indptr[:-1], lengths) + within
        return SparseLabels(indptr, self.columns[stored], self.n_labels, self.dtype)

    def double(self) -> SparseLabels:
        """The same labels, given as numbers of double precision."""
        return SparseLabels(self.indptr, self.columns, self.n_labels, torch.float64)

    def row_of_stored(self) -> Tensor:
        """Row of every stored label, (n_stored,)."""
        lengths = self.indptr[1:] - self.indptr[:-1]
        return torch.repeat_interleave(torch.arange(len(self), device=self.device), lengths)

    def sums(self, values: Tensor) -> Tensor:
        """Sums of ``values`` (n_rows, n_values) over the rows of each label, (n_labels, n_values).

        The order of the additions is that of the rows, on every run.
        """
        order = torch.argsort(self.columns, stable=True)
        counts = torch.bincount(self.columns, minlength=self.n_labels)
        return functional.embedding_bag(
            self.row_of_stored()[order],
            values.contiguous(),
            functional.pad(counts.cumsum(0), (1, 0)),
            mode="sum",
            include_last_offset=True,
        )


# What holds the labels of training rows; both are indexed by rows.
LabelRows = Tensor | SparseLabels


def label_sums(labels: LabelRows, values: Tensor) -> Tensor:
    """Sums of ``values`` (n_rows, n_values) over the rows of each label, (n_labels, n_values)."""
    return labels.sums(values) if isinstance(labels, SparseLabels) else labels.mT @ values
