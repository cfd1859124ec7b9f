"""Distances of rows to the prototypes of some labels, with all that does not depend on the rows.

A squared distance |U_k (e - p)|^2 is e' G_k e - 2 e' G_k p + p' G_k p with G_k = U_k' U_k. The
last two terms are one product with a weight vector per prototype. The first, shared by all
prototypes of a label, is the squared length of R_k e with the triangle R_k of U_k = Q_k R_k,
which takes half the work of U_k e.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from protolabel.pnml.distance import root_offset
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.row_blocks import block_product, block_weight

# Rows of each triangle that are multiplied together, with the columns where they are not zero.
_TRIANGLE_ROWS = 16
# Where the squared distance is a smaller share of its terms, their rounding errors in single
# precision show in the fifth digit of the distance.
_MIN_SHARE = 1e-3


@dataclass(frozen=True)
class LabelHead:
    """Prepared log-odds of some labels by all members.

    Parameters
    ----------
    centre : Tensor of shape (n_members, 1, dim)
        Subtracted from embeddings: squares of what is far from zero would cancel.
    triangles : tuple of Tensor or None
        Some rows of all triangles each, without their leading zeros, (n_members, n_columns,
        rows * n_labels); None for the plain distance.
    linear : Tensor of shape (n_members, dim, 2 * n_slots * n_labels)
    constant : Tensor of shape (n_members, 1, 2 * n_slots, n_labels)
    log_weights : Tensor of shape (n_members, 1, 2, n_slots, n_labels)
    prior : Tensor of shape (n_members, 1, n_labels)
    scale : Tensor of shape (n_members, 1, 1, 1) or None
    offset : float
        Added to squares before the root is taken.
    squared : bool
    """

    centre: Tensor
    triangles: tuple[Tensor, ...] | None
    linear: Tensor
    constant: Tensor
    log_weights: Tensor
    prior: Tensor
    scale: Tensor | None
    offset: float
    squared: bool

    @classmethod
    def of(
        cls, network: PrototypeNetwork, members: Sequence[int], labels: slice, dtype: torch.dtype
    ) -> LabelHead:
        """Prepare some labels; everything is computed in the network's precision."""
        chosen = list(members)
        positions = network.positions[chosen, labels].flatten(2, 3)  # (members, labels, 2 P, dim)
        centre = positions.mean(dim=(1, 2))[:, None, :]
        positions = positions - centre[:, None]
        by_metric, triangles = positions, None
        if network.metric is not None:
            metric = network.metric[chosen, labels]
            by_metric = torch.matmul(torch.matmul(positions, metric.mT), metric)  # G p
            triangles = tuple(part.to(dtype) for part in _triangles(metric))
        variance = network.log_variance
        log_weights = network.log_weights[chosen, labels].permute(0, 2, 3, 1)[:, None]
        return cls(
            centre=centre.to(dtype),
            triangles=triangles,
            # Labels last: the work on each distance runs along them.
            linear=block_weight((-2 * by_metric).permute(0, 3, 2, 1).flatten(2)).to(dtype),
            constant=(positions * by_metric).sum(-1).mT[:, None].to(dtype).contiguous(),
            log_weights=log_weights.to(dtype).contiguous(),
            prior=network.log_prior_odds[chosen, labels][:, None].to(dtype),
            scale=None if variance is None else (2 * variance[chosen].exp()).view(-1, 1, 1, 1),
            offset=root_offset(network.positions.dtype),
            squared=network.settings.squared_distance,
        )

    @property
    def entries_per_row(self) -> int:
        """Size of the largest intermediate result of a row."""
        widths = [part.shape[2] for part in (self.linear, *(self.triangles or ()))]
        return len(self.linear) * max(widths)

    def logits(self, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        """Log-odds of the labels, and where single precision is not enough for them.

        Parameters
        ----------
        embeddings : Tensor of shape (n_members, n_rows, dim)
            A whole number of blocks of rows.

        Returns
        -------
        logits : Tensor of shape (n_members, n_rows, n_labels)
        is_rough : Tensor of bool, shape (n_members, n_rows, n_labels)
        """
        centred = embeddings - self.centre
        n_prototypes, n_labels = self.constant.shape[2:]
        squares = block_product(centred, self.linear)[..., : n_prototypes * n_labels]
        squares = squares.unflatten(2, (n_prototypes, n_labels))
        lengths = self._lengths(centred)
        squares.add_(self.constant).add_(lengths[:, :, None])
        is_rough = _folded(squares, torch.minimum) < _MIN_SHARE * lengths
        squares.clamp_min_(0)
        distances = squares if self.squared else squares.add_(self.offset).sqrt_()
        if self.scale is not None:
            distances /= self.scale
        if n_prototypes == 2:
            missing = self.log_weights[:, :, 1, 0] - self.log_weights[:, :, 0, 0]
            return (distances[:, :, 0] - distances[:, :, 1]).add_(self.prior + missing), is_rough
        terms = distances.neg_().unflatten(2, (2, -1)).add_(self.log_weights)
        density = _log_sums(terms[:, :, 1]) - _log_sums(terms[:, :, 0])
        return density.add_(self.prior), is_rough

    def _lengths(self, centred: Tensor) -> Tensor:
        """Value of e' G_k e for every row and label, (n_members, n_rows, 1 or n_labels)."""
        if self.triangles is None:
            return centred.square().sum(2, keepdim=True)
        n_labels = self.constant.shape[3]
        total: Tensor | None = None
        for part in self.triangles:
            projected = block_product(centred[..., -part.shape[1] :], part)
            # Columns that only make the product wide enough are zero.
            projected = projected[..., : projected.shape[2] // n_labels * n_labels]
            lengths = projected.square_().unflatten(2, (-1, n_labels)).sum(2)
            total = lengths if total is None else total.add_(lengths)
        assert total is not None
        return total


def _log_sums(terms: Tensor) -> Tensor:
    """Logarithm of the sum of exponentials over slots, (n_members, n_rows, n_labels)."""
    largest = _folded(terms, torch.maximum)
    total = terms.sub_(largest[:, :, None]).exp_().sum(2)
    return total.log_().add_(largest)


def _folded(values: Tensor, reduce: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Reduce the third axis by halves: torch does it one number at a time for few labels."""
    while (size := values.shape[2]) > 1:
        half = size // 2
        folded = reduce(values[:, :, :half], values[:, :, half : 2 * half])
        if size % 2:
            folded[:, :, 0] = reduce(folded[:, :, 0], values[:, :, -1])
        values = folded
    return values[:, :, 0]


def _triangles(metric: Tensor) -> list[Tensor]:
    """Triangles of metrics (n_members, n_labels, rank, dim) in groups of their rows."""
    rank, dim = metric.shape[2:]
    # A matrix of few rows has hardly any zeros to gain.
    rows = metric if 2 * rank <= dim else torch.linalg.qr(metric, mode="r").R
    groups = []
    for start in range(0, rows.shape[2], _TRIANGLE_ROWS):
        first = 0 if rows is metric else start
        group = rows[:, :, start : start + _TRIANGLE_ROWS, first:]
        groups.append(block_weight(group.permute(0, 3, 2, 1).flatten(2)))
    return groups
