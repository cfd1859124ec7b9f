"""Which rows belong to the components of every label, in compressed form.

A component is one side of a label in one slice of the network: the rows that have the label,
or the rows that have not. Most labels are rare, so the positive components of all labels
together hold few rows; the negative ones are all other rows, or a drawn part of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class ComponentRows:
    """Rows of many components, one component after the other.

    ``rows`` (n_members,) are positions in the rows of all slices, slice after slice;
    ``offsets`` (n_components + 1,) say where each component starts.
    """

    rows: Tensor
    offsets: Tensor

    @property
    def counts(self) -> Tensor:
        """Number of rows of each component."""
        return self.offsets.diff()

    @property
    def component_of_row(self) -> Tensor:
        """Component of every entry of ``rows``."""
        numbers = torch.arange(len(self.offsets) - 1, device=self.rows.device)
        return torch.repeat_interleave(numbers, self.counts, output_size=len(self.rows))

    def sums(self, values: Tensor) -> Tensor:
        """Sums of ``values`` (n_all_rows, dim) over the rows of each component, with gradient.

        Examples
        --------
        >>> import torch
        >>> members = ComponentRows(torch.tensor([0, 2, 1]), torch.tensor([0, 2, 2, 3]))
        >>> members.sums(torch.tensor([[1.0], [2.0], [5.0]])).flatten().tolist()
        [6.0, 0.0, 2.0]
        """
        apply: Any = _ComponentSums.apply
        result: Tensor = apply(values, self)
        return result

    def followed_by(self, others: ComponentRows) -> ComponentRows:
        """These components and then others."""
        return ComponentRows(
            torch.cat([self.rows, others.rows]),
            torch.cat([self.offsets, others.offsets[1:] + len(self.rows)]),
        )

    def keep(self, chosen: Tensor) -> ComponentRows:
        """Only the entries of ``rows`` where ``chosen`` (n_members,) is true."""
        before = functional.pad(chosen.cumsum(0), (1, 0))
        return ComponentRows(self.rows[chosen], before[self.offsets])

    def transposed(self, n_all_rows: int) -> ComponentRows:
        """The components of every row, in the same form."""
        if n_all_rows not in self._transposes:
            self._transposes[n_all_rows] = self._transpose(n_all_rows)
        return self._transposes[n_all_rows]

    def _transpose(self, n_all_rows: int) -> ComponentRows:
        # SciPy counts the entries into place, which takes a fifth of the time of a sort.
        entries = np.empty(len(self.rows), dtype=np.int8)
        members = (entries, self.rows.cpu().numpy(), self.offsets.cpu().numpy())
        found = sp.csr_array(members, shape=(len(self.offsets) - 1, n_all_rows)).tocsc()
        rows, offsets = (
            torch.from_numpy(part.astype(np.int64)).to(self.rows.device)
            for part in (found.indices, found.indptr)
        )
        return ComponentRows(rows, offsets)

    @cached_property
    def _transposes(self) -> dict[int, ComponentRows]:
        return {}


@dataclass(frozen=True)
class Components:
    """Members of both sides of every label, in every slice.

    ``is_positive`` (1 or n_slices, n_labels, n_rows) and ``usable`` (n_slices, n_rows) describe
    all rows; ``all_positives`` lists the usable positive ones, ``positives`` those that take
    part. Negative sides consist of the usable rows that are not positive, or of those among
    ``drawn_rows``, rising positions, where these are not None. Components count slice by slice,
    label by label.
    """

    is_positive: Tensor
    usable: Tensor
    all_positives: ComponentRows
    positives: ComponentRows
    drawn_rows: Tensor | None = None

    @classmethod
    def of(cls, labels: Tensor, row_weights: Tensor) -> Components:
        """All rows of every component.

        Parameters
        ----------
        labels : Tensor of shape (1 or n_slices, n_rows, n_labels)
        row_weights : Tensor of shape (n_slices, n_rows)
            0 for the rows that a slice must not see.
        """
        is_positive, usable = (labels > 0).mT.contiguous(), row_weights > 0
        members = is_positive & usable[:, None, :]  # (n_slices, n_labels, n_rows)
        part, _, rows = members.nonzero().unbind(1)
        offsets = functional.pad(members.sum(-1).flatten().cumsum(0), (1, 0))
        positives = ComponentRows(part * usable.shape[1] + rows, offsets)
        return cls(is_positive, usable, positives, positives)

    @property
    def n_labels(self) -> int:
        """Labels of a slice."""
        return self.is_positive.shape[1]

    def counts(self) -> Tensor:
        """Rows of the negative and the positive side, (n_slices, n_labels, 2)."""
        shape = (len(self.usable), self.n_labels)
        usable, present = self.usable, self.all_positives
        if self.drawn_rows is not None:
            usable, present = usable[:, self.drawn_rows], self._drawn_positives
        negative = usable.sum(1, keepdim=True) - present.counts.view(shape)
        return torch.stack([negative, self.positives.counts.view(shape)], dim=-1)

    def sums(self, embeddings: Tensor) -> Tensor:
        """Sums over the negative and the positive side, (n_slices, n_labels, 2, dim).

        That of a negative side is the sum over all rows without that over the positive ones,
        which costs digits where nearly all rows are positive.

        Parameters
        ----------
        embeddings : Tensor of shape (n_slices, n_rows, dim)
        """
        shape = (len(self.usable), self.n_labels, embeddings.shape[-1])
        flat = embeddings.flatten(0, 1)
        if self.drawn_rows is None:
            positive = self.positives.sums(flat).view(shape)
            total = torch.bmm(self.usable[:, None, :].to(embeddings.dtype), embeddings)
            whole = self.positives is self.all_positives
            present = positive if whole else self.all_positives.sums(flat).view(shape)
            return torch.stack([total - present, positive], dim=2)
        members = self._drawn_of_slices.followed_by(self._drawn_positives)
        sums = members.followed_by(self.positives).sums(flat)
        total = sums[: shape[0], None]
        present, positive = sums[shape[0] :].view(2, *shape).unbind()
        return torch.stack([total - present, positive], dim=2)

    def of_slice(self, members: ComponentRows, position: int) -> ComponentRows:
        """The part of one slice, with rows counted within it."""
        if len(self.usable) == 1:
            return members
        first = position * self.n_labels
        offsets = members.offsets[first : first + self.n_labels + 1]
        rows = members.rows[int(offsets[0]) : int(offsets[-1])]
        return ComponentRows(rows - position * self.usable.shape[1], offsets - offsets[0])

    def membership(self, position: int) -> Tensor:
        """Members of the two sides of each label in one slice, (2, n_labels, n_rows)."""
        negative = self._lacks_label(position)
        if self.drawn_rows is not None:
            negative &= self._is_drawn
        own = self.of_slice(self.positives, position)
        positive = torch.zeros_like(negative)
        positive[own.component_of_row, own.rows] = True
        return torch.stack([negative, positive])

    def negatives_among_drawn(self, position: int) -> Tensor:
        """Which of the drawn rows, or of all, lack each label in a slice, (n_labels, n_drawn)."""
        lacks_label, rows = self._lacks_label(position), self.drawn_rows
        return lacks_label if rows is None else lacks_label.index_select(1, rows)

    def drawn(
        self, positive_rate: float, negative_rate: float, generator: torch.Generator
    ) -> Components:
        """Components with each row drawn at its side's rate, at least one of those with rows.

        Positive rows are drawn for each label on its own. The rows that are negative where they
        lack a label are drawn once for all labels and slices; one more is drawn, for all of
        them, where a label would have none.

        Parameters
        ----------
        positive_rate, negative_rate : float
        generator : torch.Generator
        """
        sampled, positives = self, self.positives
        if positive_rate < 1:
            drawn = torch.rand(
                len(positives.rows), generator=generator, device=self._device, dtype=torch.float32
            )
            kept = positives.keep(drawn < positive_rate)
            kept = _without_gaps(kept, positives, self._device, generator)
            sampled = replace(sampled, positives=kept)
        return sampled if negative_rate == 1 else sampled._of_some_rows(negative_rate, generator)

    @property
    def _device(self) -> torch.device:
        return self.usable.device

    def _of_some_rows(self, rate: float, generator: torch.Generator) -> Components:
        """Negative sides of rows drawn at a rate, and of one more where a side has none."""
        n_rows = self.usable.shape[1]
        chosen = (
            torch.rand(n_rows, generator=generator, device=self._device, dtype=torch.float32) < rate
        )
        drawn = replace(self, drawn_rows=chosen.nonzero().squeeze(1))
        is_missed = (drawn.counts()[..., 0] == 0) & (self.counts()[..., 0] > 0)
        missed = is_missed.nonzero().tolist()
        for position, label in missed:
            members = self._lacks_label(position)[label]
            if not bool((members & chosen).any()):
                rows = members.nonzero().squeeze(1)
                chosen[rows[_below(len(rows), generator)]] = True
        return replace(self, drawn_rows=chosen.nonzero().squeeze(1)) if missed else drawn

    def _lacks_label(self, position: int) -> Tensor:
        """Usable rows of a slice without each label, (n_labels, n_rows)."""
        shared = 0 if len(self.is_positive) == 1 else position
        return ~self.is_positive[shared] & self.usable[position]

    @cached_property
    def _is_drawn(self) -> Tensor:
        assert self.drawn_rows is not None
        is_drawn = torch.zeros(self.usable.shape[1], dtype=torch.bool, device=self._device)
        is_drawn[self.drawn_rows] = True
        return is_drawn

    @cached_property
    def _drawn_positives(self) -> ComponentRows:
        """Positive ones among the drawn rows."""
        everywhere = self._is_drawn.repeat(len(self.usable))
        return self.all_positives.keep(everywhere[self.all_positives.rows])

    @property
    def _drawn_of_slices(self) -> ComponentRows:
        """All drawn rows of each slice."""
        assert self.drawn_rows is not None
        usable = self.usable[:, self.drawn_rows]
        position, which = usable.nonzero().unbind(1)
        offsets = functional.pad(usable.sum(1).cumsum(0), (1, 0))
        return ComponentRows(position * self.usable.shape[1] + self.drawn_rows[which], offsets)


def _below(size: int, generator: torch.Generator) -> int:
    """A number from 0 to size - 1."""
    return int(torch.randint(size, (1,), generator=generator, device=generator.device))


def _without_gaps(
    drawn: ComponentRows, all_rows: ComponentRows, device: torch.device, generator: torch.Generator
) -> ComponentRows:
    """Give every component that has rows but drew none one of them, chosen uniformly."""
    empty = ((drawn.counts == 0) & (all_rows.counts > 0)).nonzero().squeeze(1)
    if len(empty) == 0:
        return drawn
    uniform = torch.rand(len(empty), generator=generator, device=device, dtype=torch.float64)
    chosen = all_rows.offsets[empty] + (uniform * all_rows.counts[empty]).long()
    counts = drawn.counts.clone()
    counts[empty] = 1
    rows = torch.empty(len(drawn.rows) + len(empty), dtype=torch.int64, device=device)
    offsets = functional.pad(counts.cumsum(0), (1, 0))
    is_added = torch.zeros_like(rows, dtype=torch.bool)
    is_added[offsets[empty]] = True
    rows[is_added] = all_rows.rows[chosen]
    rows[~is_added] = drawn.rows
    return ComponentRows(rows, offsets)


class _ComponentSums(torch.autograd.Function):
    """Sums over the rows of components; its gradient sums over the components of rows."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, members: ComponentRows) -> Tensor:
        ctx.members = members
        ctx.n_rows = len(values)
        return _bag_sums(members, values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        transposed = ctx.members.transposed(ctx.n_rows)
        return _bag_sums(transposed, gradient.contiguous()), None


def _bag_sums(members: ComponentRows, values: Tensor) -> Tensor:
    return functional.embedding_bag(
        members.rows, values, members.offsets, mode="sum", include_last_offset=True
    )
