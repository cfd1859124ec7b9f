"""The non-linear embedding shared by all labels (section "Overview of the Proposed Model").

Every parameter carries a leading member axis: the members of an ensemble, or the
per-label embeddings of the variant PNML-I, are trained in one batched product.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from protolabel.pnml.rows import FeatureRows, inverted_dropout


class Embedding(nn.Module):
    """One fully connected layer with LeakyReLU, optionally behind one hidden layer.

    Parameters
    ----------
    n_features : int
        Number of input columns, D.
    dim : int
        Dimension of the embedding, M.
    n_members : int
        Number of independent embeddings.
    hidden_dim : int or None
        Width of an extra hidden layer; None, as in the paper, for no hidden layer.
    negative_slope : float
        Slope of LeakyReLU below zero, beta.
    input_dropout, embedding_dropout : float
        Share of inputs and of embedding coordinates dropped in training mode.
    weight_init : {"uniform", "glorot"}
        Start of weights and biases: uniform within 1 / sqrt(inputs), or Glorot's rule with
        zero biases, the default of Keras, which the paper used.
    generator : torch.Generator
        Source of the start weights.
    """

    def __init__(
        self,
        n_features: int,
        dim: int,
        *,
        n_members: int = 1,
        hidden_dim: int | None = None,
        negative_slope: float = 0.2,
        input_dropout: float = 0.0,
        embedding_dropout: float = 0.0,
        weight_init: Literal["uniform", "glorot"] = "uniform",
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.n_members = n_members
        self.negative_slope = negative_slope
        self.input_dropout = input_dropout
        self.embedding_dropout = embedding_dropout
        first = hidden_dim or dim
        self.weight = nn.Parameter(torch.empty(n_features, n_members, first, dtype=torch.float32))
        self.bias = nn.Parameter(torch.empty(n_members, 1, first, dtype=torch.float32))
        _start_layer(self.weight, self.bias, n_features, weight_init, generator)
        self.top_weight: nn.Parameter | None = None
        self.top_bias: nn.Parameter | None = None
        if hidden_dim is not None:
            self.top_weight = nn.Parameter(
                torch.empty(n_members, hidden_dim, dim, dtype=torch.float32)
            )
            self.top_bias = nn.Parameter(torch.empty(n_members, 1, dim, dtype=torch.float32))
            _start_layer(self.top_weight, self.top_bias, hidden_dim, weight_init, generator)

    @property
    def uses_dropout(self) -> bool:
        """Whether training mode embeds a row differently from evaluation mode."""
        return self.input_dropout > 0 or self.embedding_dropout > 0

    def forward(self, rows: FeatureRows, generator: torch.Generator | None = None) -> Tensor:
        """Embed rows, (n_members, n_rows, dim); a generator switches dropout on."""
        if generator is not None:
            rows = rows.dropout(self.input_dropout, generator)
        hidden = rows.product(self.weight.flatten(1))  # (n_rows, n_members * first)
        hidden = self._activate(hidden, self.bias.flatten(), generator)
        embeddings = hidden.view(rows.n_rows, self.n_members, -1).transpose(0, 1)
        if self.top_weight is not None and self.top_bias is not None:
            product = torch.matmul(embeddings, self.top_weight)
            embeddings = self._activate(product, self.top_bias, generator)
        return embeddings.contiguous()

    def _activate(self, product: Tensor, bias: Tensor, generator: torch.Generator | None) -> Tensor:
        """LeakyReLU of product and bias, in the memory of the product."""
        active = functional.leaky_relu(product.add_(bias), self.negative_slope, inplace=True)
        return (
            active
            if generator is None
            else inverted_dropout(active, self.embedding_dropout, generator)
        )


@torch.no_grad()
def _start_layer(
    weight: Tensor, bias: Tensor, fan_in: int, rule: str, generator: torch.Generator
) -> None:
    if rule == "glorot":
        bound = math.sqrt(6 / (fan_in + weight.shape[-1]))
        weight.uniform_(-bound, bound, generator=generator)
        bias.zero_()
    else:
        bound = 1 / math.sqrt(fan_in)
        weight.uniform_(-bound, bound, generator=generator)
        bias.uniform_(-bound, bound, generator=generator)
