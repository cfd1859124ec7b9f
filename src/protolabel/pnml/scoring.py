"""Log-odds of new rows by a trained network, with all that does not depend on them prepared.

A squared distance |U_k (e - p)|^2 is e' G_k e - 2 e' G_k p + p' G_k p with G_k = U_k' U_k. The
last two terms are one product with a weight vector per prototype. The first is shared by all
prototypes of a label: the squared length of U_k e where U_k has few rows, else the product of
the symmetric G_k with the products of all pairs of coordinates, half as much work as U_k e. Where
distances stay squared and each side has one prototype it cancels: log-odds are linear in e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from protolabel.pnml.distance import root_offset
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import FeatureRows

# Coordinates whose pairs are formed at once; pairs inside of a block are formed twice.
_PAIR_BLOCK = 16
# Labels whose distances are computed together.
_LABEL_BLOCK = 256
# For fewer labels the pairs themselves cost more than the work they save.
_MIN_LABELS_OF_PAIRS = 64
# Entries of the largest tensor that is made for a chunk of rows: it should stay in the cache,
# but a product with few rows is slow.
_CHUNK_ENTRIES = 2**18
_MIN_CHUNK_ROWS, _MAX_CHUNK_ROWS = 64, 512


class NetworkScorer:
    """Scores rows by some members of a trained network.

    The network must not change afterwards: what was prepared would not follow.

    Parameters
    ----------
    network : PrototypeNetwork
        With its final prototypes.
    members : sequence of int or None, default=None
        Members that take part; None for all.
    """

    def __init__(self, network: PrototypeNetwork, members: Sequence[int] | None = None) -> None:
        chosen = range(network.n_members) if members is None else members
        self.network = network
        self.members = torch.tensor(list(chosen), device=network.positions.device)
        self.prepared = network.settings.shared_embedding
        if not self.prepared:
            return
        with torch.no_grad():
            self.weight = network.embedding.weight[:, self.members].flatten(1).contiguous()
            self.active = network.active[self.members]
            self.all_active = bool(self.active.all())
            kind = LinearHead if _is_linear(network) else Head
            self.heads: list[Head | LinearHead] = [
                kind.of(network, self.members, labels) for labels in label_groups(network)
            ]

    @torch.inference_mode()
    def scores(self, rows: FeatureRows) -> Tensor:
        """Mean log-odds over the members that know a label, else its prior, (n_rows, n_labels)."""
        if not self.prepared:
            logits = self.network.member_logits(rows)[self.members]
            return self.network.average_members(logits)
        if rows.n_rows <= self._chunk_rows:
            return self._scores_of_chunk(rows)
        scores = self.weight.new_empty(rows.n_rows, self.network.n_labels)
        size = self._chunk_rows
        for out, part in zip(scores.split(size), rows.parts(size), strict=True):
            out.copy_(self._scores_of_chunk(part))
        return scores

    @property
    def _chunk_rows(self) -> int:
        """Rows whose largest intermediate result stays small, whatever the number of labels."""
        per_row = max(head.entries_per_row for head in self.heads)
        return min(max(_CHUNK_ENTRIES // per_row, _MIN_CHUNK_ROWS), _MAX_CHUNK_ROWS)

    def _scores_of_chunk(self, rows: FeatureRows) -> Tensor:
        embeddings = self._embedded(rows.to(self.weight.dtype))
        parts = [head.logits(embeddings) for head in self.heads]
        logits = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        if self.all_active:
            total = logits[0]
            # Member by member: the order of a sum over an axis depends on the number of labels.
            for one in logits[1:]:
                total = total + one
            # A sum that is no number comes from a member that is to be left out.
            if not bool(total.isnan().any()):
                return total / len(logits)
        return self.network.average_members(torch.where(self.active[:, None, :], logits, torch.nan))

    def _embedded(self, rows: FeatureRows) -> Tensor:
        """Embeddings of the chosen members, (n_chosen, n_rows, dim)."""
        layers = self.network.embedding
        product = rows.product(self.weight)
        hidden = product.unflatten(1, (len(self.members), -1)).transpose(0, 1)
        slope = layers.negative_slope
        # In the memory of the product: new memory for each step takes longer than the step.
        hidden = functional.leaky_relu_(hidden.add_(layers.bias[self.members]), slope)
        if layers.top_weight is not None and layers.top_bias is not None:
            top = torch.matmul(hidden, layers.top_weight[self.members])
            hidden = functional.leaky_relu_(top.add_(layers.top_bias[self.members]), slope)
        return hidden


@dataclass(frozen=True)
class PrototypeTerms:
    """What belongs to the prototypes of some labels.

    ``centre`` (n_members, 1, dim) is subtracted from embeddings; ``linear`` (n_members, dim,
    2 * n_slots * n_labels) and ``constant`` (n_members, 1, 2 * n_slots * n_labels) are the last
    two terms of the squared distances.
    """

    centre: Tensor
    linear: Tensor
    constant: Tensor
    log_weights: Tensor
    prior: Tensor
    scale: Tensor | None

    @classmethod
    def of(cls, network: PrototypeNetwork, members: Tensor, labels: slice) -> PrototypeTerms:
        """Prepare the terms of some members and labels."""
        positions = network.positions[members, labels].flatten(2, 3)  # (members, labels, P, dim)
        centre = positions.mean(dim=(1, 2))[:, None, :]
        positions = positions - centre[:, None]
        by_metric = positions
        if network.metric is not None:
            metric = network.metric[members, labels]
            by_metric = torch.matmul(torch.matmul(positions, metric.mT), metric)  # G p
        # Labels last: the work on each distance runs along them.
        linear = (-2 * by_metric).permute(0, 3, 2, 1).flatten(2)
        constant = (positions * by_metric).sum(-1).mT.flatten(1)[:, None, :]
        variance = network.log_variance
        return cls(
            centre=centre,
            linear=linear.contiguous(),
            constant=constant.contiguous(),
            log_weights=network.log_weights[members, labels].permute(0, 2, 3, 1).contiguous(),
            prior=network.log_prior_odds[members, labels][:, None, :].contiguous(),
            scale=None if variance is None else (2 * variance[members].exp()).view(-1, 1, 1, 1),
        )

    @property
    def missing(self) -> Tensor:
        """What one of two single prototypes that is not there takes from its side."""
        return (self.log_weights[:, 1, 0] - self.log_weights[:, 0, 0])[:, None, :]


@dataclass(frozen=True)
class Head:
    """Prepared distances to the prototypes of some labels.

    ``quadratic`` holds U as (n_members, dim, n_labels * rank) or the blocks of G as (n_members,
    n_pairs, n_labels), and is None for the plain distance.
    """

    terms: PrototypeTerms
    quadratic: Tensor | None
    is_paired: bool
    squared: bool

    @classmethod
    def of(cls, network: PrototypeNetwork, members: Tensor, labels: slice) -> Head:
        """Prepare the distances of some members to some labels."""
        quadratic, is_paired = None, False
        if network.metric is not None:
            metric = network.metric[members, labels]
            rank, dim = metric.shape[-2:]
            many = metric.shape[1] >= _MIN_LABELS_OF_PAIRS
            is_paired = many and rank > (dim + _PAIR_BLOCK) // 2
            quadratic = _packed(metric) if is_paired else metric.permute(0, 3, 1, 2).flatten(2)
            quadratic = quadratic.contiguous()
        terms = PrototypeTerms.of(network, members, labels)
        return cls(terms, quadratic, is_paired, network.settings.squared_distance)

    @property
    def entries_per_row(self) -> int:
        """Size of the largest intermediate result of a row."""
        widths = [self.terms.linear.shape[2]]
        if self.quadratic is not None:
            widths.append(self.quadratic.shape[1 if self.is_paired else 2])
        return len(self.terms.linear) * max(widths)

    def logits(self, embeddings: Tensor) -> Tensor:
        """Log-odds of the labels, (n_members, n_rows, n_labels)."""
        terms = self.terms
        centred = embeddings - terms.centre
        n_members, n_rows, _ = centred.shape
        n_slots, n_labels = terms.log_weights.shape[2:]
        squares = torch.baddbmm(terms.constant, centred, terms.linear)
        squares = squares.view(n_members, n_rows, 2 * n_slots, n_labels)
        squares += self._lengths(centred)[:, :, None, :]
        squares.clamp_min_(0)
        distances = squares if self.squared else squares.add_(root_offset(squares.dtype)).sqrt_()
        if terms.scale is not None:
            distances = distances / terms.scale
        distances = distances.view(n_members, n_rows, 2, n_slots, n_labels)
        if n_slots == 1:
            ratio = distances[:, :, 0, 0] - distances[:, :, 1, 0]
            return ratio.add_(terms.prior).add_(terms.missing)
        log_density = torch.logsumexp(terms.log_weights[:, None] - distances, dim=3)
        return log_density[:, :, 1] - log_density[:, :, 0] + terms.prior

    def _lengths(self, centred: Tensor) -> Tensor:
        """Value of e' G_k e for every row and label, (n_members, n_rows, 1 or n_labels)."""
        if self.quadratic is None:
            return centred.square().sum(-1, keepdim=True)
        if self.is_paired:
            return torch.bmm(_pairs(centred), self.quadratic)
        n_labels = self.terms.log_weights.shape[-1]
        projected = torch.bmm(centred, self.quadratic).unflatten(-1, (n_labels, -1))
        lengths: Tensor = torch.linalg.vector_norm(projected, dim=-1)
        return lengths.square_()


@dataclass(frozen=True)
class LinearHead:
    """Log-odds that are linear in the embedding.

    ``weight`` is (n_members, dim, n_labels), ``constant`` (n_members, 1, n_labels).
    """

    weight: Tensor
    constant: Tensor

    @classmethod
    def of(cls, network: PrototypeNetwork, members: Tensor, labels: slice) -> LinearHead:
        """Distance to the negative prototype minus that to the positive one, in one product."""
        terms = PrototypeTerms.of(network, members, labels)
        negative, positive = terms.linear.chunk(2, dim=-1)
        weight = negative - positive
        below, above = terms.constant.chunk(2, dim=-1)
        constant = below - above - torch.matmul(terms.centre, weight)
        if terms.scale is not None:
            weight, constant = weight / terms.scale[..., 0], constant / terms.scale[..., 0]
        return cls(weight.contiguous(), constant + terms.prior + terms.missing)

    @property
    def entries_per_row(self) -> int:
        """Size of the largest intermediate result of a row."""
        return len(self.weight) * self.weight.shape[2]

    def logits(self, embeddings: Tensor) -> Tensor:
        """Log-odds of the labels, (n_members, n_rows, n_labels)."""
        return torch.baddbmm(self.constant, embeddings, self.weight)


def label_groups(network: PrototypeNetwork) -> list[slice]:
    """Trained labels in blocks, and each label that came later.

    Products of another size or layout round differently: each label is computed as it was first.
    """
    trained = network.n_labels - network.n_added
    starts = range(0, trained, _LABEL_BLOCK)
    blocks = [slice(start, min(start + _LABEL_BLOCK, trained)) for start in starts]
    return blocks + [slice(k, k + 1) for k in range(trained, network.n_labels)]


def _is_linear(network: PrototypeNetwork) -> bool:
    """Whether what is quadratic in the embedding cancels."""
    return network.settings.squared_distance and network.log_weights.shape[-1] == 1


def _pairs(values: Tensor) -> Tensor:
    """Products of coordinates, every pair of blocks once, (n_members, n_rows, n_pairs)."""
    dim = values.shape[-1]
    starts = range(0, dim, _PAIR_BLOCK)
    widths = [min(_PAIR_BLOCK, dim - start) * (dim - start) for start in starts]
    pairs = values.new_empty(*values.shape[:2], sum(widths))
    for start, part in zip(starts, pairs.split(widths, dim=-1), strict=True):
        block = values[..., start : start + _PAIR_BLOCK, None]
        torch.mul(block, values[..., None, start:], out=part.unflatten(-1, (block.shape[2], -1)))
    return pairs


def _packed(metric: Tensor) -> Tensor:
    """Entries of G_k = U_k' U_k in the order of :func:`_pairs`, (n_members, n_pairs, n_labels).

    A pair of different blocks is formed once and stands for two entries of G.
    """
    dim = metric.shape[-1]
    parts = []
    for start in range(0, dim, _PAIR_BLOCK):
        stop = min(start + _PAIR_BLOCK, dim)
        block = torch.matmul(metric[..., start:stop].mT, metric[..., start:])
        block[..., stop - start :] *= 2
        parts.append(block.flatten(2))
    return torch.cat(parts, dim=-1).mT
