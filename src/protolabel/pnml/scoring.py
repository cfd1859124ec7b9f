"""Log-odds of new rows by a trained network, with all that does not depend on them prepared.

Rows are scored in single precision, four times as fast as in double precision, and in blocks of
a fixed number of rows, so that the score of a row does not depend on the rows it comes with.
Where that precision is not enough, they are scored again in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.row_blocks import BLOCK_ROWS, block_product, block_weight, whole_blocks
from protolabel.pnml.rows import DenseRows, FeatureRows
from protolabel.pnml.scoring_heads import LabelHead

# Labels whose distances are computed together.
_LABEL_BLOCK = 256
# Entries of the largest tensor that is made for a chunk of rows: it should stay in the cache.
_CHUNK_ENTRIES = 2**20
_MAX_CHUNK_ROWS = 1024
_MIN_CHUNK_BLOCKS = 2


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
        self.network = network
        self.members = list(range(network.n_members) if members is None else members)

    @torch.inference_mode()
    def scores(self, rows: FeatureRows) -> Tensor:
        """Mean log-odds over the members that know a label, else its prior, (n_rows, n_labels)."""
        if not self.network.settings.shared_embedding:
            logits = self.network.member_logits(rows)[self.members]
            return self.network.average_members(logits)
        single = self.single
        if rows.n_rows <= single.chunk_rows:
            return self._scores_of_chunk(rows)
        positions = self.network.positions
        scores = positions.new_empty(rows.n_rows, self.network.n_labels)
        index = torch.arange(rows.n_rows, device=positions.device)
        for chunk in index.split(single.chunk_rows):
            scores[chunk[0] : chunk[-1] + 1] = self._scores_of_chunk(rows.take(chunk))
        return scores

    @cached_property
    def single(self) -> _Members:
        """The members in single precision."""
        return _Members.of(self.network, self.members, torch.float32)

    @cached_property
    def double(self) -> _Members:
        """The members in the precision of the network."""
        return _Members.of(self.network, self.members, self.network.positions.dtype)

    def _scores_of_chunk(self, rows: FeatureRows) -> Tensor:
        found, is_rough = self.single.scores(rows)
        scores = found.to(self.network.positions.dtype)
        if bool(is_rough.any()):
            again = is_rough.any(1).nonzero().squeeze(1)
            finer, _ = self.double.scores(rows.take(again))
            finer = torch.where(finer.isnan(), self.network.constant_logits.to(finer.dtype), finer)
            # The other labels of the row keep theirs, whatever labels are added later.
            scores[again] = torch.where(is_rough[again], finer, scores[again])
        return scores


@dataclass(frozen=True)
class _Members:
    """Members of a network prepared in one precision.

    ``weight`` (1, n_features, n_members * n_first) and ``bias`` are the first layer of all
    members, ``top`` the second of each and its bias. ``share`` (n_members, 1, n_labels) is the
    weight of each member in the mean, and ``constant`` (n_labels,) the score where no member
    has a share.
    """

    weight: Tensor
    bias: Tensor
    top: tuple[Tensor, Tensor] | None
    heads: tuple[LabelHead, ...]
    slope: float
    share: Tensor
    constant: Tensor

    @classmethod
    def of(cls, network: PrototypeNetwork, members: Sequence[int], dtype: torch.dtype) -> _Members:
        chosen, layers, top = list(members), network.embedding, None
        with torch.no_grad():
            if layers.top_weight is not None and layers.top_bias is not None:
                top = (
                    block_weight(layers.top_weight[chosen]).to(dtype),
                    layers.top_bias[chosen].to(dtype),
                )
            active = network.active[chosen]
            counts = active.sum(0)
            return cls(
                weight=block_weight(layers.weight[:, chosen].flatten(1)).to(dtype)[None],
                bias=layers.bias[chosen].flatten().to(dtype),
                top=top,
                heads=tuple(
                    # Metrics of labels that came later are steep: single precision would show.
                    LabelHead.of(
                        network, chosen, labels, network.positions.dtype if late else dtype
                    )
                    for labels, late in _label_groups(network)
                ),
                slope=layers.negative_slope,
                share=(active.to(dtype) / counts.clamp_min(1))[:, None],
                constant=torch.where(counts > 0, 0.0, network.constant_logits).to(dtype),
            )

    @property
    def chunk_rows(self) -> int:
        """Rows whose largest intermediate result stays small, whatever the number of labels."""
        per_row = max(head.entries_per_row for head in self.heads)
        blocks = min(_CHUNK_ENTRIES // per_row, _MAX_CHUNK_ROWS) // BLOCK_ROWS
        return BLOCK_ROWS * max(blocks, _MIN_CHUNK_BLOCKS)

    def scores(self, rows: FeatureRows) -> tuple[Tensor, Tensor]:
        """Scores (n_rows, n_labels), and where single precision is not enough for them."""
        embeddings = self._embedded(rows)
        found = [head.logits(embeddings.to(head.centre.dtype)) for head in self.heads]
        logits, is_rough = found[0] if len(found) == 1 else _side_by_side(found)
        logits *= self.share
        # Member by member: the order of a sum over an axis depends on the number of labels.
        total, rough = logits[0], is_rough[0]
        for more, more_rough in zip(logits[1:], is_rough[1:], strict=True):
            total += more
            rough |= more_rough
        total += self.constant
        rough |= ~total.isfinite()
        return total[: rows.n_rows], rough[: rows.n_rows]

    def _embedded(self, rows: FeatureRows) -> Tensor:
        """Embeddings of whole blocks of rows, (n_members, n_blocks * BLOCK_ROWS, dim)."""
        rows = rows.to(self.weight.dtype)
        if isinstance(rows, DenseRows):
            hidden = block_product(whole_blocks(rows.values)[None], self.weight)[0]
        else:
            hidden = whole_blocks(rows.product(self.weight[0]))
        hidden = hidden[:, : len(self.bias)].add_(self.bias)
        functional.leaky_relu_(hidden, self.slope)
        embeddings: Tensor = hidden.unflatten(1, (len(self.share), -1)).transpose(0, 1)
        if self.top is None:
            return embeddings
        weight, bias = self.top
        top = block_product(embeddings.contiguous(), weight)[..., : bias.shape[2]].add_(bias)
        functional.leaky_relu_(top, self.slope)
        return top


def _side_by_side(found: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Results of several groups of labels as one."""
    logits, is_rough = zip(*found, strict=True)
    first = logits[0].dtype
    return torch.cat([part.to(first) for part in logits], dim=2), torch.cat(is_rough, dim=2)


def _label_groups(network: PrototypeNetwork) -> list[tuple[slice, bool]]:
    """Trained labels in blocks, and each label that came later, with a mark.

    Products of another size or layout round differently: each label is computed as it was first.
    """
    trained = network.n_labels - network.n_added
    starts = range(0, trained, _LABEL_BLOCK)
    blocks = [(slice(start, min(start + _LABEL_BLOCK, trained)), False) for start in starts]
    return blocks + [(slice(k, k + 1), True) for k in range(trained, network.n_labels)]
