"""From distances to the log-odds of each label (Eq. 8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from protolabel.pnml.distance import root_offset

# Distances of a chunk of labels, in entries: half a megabyte, a part of a core's own cache.
_CHUNK_ENTRIES = 2**17
# Logarithm of a share that changes no sum, in double precision either.
_LEAST_SCORE = -50.0


def label_logits(distances: Tensor, log_weights: Tensor, log_prior_odds: Tensor) -> Tensor:
    """Log-odds of each label: prior odds plus the log-ratio of the two component densities.

    Eq. 8 divided through and kept in logarithms; the ratio of exponentials itself underflows
    for distances of a few dozen.

    Parameters
    ----------
    distances : Tensor of shape (n_members, n_labels, n_rows, 2, n_slots)
        To the prototypes of the negative (0) and the positive (1) component.
    log_weights : Tensor of shape (n_members, n_labels, 2, n_slots)
    log_prior_odds : Tensor of shape (n_members, n_labels)
        Zero in the paper, where both classes have prior probability one half.

    Returns
    -------
    Tensor of shape (n_members, n_rows, n_labels)

    Examples
    --------
    >>> import torch
    >>> d = torch.tensor([3.0, 1.0]).view(1, 1, 1, 2, 1)
    >>> label_logits(d, torch.zeros(1, 1, 2, 1), torch.zeros(1, 1)).item()
    2.0
    """
    log_joint = log_weights[:, :, None] - distances
    log_density = (
        log_joint.squeeze(-1) if log_joint.shape[-1] == 1 else torch.logsumexp(log_joint, dim=-1)
    )
    ratio = log_density[..., 1] - log_density[..., 0]  # (n_members, n_labels, n_rows)
    return (ratio + log_prior_odds[..., None]).mT


def log_densities(
    squares: Tensor, log_weights: Tensor, n_negative: int, *, squared: bool = False
) -> Tensor:
    """Log of the mixture density of each component, up to the constant that both sides share.

    What :func:`label_logits` takes the difference of, from squared distances and in few passes:
    for many prototypes this part costs as much as the distances themselves.

    Parameters
    ----------
    squares : Tensor of shape (n_members, n_labels, n_slots, n_rows)
        Squared distances, see :func:`protolabel.pnml.distance.label_squares`.
    log_weights : Tensor of shape (n_members, n_labels, n_slots)
    n_negative : int
        How many of the slots, the first ones, are of the negative component.
    squared : bool, default=False
        Leave the square root of Eq. 10 out.

    Returns
    -------
    Tensor of shape (n_members, n_labels, 2, n_rows)

    Examples
    --------
    >>> import torch
    >>> squares = torch.tensor([9.0, 4.0, 4.0]).view(1, 1, 3, 1)
    >>> [round(d, 4) for d in log_densities(squares, torch.zeros(1, 1, 3), 1).flatten().tolist()]
    [-3.0, -1.3069]
    """
    apply: Any = _LogDensities.apply
    density: Tensor = apply(squares, log_weights, n_negative, squared)
    return density


class _LogDensities(torch.autograd.Function):
    """Log-sum-exp over slots of log w - d; its slope in each squared distance is kept."""

    @staticmethod
    def forward(
        ctx: Any, squares: Tensor, log_weights: Tensor, n_negative: int, squared: bool
    ) -> Tensor:
        n_slots, n_rows = squares.shape[-2:]
        densities = squares.new_empty(*squares.shape[:-2], 2, n_rows)
        # Parts of a copy would be filled in vain.
        squares = squares.contiguous()
        slopes = torch.empty_like(squares)
        size = max(1, _CHUNK_ENTRIES // (n_slots * n_rows or 1))
        parts = (t.flatten(0, 1).split(size) for t in (squares, log_weights, densities, slopes))
        for square, log_weight, density, slope in zip(*parts, strict=True):
            distance = square.clamp_min(0)
            if not squared:
                distance = distance.add_(root_offset(square.dtype)).sqrt_()
            slots = (_slots_of_sides(t, n_negative) for t in (distance, log_weight, slope))
            sides = zip(*slots, _sides(density, n_negative, n_slots), strict=True)
            for own_distance, own_weight, own_slope, own_density in sides:
                fill = _fill_single if own_distance.shape[-2] == 1 else _fill_mixture
                fill(own_distance, own_weight, squared, own_density, own_slope)
            torch.ops.aten.threshold_backward.grad_input(slope, square, 0.0, grad_input=slope)
        ctx.save_for_backward(slopes)
        ctx.n_negative = n_negative
        return densities

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        (slopes,) = ctx.saved_tensors
        by_squares = torch.empty_like(slopes)
        slots = (_slots_of_sides(t.flatten(0, 1), ctx.n_negative) for t in (slopes, by_squares))
        sides = _sides(gradient.flatten(0, 1), ctx.n_negative, slopes.shape[2])
        for slope, out, by_density in zip(*slots, sides, strict=True):
            torch.mul(slope, by_density.unsqueeze(-2), out=out)
        return by_squares, None, None, None


def _slots_of_sides(values: Tensor, n_negative: int) -> Sequence[Tensor]:
    """Slots, the second axis, of each side; of both in one tensor where they are as many."""
    if 2 * n_negative == values.shape[1]:
        return (values.unflatten(1, (2, n_negative)),)
    return values[:, :n_negative], values[:, n_negative:]


def _sides(densities: Tensor, n_negative: int, n_slots: int) -> Sequence[Tensor]:
    """Densities (n_labels, 2, n_rows) as :func:`_slots_of_sides` gives their slots."""
    return (densities,) if 2 * n_negative == n_slots else densities.unbind(1)


def _fill_single(
    distance: Tensor, log_weight: Tensor, squared: bool, density: Tensor, slope: Tensor
) -> None:
    """Log density of one prototype, and its slope in the squared distance."""
    torch.sub(log_weight, distance.squeeze(-2), out=density)
    if squared:
        slope.fill_(-1.0)
    else:
        torch.reciprocal(distance, out=slope).mul_(-0.5)


def _fill_mixture(
    distance: Tensor, log_weight: Tensor, squared: bool, density: Tensor, slope: Tensor
) -> None:
    """Log density of several prototypes, and its slope in each squared distance."""
    joint = torch.sub(log_weight[..., None], distance, out=slope)
    highest = joint.amax(-2, keepdim=True)
    # Exponentials of unused or far slots would underflow, which takes a hundred times as long.
    total = joint.sub_(highest).clamp_min_(_LEAST_SCORE).exp_().sum(-2, keepdim=True)
    torch.add(total.log(), highest, out=density.unsqueeze(-2))
    # The slope of the density in the distance is minus the share of the prototype.
    slope.div_(total.neg_() if squared else total.mul_(-2).mul(distance))


def log_prior_odds(n_positive: Tensor, n_rows: Tensor) -> Tensor:
    """Smoothed log-odds of a label before anything is known of the row."""
    return torch.log((n_positive + 0.5) / (n_rows - n_positive + 0.5))
