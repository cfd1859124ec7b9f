"""Soft assignments of rows to the clusters of their component (step 4 of the paper's clustering).

A component reads the rows that all components share, or a padded list of its own; see
:class:`ComponentBatch`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from protolabel.pnml.growth import squared_distances

# Clusters with less total responsibility are removed.
MIN_MASS = 1e-3
# Responsibilities below this are denormal-number traps and carry no information.
_NEGLIGIBLE = 1e-20
# Below its logarithm, whatever the number of clusters.
_LEAST_SCORE = -50.0
# Entries of the components x prototypes x rows tensor that is worked on at once: one megabyte.
_CHUNK_ENTRIES = 2**18
# Entries of the distances to the prototypes that components do not share.
_MAX_ENTRIES = 2**20
# Components that hold a larger share of the rows read all of them.
_LARGE_SHARE = 4


@dataclass(frozen=True)
class ComponentBatch:
    """Components that are worked on together.

    ``rows`` (n_components, n_rows), padded, or None where they read all rows; ``members``
    (n_components, n_rows) tells which of those belong to each.
    """

    components: Tensor
    rows: Tensor | None
    members: Tensor

    def points(self, embeddings: Tensor) -> Tensor:
        """Embeddings of the rows, (n_rows, dim) or (n_components, n_rows, dim)."""
        return embeddings if self.rows is None else embeddings[self.rows]

    def __getitem__(self, some: slice) -> ComponentBatch:
        rows = None if self.rows is None else self.rows[some]
        return ComponentBatch(self.components[some], rows, self.members[some])


@dataclass(frozen=True)
class GrownBatch:
    """Prototypes of a batch after a growth pass: old ones, and then the rows that were added.

    ``points`` as in :meth:`ComponentBatch.points`; ``prototypes`` (n_components, n_slots, dim)
    and ``exists`` (n_components, n_slots); ``created`` (n_components, n_added), -1 for none.
    """

    batch: ComponentBatch
    points: Tensor
    prototypes: Tensor
    exists: Tensor
    created: Tensor


@dataclass(frozen=True)
class Assignment:
    """Clusters that keep a mass, that mass, and ``shares`` (n_components, n_slots, n_rows)."""

    batch: ComponentBatch
    exists: Tensor
    mass: Tensor
    shares: Tensor

    def means(self, embeddings: Tensor) -> Tensor:
        """Means of the clusters, (n_components, n_slots, dim)."""
        sums = torch.matmul(self.shares, self.batch.points(embeddings))
        return sums / self.mass.clamp_min(MIN_MASS)[..., None]


def component_batches(members: Tensor, max_entries: int) -> Iterator[ComponentBatch]:
    """Components with rows: large ones on all rows, small ones of like size on their own.

    Parameters
    ----------
    members : Tensor of bool, shape (n_components, n_rows)
    max_entries : int
        Padded rows of a batch of small components, at most.
    """
    n_rows = members.shape[1]
    sizes = members.sum(1)
    is_large = sizes > n_rows // _LARGE_SHARE
    large = is_large.nonzero().squeeze(1)
    if len(large):
        yield ComponentBatch(large, None, members[large])
    small = ((sizes > 0) & ~is_large).nonzero().squeeze(1)
    small = small[torch.argsort(sizes[small], descending=True, stable=True)]
    rows_of_all = members[small].nonzero()[:, 1]
    counts = sizes[small]
    ends = counts.cumsum(0)
    widths = counts.tolist()
    start = 0
    while start < len(small):
        width = widths[start]
        most = max(1, max_entries // width)
        stop = start
        while stop < len(small) and stop - start < most and 2 * widths[stop] + 8 >= width:
            stop += 1
        part = slice(start, stop)
        within = torch.arange(width, device=members.device)
        listed = within < counts[part, None]
        entries = ((ends - counts)[part, None] + within).clamp_max_(len(rows_of_all) - 1)
        yield ComponentBatch(small[part], rows_of_all[entries], listed)
        start = stop


def assignments(grown: GrownBatch, temperature: float) -> Iterator[Assignment]:
    """Soft assignments of the components of a batch, some of them after the others."""
    n_components, n_slots = grown.exists.shape
    size = max(1, _CHUNK_ENTRIES // max(1, n_slots * grown.batch.members.shape[1]))
    squares_of_parts = (
        _squares_of_shared_rows(grown, size)
        if grown.points.ndim == 2
        else (
            squared_distances(prototypes, points)
            for points, prototypes in zip(
                grown.points.split(size), grown.prototypes.split(size), strict=True
            )
        )
    )
    for start, squares in zip(range(0, n_components, size), squares_of_parts, strict=True):
        some = slice(start, start + size)
        batch, exists = grown.batch[some], grown.exists[some]
        shares = responsibilities_of(squares, exists, temperature)
        shares *= batch.members[:, None]
        mass = shares.sum(2)
        kept = without_empty_clusters(exists, mass)
        if not torch.equal(kept, exists):
            shares *= kept[..., None]
            mass = mass * kept
        yield Assignment(batch, kept, mass, shares)


def _squares_of_shared_rows(grown: GrownBatch, size: int) -> Iterator[Tensor]:
    """Squared distances to the prototypes of some components after the others.

    Components that read the same rows mostly add the same ones: the distances to those are
    computed once.
    """
    points, created = grown.points, grown.created
    n_rows, n_slots = len(points), grown.exists.shape[1]
    n_old = n_slots - created.shape[1]
    lengths = points.square().sum(1)
    rows, which = created.clamp_min(0).unique(return_inverse=True)
    to_created = squared_distances(points[rows], points, lengths)  # (n_different, n_rows)
    group = size * max(1, _MAX_ENTRIES // max(1, size * n_old * n_rows))
    for old, numbers in zip(
        grown.prototypes[:, :n_old].split(group), which.split(group), strict=True
    ):
        to_old = squared_distances(old.flatten(0, 1), points, lengths).view(len(old), n_old, -1)
        for some_old, some_numbers in zip(to_old.split(size), numbers.split(size), strict=True):
            squares = points.new_empty(len(some_old), n_slots, n_rows)
            squares[:, :n_old] = some_old
            for own, chosen in zip(squares, some_numbers, strict=True):
                torch.index_select(to_created, 0, chosen, out=own[n_old:])
            yield squares


def responsibilities_of(squares: Tensor, exists: Tensor, temperature: float) -> Tensor:
    """Soft assignment of rows over the existing clusters, (..., n_slots, n_rows).

    Parameters
    ----------
    squares : Tensor of shape (..., n_slots, n_rows)
        Squared distances; their memory is used.
    exists : Tensor of bool, shape (..., n_slots)
    temperature : float
    """
    scores = squares.div_(-temperature)
    if not bool(exists.all()):
        scores.masked_fill_(~exists[..., None], -1e30)
    # Smaller exponentials are left out anyway, and denormal ones take a hundred times as long.
    scores.sub_(scores.amax(-2, keepdim=True)).clamp_min_(_LEAST_SCORE)
    shares = scores.exp_()
    shares.div_(shares.sum(-2, keepdim=True))
    return functional.threshold(shares, _NEGLIGIBLE, 0.0, inplace=True)


def without_empty_clusters(exists: Tensor, mass: Tensor) -> Tensor:
    """Existing clusters that keep a minimal mass; the heaviest one of a component always does."""
    heaviest = torch.zeros_like(exists).scatter_(
        -1, mass.masked_fill(~exists, -1.0).argmax(-1, keepdim=True), True
    )
    return exists & ((mass > MIN_MASS) | heaviest)


class JoinedShares:
    """Soft assignments of all rows, (n_rows, n_labels, n_slots), written part by part.

    A row is a member of one side only, so the two sides of a label fit into one tensor. The
    parts that read all rows have to come before those with rows of their own.
    """

    def __init__(self, like: Tensor, n_labels: int, n_slots: int) -> None:
        self._shares = like.new_empty(len(like), n_labels, n_slots)
        self._is_open = [True] * n_labels

    def write(self, found: Assignment) -> None:
        """Take the shares of some components up; components 2k and 2k + 1 are the sides of k."""
        labels = found.batch.components // 2
        n_slots = found.shares.shape[1]
        if found.batch.rows is None:
            for label, shares in zip(labels.tolist(), found.shares, strict=True):
                target = self._shares[:, label, :n_slots]
                if self._is_open[label]:
                    target.copy_(shares.mT)
                    self._shares[:, label, n_slots:] = 0.0
                else:
                    target += shares.mT
                self._is_open[label] = False
            return
        self._clear_open(labels)
        position, column = found.batch.members.nonzero().unbind(1)
        cells = (found.batch.rows[position, column], labels[position])
        self._shares[..., :n_slots][cells] = found.shares[position, :, column]

    def finished(self) -> Tensor:
        """All shares, zero where a row belongs to no component."""
        self._clear_open(range(len(self._is_open)))
        return self._shares

    def _clear_open(self, labels: Tensor | range) -> None:
        for label in labels.tolist() if isinstance(labels, Tensor) else labels:
            if self._is_open[label]:
                self._shares[:, label] = 0.0
                self._is_open[label] = False
