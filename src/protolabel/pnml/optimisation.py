"""Adam with the metric penalty as weight decay, and the course of its learning rate."""

from __future__ import annotations

import math

import torch

from protolabel.pnml.network import PrototypeNetwork


def adam(network: PrototypeNetwork) -> torch.optim.Adam:
    """Adam over all trained parameters.

    The gradient of the metric penalty (Eq. 11), 2 lambda_1 U, is exactly Adam's L2 weight
    decay, which costs no pass of its own over the metrics.
    """
    metric = network.metric
    others = [p for p in network.parameters() if p.requires_grad and p is not metric]
    groups = [{"params": others, "weight_decay": 0.0}]
    if metric is not None:
        decay = 2 * network.settings.metric_weight(network.n_labels)
        groups.append({"params": [metric], "weight_decay": decay})
    return torch.optim.Adam(groups, lr=network.settings.learning_rate, fused=True)


def one_cycle(step: int, n_steps: int, peak: float) -> float:
    """Learning rate that rises from peak / 25 over 30 % of the steps and falls by a cosine to 0.

    Examples
    --------
    >>> one_cycle(0, 100, 1.0), round(one_cycle(30, 100, 1.0), 6)
    (0.04, 1.0)
    """
    warm_up = max(1.0, 0.3 * n_steps)
    start = peak / 25
    if step < warm_up:
        return start + (peak - start) * (1 - math.cos(math.pi * step / warm_up)) / 2
    progress = (step - warm_up) / max(1.0, n_steps - warm_up)
    return peak * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
