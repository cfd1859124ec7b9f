"""Rows that become prototypes: step 3 of the paper's adaptive clustering, for many components.

A component reads its members in order and adds every one that lies beyond a threshold from
all prototypes so far. Components are read side by side, block after block of rows; one that
may not grow any more is not read any further.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

# Rows of the first block; each later one is twice as long, as fewer components still grow.
_FIRST_BLOCK = 128
# Entries of the components x prototypes x rows tensor of a later block.
_MAX_ENTRIES = 2**21


def growth_pass(
    points: Tensor,
    members: Tensor,
    prototypes: Tensor,
    exists: Tensor,
    threshold: Tensor,
    room: Tensor,
) -> Tensor:
    """Find the rows that become prototypes when each component reads its members in order.

    The same rows as a loop over members that adds one when it lies beyond the threshold
    from all prototypes so far. In each block of rows there are as many batched rounds as a
    component gains prototypes in it: in a round the first violator of every component is
    added, and violators at or before it are settled.

    Parameters
    ----------
    points : Tensor of shape (n_rows, dim) or (n_components, n_rows, dim)
        Rows that all components share, or rows of each.
    members : Tensor of bool, shape (n_components, n_rows)
    prototypes : Tensor of shape (n_components, n_slots, dim)
        What each component starts with.
    exists : Tensor of bool, shape (n_components, n_slots)
    threshold : Tensor of shape (n_components,)
        Squared distance beyond which a row is added.
    room : Tensor of int, shape (n_components,)
        How many prototypes each component may still gain.

    Returns
    -------
    Tensor of int, shape (n_components, n_created)
        Row numbers in order of creation, -1 after the last one of a component.
    """
    n_components, n_rows = members.shape
    created = torch.empty((n_components, 0), dtype=torch.int64, device=points.device)
    room = room.clone()
    start, length = 0, _FIRST_BLOCK
    while start < n_rows:
        growing = ((room > 0) & members[:, start:].any(1)).nonzero().squeeze(1)
        if len(growing) == 0:
            break
        known, known_exists = prototypes_of(
            points, prototypes[growing], exists[growing], created[growing], growing
        )
        length = min(length, max(_FIRST_BLOCK, _MAX_ENTRIES // known_exists.numel()))
        block = slice(start, start + length)
        found = _block_rounds(
            points[block] if points.ndim == 2 else points[growing, block],
            members[growing, block],
            _nearest(known, known_exists, points, growing, block),
            threshold[growing],
            room[growing],
        )
        room[growing] -= (found >= 0).sum(1)
        column = torch.full((n_components, found.shape[1]), -1, device=points.device)
        column[growing] = torch.where(found >= 0, found + start, -1)
        created = _packed(torch.cat([created, column], dim=1))
        start, length = start + length, 2 * length
    return created


def prototypes_of(
    points: Tensor, prototypes: Tensor, exists: Tensor, created: Tensor, which: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Prototypes of components and the rows they added, and which of the slots are in use.

    ``which`` tells the components among those of ``points``, where these have own rows.
    """
    rows = created.clamp_min(0)
    if points.ndim == 2:
        added = points[rows]
    else:
        own = torch.arange(len(points), device=points.device) if which is None else which
        added = points[own[:, None], rows]
    return torch.cat([prototypes, added], dim=1), torch.cat([exists, created >= 0], dim=1)


def squared_distances(points: Tensor, others: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Squared Euclidean distances, (..., n_points, n_others), rounding noise set to zero.

    ``lengths`` (..., n_others) are the squared norms of the others, where they are known.
    """
    if lengths is None:
        lengths = others.square().sum(-1)
    norms = points.square().sum(-1)[..., :, None] + lengths[..., None, :]
    squares = norms - 2 * torch.matmul(points, others.mT)
    noise = 8 * torch.finfo(squares.dtype).eps
    return squares.masked_fill_(squares < noise * norms, 0.0)


def _nearest(
    prototypes: Tensor, exists: Tensor, points: Tensor, growing: Tensor, block: slice
) -> Tensor:
    """Squared distance of the rows of a block to the nearest prototype of each component."""
    rows = points[block] if points.ndim == 2 else points[growing, block]
    squares = squared_distances(prototypes, rows)
    return squares.masked_fill_(~exists[..., None], math.inf).amin(1)


def _block_rounds(
    rows: Tensor, members: Tensor, nearest: Tensor, threshold: Tensor, room: Tensor
) -> Tensor:
    """Rows of one block that each component adds, numbered within the block, -1 for none."""
    violators = members & (nearest > threshold[:, None])
    lengths = rows.square().sum(-1)
    position = torch.arange(members.shape[1], device=members.device)
    room = room.clone()
    columns = []
    while True:
        first = violators.view(torch.uint8).argmax(1)
        adds = violators.gather(1, first[:, None]).squeeze(1) & (room > 0)
        if not bool(adds.any()):
            break
        if rows.ndim == 2:
            squares = squared_distances(rows[first], rows, lengths)
        else:
            chosen = rows[torch.arange(len(rows), device=rows.device), first]
            squares = squared_distances(chosen[:, None], rows, lengths).squeeze(1)
        # A component that adds nothing has no violators left, whatever it is compared with.
        nearest = torch.minimum(nearest, squares)
        violators &= (nearest > threshold[:, None]) & (position > first[:, None])
        violators &= adds[:, None]
        room -= adds.long()
        columns.append(torch.where(adds, first, -1))
    if not columns:
        return torch.empty((len(members), 0), dtype=torch.int64, device=members.device)
    return torch.stack(columns, dim=1)


def _packed(created: Tensor) -> Tensor:
    """Numbers of each component without gaps between them, -1 behind."""
    order = torch.argsort((created < 0).to(torch.uint8), dim=1, stable=True)
    n_created = int((created >= 0).sum(1).max()) if created.numel() else 0
    return created.gather(1, order)[:, :n_created]
