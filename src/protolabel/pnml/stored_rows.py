"""Feature rows that are read and scaled when a step asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from protolabel.pnml.rows import FeatureRows, feature_rows

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)


class StoredRows:
    """Rows behind a function that reads them; only what is taken is ever in memory.

    Parameters
    ----------
    read : callable
        From positions to a matrix.
    scale : callable
        From a matrix of raw rows to one of scaled rows.
    positions : ndarray of int
        Where the rows are.
    n_features : int
    device : torch.device
    """

    def __init__(
        self,
        read: Callable[[np.ndarray], Matrix],
        scale: Callable[[Matrix], Matrix],
        positions: np.ndarray,
        n_features: int,
        device: torch.device,
    ) -> None:
        self.read = read
        self.scale = scale
        self.positions = positions
        self.n_features = n_features
        self.device = device

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.positions)

    def take(self, index: Tensor) -> FeatureRows:
        """Rows at the given positions, read and scaled."""
        wanted = self.positions[index.cpu().numpy()]
        return feature_rows(self.scale(self.read(wanted)), self.device)

    def parts(self, n_rows: int) -> Iterator[FeatureRows]:
        """All rows in their order, so many at a time, read and scaled."""
        return (self.take(index) for index in torch.arange(self.n_rows).split(n_rows))

    def to(self, dtype: torch.dtype) -> FeatureRows:
        """All rows in another floating-point type."""
        return self._all().to(dtype)

    def dropout(self, rate: float, generator: torch.Generator) -> FeatureRows:
        """All rows with a random share of the entries set to zero, the rest scaled up."""
        return self._all().dropout(rate, generator)

    def product(self, weight: Tensor) -> Tensor:
        """All rows times ``weight`` (n_features, n_outputs)."""
        return self._all().product(weight)

    def _all(self) -> FeatureRows:
        return feature_rows(self.scale(self.read(self.positions)), self.device)
