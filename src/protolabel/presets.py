"""Named configurations of PNML: that of the paper, and what each level of effort spends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PAPER: Mapping[str, Any] = {
    "weight_init": "glorot",
    "metric_rank": None,
    "class_prior": "uniform",
    "prototype_update": "epoch",
    "metric_penalty": 5e-3,
    "correlation_penalty": 1e-4,
    "loss_reduction": "cells",
    "input_dropout": 0.0,
    "embedding_dropout": 0.0,
    "learning_rate": 1e-3,
    "schedule": "constant",
    "max_epochs": 40,
    "n_members": 1,
    "n_landmarks": 0,
    "n_trees": 0,
    "thresholds": "fixed",
}


@dataclass(frozen=True)
class Effort:
    """What "auto" means at one level of ``effort``."""

    n_members: int
    n_landmarks: int
    n_trees: int
    multiple_for_sparse: bool
    multiple_for_dense: bool


_EFFORTS = {
    "fast": Effort(3, 0, 0, multiple_for_sparse=False, multiple_for_dense=False),
    "balanced": Effort(5, 2000, 300, multiple_for_sparse=False, multiple_for_dense=True),
    "best": Effort(10, 5000, 1000, multiple_for_sparse=True, multiple_for_dense=True),
}


def find_effort(name: str) -> Effort:
    """Look a level of effort up.

    Examples
    --------
    >>> find_effort("fast").n_members
    3
    """
    if name not in _EFFORTS:
        raise ValueError(f"effort={name!r} is unknown; use one of {', '.join(_EFFORTS)}.")
    return _EFFORTS[name]
