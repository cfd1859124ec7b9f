"""Small networks side by side, one per label: start weights, logits, loss and gradients.

Every parameter has a leading label axis and nothing is shared between labels. All products are
made label by label with equal shapes (one batched product on dense rows), never as one wide
product: the rounding of a wide product depends on its width, and a label would then depend on
how many others are trained beside it.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional

from protolabel.pnml.rows import FeatureRows, feature_rows

_CPU = torch.device("cpu")


@dataclass(frozen=True)
class Networks:
    """Parameters of one hidden layer and one output per label."""

    hidden_weight: Tensor  # (n_labels, n_features, width)
    hidden_bias: Tensor  # (n_labels, width)
    output_weight: Tensor  # (n_labels, width)
    output_bias: Tensor  # (n_labels, 1)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Return the four parameters in a fixed order, penalised ones first."""
        return self.hidden_weight, self.output_weight, self.hidden_bias, self.output_bias

    def of_labels(self, index: Tensor) -> Networks:
        """Copy the networks at the given positions."""
        hidden_weight, output_weight, hidden_bias, output_bias = (
            tensor[index] for tensor in self.tensors
        )
        return Networks(hidden_weight, hidden_bias, output_weight, output_bias)


class MiniBatch:
    """Rows of one training step; sparse rows are kept sparse."""

    def __init__(self, X: Any, dtype: torch.dtype = torch.float32) -> None:
        self.n_rows: int = X.shape[0]
        self._X = X
        self._dtype = dtype
        self._dense: Tensor | None = None
        if not sp.issparse(X):
            self._dense = torch.from_numpy(np.ascontiguousarray(X)).to(dtype)

    @cached_property
    def _rows(self) -> FeatureRows:
        return feature_rows(self._X, _CPU, self._dtype)

    @cached_property
    def _columns(self) -> FeatureRows:
        return feature_rows(self._X.T.tocsr(), _CPU, self._dtype)

    def product(self, weight: Tensor) -> Tensor:
        """Rows times ``weight`` (n_labels, n_features, width), label by label."""
        if self._dense is None:
            return torch.stack([self._rows.product(one) for one in weight])
        return torch.bmm(self._dense.expand(len(weight), -1, -1), weight)

    def transposed_products(self, delta: Tensor) -> list[Tensor]:
        """Transposed rows times each part of ``delta`` (n_labels, n_rows, width)."""
        if self._dense is None:
            return [self._columns.product(one) for one in delta]
        return list(torch.bmm(self._dense.T.expand(len(delta), -1, -1), delta))


def start_networks(n_features: int, width: int, seeds: list[int]) -> Networks:
    """Glorot-uniform weights and biases, each label from a generator of its own.

    Examples
    --------
    >>> start_networks(4, 3, [0, 1]).hidden_weight.shape
    torch.Size([2, 4, 3])
    """
    networks = Networks(
        hidden_weight=torch.empty(len(seeds), n_features, width, dtype=torch.float32),
        hidden_bias=torch.empty(len(seeds), width, dtype=torch.float32),
        output_weight=torch.empty(len(seeds), width, dtype=torch.float32),
        output_bias=torch.empty(len(seeds), 1, dtype=torch.float32),
    )
    hidden, output = math.sqrt(6 / (n_features + width)), math.sqrt(6 / (width + 1))
    for k, seed in enumerate(seeds):
        generator = torch.Generator().manual_seed(seed)
        for tensor, bound in zip(networks.tensors, (hidden, output, hidden, output), strict=True):
            tensor[k].uniform_(-bound, bound, generator=generator)
    return networks


def label_seeds(Y: sp.csr_array, seed: int) -> list[int]:
    """Seed of every label from its own column, so that the other columns do not matter."""
    columns = Y.tocsc()
    columns.sort_indices()
    ends = columns.indptr.tolist()
    seeds = []
    for start, end in itertools.pairwise(ends):
        rows = columns.indices[start:end].astype("<i8").tobytes()
        digest = hashlib.blake2b(rows, digest_size=7, salt=seed.to_bytes(8, "little"))
        seeds.append(int.from_bytes(digest.digest(), "little"))
    return seeds


def hidden_and_logits(batch: MiniBatch, networks: Networks) -> tuple[Tensor, Tensor]:
    """Activations of the hidden layer, (n_labels, n_rows, width), and logits without width."""
    hidden = batch.product(networks.hidden_weight)
    hidden.add_(networks.hidden_bias[:, None, :]).relu_()
    logits = (hidden * networks.output_weight[:, None, :]).sum(dim=2) + networks.output_bias
    return hidden, logits


def loss_and_gradients(
    batch: MiniBatch, targets: Tensor, networks: Networks
) -> tuple[Tensor, list[Tensor]]:
    """Cross-entropy of every label, summed over rows, and gradients of its mean over rows.

    Parameters
    ----------
    batch : MiniBatch
    targets : Tensor of shape (n_labels, n_rows)
        Zeros and ones.
    networks : Networks

    Returns
    -------
    losses : Tensor of shape (n_labels,)
    gradients : list of Tensor
        One entry per parameter and label, in the order of ``networks.tensors``.
    """
    hidden, logits = hidden_and_logits(batch, networks)
    losses = (functional.softplus(logits) - targets * logits).sum(dim=1)
    error = (torch.sigmoid(logits) - targets).div_(batch.n_rows)[:, :, None]
    output_weight = (hidden * error).sum(dim=1)
    delta = (error * networks.output_weight[:, None, :]).mul_(hidden > 0)
    gradients = [
        *batch.transposed_products(delta),
        *output_weight,
        *delta.sum(dim=1),
        *error.sum(dim=1),
    ]
    return losses, gradients
