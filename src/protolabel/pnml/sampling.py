"""A support that all components of a step share."""

from __future__ import annotations

import torch
from torch import Tensor


def sample_rows(
    batch: Tensor, n_rows: int, support_size: int, generator: torch.Generator
) -> Tensor:
    """Sorted rows of a shared support: the query batch and others drawn without replacement."""
    n_others = min(max(support_size - len(batch), 0), n_rows - len(batch))
    order = torch.rand(n_rows, generator=generator, device=batch.device, dtype=torch.float32)
    order[batch] = 2.0
    others = order.topk(n_others, largest=False).indices
    return torch.cat([batch, others]).sort().values
