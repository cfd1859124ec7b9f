"""Instance sampling: the rows that take part in a step (section "Training procedure")."""

from __future__ import annotations

import torch
from torch import Tensor


def sample_components(
    labels: Tensor, positive_rate: float, negative_rate: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw rows of every component at the given rates, at least one from each that has rows.

    Parameters
    ----------
    labels : Tensor of shape (..., n_rows, n_labels)
    positive_rate, negative_rate : float
    generator : torch.Generator

    Returns
    -------
    positives, negatives : Tensor of the shape and type of ``labels``
        1 where the row was drawn for that side of the label.
    """
    draws = torch.empty_like(labels).uniform_(generator=generator)
    positives = _drawn(labels, draws, positive_rate)
    negatives = _drawn(1 - labels, draws, negative_rate)
    return positives, negatives


def sample_rows(
    batch: Tensor, n_rows: int, support_size: int, generator: torch.Generator
) -> Tensor:
    """Sorted rows of a shared support: the query batch and others drawn without replacement."""
    n_others = min(max(support_size - len(batch), 0), n_rows - len(batch))
    order = torch.rand(n_rows, generator=generator, device=batch.device)
    order[batch] = 2.0
    others = order.topk(n_others, largest=False).indices
    return torch.cat([batch, others]).sort().values


def _drawn(members: Tensor, draws: Tensor, rate: float) -> Tensor:
    if rate >= 1:
        return members
    chosen = members * (draws < rate)
    empty = (chosen.sum(-2, keepdim=True) == 0) & (members.sum(-2, keepdim=True) > 0)
    if empty.any():
        # The member with the smallest draw is a uniformly random one.
        lowest = draws.masked_fill(members == 0, 2.0).argmin(-2, keepdim=True)
        rescue = torch.zeros_like(chosen).scatter_(-2, lowest, 1.0)
        chosen = torch.where(empty, rescue, chosen)
    return chosen
