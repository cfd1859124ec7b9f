"""Rows of a batch that each slice may learn from.

Members of a cross-fitted ensemble share their batches but not their rows: one of three members
must not see a third of them. What is held out has weight 0 in the loss, and is left out of all
that comes after the embedding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class SeenRows:
    """``positions`` of rows in a batch and their ``weights``, both (n_slices, n_seen).

    A slice that sees fewer rows than another has some of weight 0 at its end.
    """

    positions: Tensor
    weights: Tensor

    @classmethod
    def of(cls, weights: Tensor) -> SeenRows:
        """Rows with a weight, (n_slices, n_rows).

        Examples
        --------
        >>> import torch
        >>> SeenRows.of(torch.tensor([[1.0, 0.0, 1.0]])).positions
        tensor([[0, 2]])
        """
        n_seen = int((weights > 0).sum(1).max())
        order = torch.argsort(weights, dim=1, descending=True, stable=True)
        positions = order[:, :n_seen]
        return cls(positions, weights.gather(1, positions))

    def of_each(self, values: Tensor) -> Tensor:
        """The rows of (n_slices or 1, n_rows, width) that each slice sees, in its order."""
        slices = values.expand(len(self.positions), -1, -1).unbind()
        pairs = zip(slices, self.positions, strict=True)
        return torch.stack([part.index_select(0, rows) for part, rows in pairs])
