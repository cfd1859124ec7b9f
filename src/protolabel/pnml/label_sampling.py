"""Labels of one step, where there are thousands of them.

The cross-entropy of a step is a sum over all labels, and nearly all of them are absent from the
whole batch. They are represented by a random part of them, weighted so that the expected loss
and gradient are those of all labels; labels that a row of the batch has are always there.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# With more labels than this a step computes a sample of them.
MAX_LABELS_OF_A_STEP = 2048
# Labels absent from the batch that stand for all such labels.
N_ABSENT_LABELS = 512


@dataclass(frozen=True)
class LabelSample:
    """Some of the labels: their positions and the weight of each in the loss."""

    labels: Tensor
    weights: Tensor


def sample_labels(present: Tensor, n_absent: int, generator: torch.Generator) -> LabelSample:
    """All labels that are present, and a uniform sample of the others.

    Parameters
    ----------
    present : Tensor of bool, shape (n_labels,)
        Labels that a row of the batch has.
    n_absent : int
        How many of the other labels to draw, without replacement.
    generator : torch.Generator

    Returns
    -------
    LabelSample
        Positions in rising order; a drawn label weighs as many as it stands for.

    Examples
    --------
    >>> import torch
    >>> present = torch.tensor([True, False, False, False, False])
    >>> found = sample_labels(present, 2, torch.Generator().manual_seed(0))
    >>> len(found.labels), found.weights.sum().item()
    (3, 5.0)
    """
    n_labels = len(present)
    n_others = n_labels - int(present.sum())
    n_drawn = min(n_absent, n_others)
    order = torch.rand(n_labels, generator=generator, device=present.device, dtype=torch.float32)
    order[present] = 2.0
    drawn = order.topk(n_drawn, largest=False).indices
    weights = torch.zeros(n_labels, device=present.device, dtype=torch.float32)
    weights[present] = 1.0
    weights[drawn] = n_others / max(n_drawn, 1)
    labels = (weights > 0).nonzero().squeeze(1)
    return LabelSample(labels, weights[labels])
