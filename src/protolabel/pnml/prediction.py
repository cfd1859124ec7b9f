"""From distances to the log-odds of each label (Eq. 8)."""

from __future__ import annotations

import torch
from torch import Tensor


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


def log_prior_odds(n_positive: Tensor, n_rows: Tensor) -> Tensor:
    """Smoothed log-odds of a label before anything is known of the row."""
    return torch.log((n_positive + 0.5) / (n_rows - n_positive + 0.5))
