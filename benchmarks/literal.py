"""Batched training against the printed procedure: every label in a loop at every step.

The procedure is ``tests/reference/literal_pnml.py``, which takes the same steps in double
precision (``tests/pnml/test_literal_training.py``); here both use single precision. It embeds
the instances of every label anew, on dense rows, and grows clusters row by row; ours clusters
once an epoch. Both use all instances and go through the same batches of one epoch.

    python benchmarks/literal.py
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Literal

import torch
from torch import Tensor

from measure import Ratio, ratio_of, run_suite, seconds_of
from protolabel.pnml.trainer import Trainer
from protolabel.preprocessing.features import FeatureScaler
from training_setup import first_fold, paper_trainer

_MODES: tuple[tuple[Literal["single", "multiple"], int, int], ...] = (
    ("single", 20, 3),
    ("multiple", 100, 1),
)


def measure(quick: bool) -> Iterator[Ratio]:
    for name in ("genbase",) if quick else ("genbase", "enron"):
        X, Y = first_fold(name)
        for prototypes, target, n_steps in _MODES:
            ours = paper_trainer(X, Y, prototypes)
            theirs = literal_training(X, Y, ours)
            ours.run_epoch(0)
            fast, slow = [], []
            for turn in range(3):
                fast.append(seconds_of(partial(ours.run_epoch, turn)))
                batches = torch.randperm(X.shape[0]).split(ours.settings.batch_size)[:n_steps]
                taken = seconds_of(partial(literal_steps, theirs, batches))
                # A few steps tell the time of all: every step does the same work.
                slow.append(taken * ours.epoch_steps / len(batches))
            yield ratio_of(
                f"{name}, {prototypes}: literal / ours",
                slow,
                fast,
                at_least=target,
                figures={"literal epoch s": median(slow), "our epoch s": median(fast)},
            )


def literal_steps(training: Any, batches: tuple[Tensor, ...]) -> None:
    for batch in batches:
        training.step(batch)


def literal_training(X: Any, Y: Any, ours: Trainer) -> Any:
    """The printed procedure from the start of ours."""
    scaled = FeatureScaler("auto").fit_transform(X)
    dense = scaled.toarray() if hasattr(scaled, "toarray") else scaled
    network, settings = ours.network, ours.settings
    assert network.metric is not None
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    reference = importlib.import_module("reference.literal_pnml")
    return reference.LiteralTraining(
        torch.from_numpy(dense).float(),
        torch.from_numpy(Y.toarray()).float(),
        network.embedding.weight[:, 0],
        network.embedding.bias[0, 0],
        network.metric[0],
        multiple=settings.prototypes == "multiple",
        concentration=settings.concentration,
        learning_rate=settings.learning_rate,
        metric_weight=settings.metric_weight(network.n_labels),
        correlation_weight=settings.correlation_penalty,
    )


if __name__ == "__main__":
    run_suite(__doc__, measure)
