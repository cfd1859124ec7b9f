"""Single prototypes and moments of very many rows, embedded chunk after chunk."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from protolabel.pnml.label_rows import LabelRows, label_sums
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.prototypes import LOG_ZERO, PrototypeSet
from protolabel.pnml.rows import FeatureRows

# Rows embedded at once.
CHUNK_ROWS = 1024


@dataclass(frozen=True)
class RowMeans:
    """What a network keeps of its training rows.

    ``prototypes`` of both sides of each label; ``mean`` (n_slices, dim) and ``covariance``
    (n_slices, dim, dim) of the embeddings of all rows.
    """

    prototypes: PrototypeSet
    mean: Tensor
    covariance: Tensor


@torch.no_grad()
def means_of_rows(
    network: PrototypeNetwork, rows: FeatureRows, labels: LabelRows, row_weights: Tensor
) -> RowMeans:
    """Means over rows that are embedded in chunks, so that memory does not grow with them.

    Parameters
    ----------
    network : PrototypeNetwork
        With a shared embedding, in evaluation mode.
    rows : FeatureRows
    labels : Tensor or SparseLabels of shape (n_rows, n_labels)
    row_weights : Tensor of shape (n_slices, n_rows)
    """
    dtype = network.embedding.weight.dtype
    n_slices, dim = network.n_slices, network.settings.embedding_dim
    new = network.positions.new_zeros
    positive = new((network.n_labels, n_slices * dim), dtype=dtype)
    n_positive = new((network.n_labels, n_slices), dtype=dtype)
    total, squares = new((n_slices, dim), dtype=dtype), new((n_slices, dim, dim), dtype=dtype)
    # Moments about a row of the data: those about zero would cancel where it is far away.
    origin: Tensor | None = None
    indices = torch.arange(rows.n_rows, device=row_weights.device).split(CHUNK_ROWS)
    for index, chunk in zip(indices, rows.parts(CHUNK_ROWS), strict=True):
        embedded = network.embedding(chunk.to(dtype))
        weights = row_weights[:, index].to(dtype)
        origin = embedded[:, :1] if origin is None else origin
        shifted = embedded - origin
        usable = shifted * weights[..., None]  # (n_slices, n_chunk, dim)
        part = _rows_at(labels, index)
        positive += label_sums(part, usable.transpose(0, 1).flatten(1))
        n_positive += label_sums(part, weights.mT)
        total += usable.sum(1)
        squares += torch.matmul(usable.mT, shifted)
    assert origin is not None
    n_rows = row_weights.sum(1).to(dtype)
    sides = torch.stack(
        [
            total[:, None] - positive.view(-1, n_slices, dim).transpose(0, 1),
            positive.view(-1, n_slices, dim).transpose(0, 1),
        ],
        dim=2,
    )  # (n_slices, n_labels, 2, dim)
    counts = torch.stack([n_rows[:, None] - n_positive.mT, n_positive.mT], dim=2)
    positions = sides / counts.clamp_min(1)[..., None] + (counts > 0)[..., None] * origin[:, None]
    log_weights = torch.zeros_like(counts).masked_fill(counts == 0, LOG_ZERO)
    mean = total / n_rows.clamp_min(1)[:, None]
    covariance = squares / n_rows.clamp_min(1)[:, None, None] - mean[:, :, None] * mean[:, None]
    return RowMeans(
        PrototypeSet(positions[..., None, :], log_weights[..., None]),
        mean + origin[:, 0],
        covariance,
    )


def _rows_at(labels: LabelRows, index: Tensor) -> LabelRows:
    return labels[index] if isinstance(labels, Tensor) else labels.take(index)
