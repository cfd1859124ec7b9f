"""Log-odds of a single row in NumPy, which starts its small steps sooner than PyTorch does.

Distances are those between U_k e and U_k p themselves: the projections of the prototypes are much
smaller than the weights with which many rows share one product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from protolabel.pnml.distance import root_offset
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.scoring import Head, LinearHead, NetworkScorer, label_groups

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)


class MatrixScorer:
    """Scores rows by all members of a trained network, which must not change afterwards."""

    def __init__(self, network: PrototypeNetwork) -> None:
        self.of_many = NetworkScorer(network)
        self.of_one = RowScorer(self.of_many) if RowScorer.can_follow(self.of_many) else None

    def scores(self, X: Matrix) -> np.ndarray:
        """Mean log-odds over the members, (n_samples, n_labels)."""
        scores = self.of_one.scores(X) if self.of_one is not None and X.shape[0] == 1 else None
        if scores is None:
            rows = feature_rows(X, self.of_many.network.positions.device)
            scores = self.of_many.scores(rows).cpu().numpy()
        return scores


class RowScorer:
    """Scores one row at a time by all members of a trained network.

    Parameters
    ----------
    scorer : NetworkScorer
        Of all members, one that :meth:`can_follow`; its matrices are shared.
    """

    def __init__(self, scorer: NetworkScorer) -> None:
        network = scorer.network
        layers = network.embedding
        self.n_members = network.n_members
        self.slope = layers.negative_slope
        self.weight = scorer.weight.numpy()
        self.bias = _array(layers.bias)
        self.top: tuple[np.ndarray, np.ndarray] | None = None
        if layers.top_weight is not None and layers.top_bias is not None:
            self.top = _array(layers.top_weight), _array(layers.top_bias)
        pairs = zip(scorer.heads, label_groups(network), strict=True)
        self.heads = [_RowHead.of(network, head, labels) for head, labels in pairs]

    @staticmethod
    def can_follow(scorer: NetworkScorer) -> bool:
        """Whether the members know all labels, and project embeddings before they compare them."""
        return (
            scorer.prepared
            and scorer.all_active
            and scorer.weight.device.type == "cpu"
            and scorer.weight.dtype == torch.float64
            and all(_projects(head) for head in scorer.heads)
        )

    def scores(self, row: Matrix) -> np.ndarray | None:
        """Mean log-odds, (1, n_labels); None where a member gives no number."""
        # Rows too large for single precision give no number, and are scored as many are.
        with np.errstate(over="ignore", invalid="ignore"):
            embeddings = self._embedded(row)
            parts = [head.logits(embeddings) for head in self.heads]
            logits = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
            total: np.ndarray = logits[:1].copy()
            # Member by member: the order of a sum over an axis depends on the number of labels.
            for one in logits[1:]:
                total += one
            total /= self.n_members
        return None if np.isnan(total).any() else total

    def _embedded(self, row: Matrix) -> np.ndarray:
        """Embeddings of the members, (n_members, 1, dim)."""
        # Networks read rows in single precision.
        if sp.issparse(row):
            values = row.data.astype(np.float32).astype(self.weight.dtype)
            product = values @ self.weight.take(row.indices, axis=0)
        else:
            product = row[0].astype(np.float32).astype(self.weight.dtype) @ self.weight
        hidden = self._activated(product.reshape(self.bias.shape) + self.bias)
        if self.top is not None:
            weight, bias = self.top
            hidden = self._activated(np.matmul(hidden, weight) + bias)
        return hidden

    def _activated(self, values: np.ndarray) -> np.ndarray:
        return np.where(values > 0, values, self.slope * values)


@dataclass(frozen=True)
class _RowHead:
    """Projected prototypes of some labels.

    ``metric`` is (n_members, dim, n_labels * rank), ``projected`` (n_members, 2 * n_slots,
    n_labels * rank), ``log_weights`` (n_members, 2, n_slots, n_labels) and ``prior``
    (n_members, n_labels).
    """

    metric: np.ndarray
    projected: np.ndarray
    log_weights: np.ndarray
    prior: np.ndarray
    scale: np.ndarray | None
    squared: bool

    @classmethod
    @torch.no_grad()
    def of(cls, network: PrototypeNetwork, head: Head | LinearHead, labels: slice) -> _RowHead:
        assert network.metric is not None
        assert isinstance(head, Head)
        assert head.quadratic is not None
        terms = head.terms
        # Copies, so that a label keeps its digits where others are added later.
        positions = network.positions[:, labels].contiguous().flatten(2, 3)
        projected = torch.matmul(positions, network.metric[:, labels].contiguous().mT)
        return cls(
            metric=head.quadratic.numpy(),
            projected=_array(projected.transpose(1, 2).flatten(2)),
            log_weights=_array(terms.log_weights),
            prior=_array(terms.prior[:, 0]),
            scale=None if terms.scale is None else _array(terms.scale[:, 0]),
            squared=head.squared,
        )

    def logits(self, embeddings: np.ndarray) -> np.ndarray:
        """Log-odds of the labels, (n_members, n_labels)."""
        n_members, _, n_slots, n_labels = self.log_weights.shape
        apart = np.matmul(embeddings, self.metric) - self.projected
        np.square(apart, out=apart)
        rank = apart.shape[-1] // n_labels
        # As a product with ones, a sum over few numbers is several times as fast.
        distances = apart.reshape(-1, rank) @ np.ones(rank)
        if not self.squared:
            distances += root_offset(torch.float64)
            np.sqrt(distances, out=distances)
        distances = distances.reshape(n_members, 2 * n_slots, n_labels)
        if self.scale is not None:
            distances /= self.scale
        terms = self.log_weights - distances.reshape(self.log_weights.shape)
        density = terms[:, :, 0] if n_slots == 1 else _log_sum_exp(terms)
        return np.asarray(density[:, 1] - density[:, 0] + self.prior)


def _projects(head: Head | LinearHead) -> bool:
    return isinstance(head, Head) and head.quadratic is not None and not head.is_paired


def _log_sum_exp(terms: np.ndarray) -> np.ndarray:
    """Logarithm of the sum of exponentials along the third axis."""
    largest = terms.max(axis=2, keepdims=True)
    return np.asarray(np.log(np.exp(terms - largest).sum(axis=2)) + largest[:, :, 0])


def _array(values: Tensor) -> np.ndarray:
    return np.ascontiguousarray(values.detach().numpy())
