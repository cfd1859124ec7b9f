"""Named configurations of PNML."""

from __future__ import annotations

from collections.abc import Mapping
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
    "batch_size": 128,
    "feature_scaling": "auto",
    "max_epochs": 40,
    "n_members": 1,
    "n_landmarks": 0,
    "n_trees": 0,
    "thresholds": "fixed",
}
