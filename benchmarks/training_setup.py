"""Trainers on the first fold of a dataset, and the work that their steps need."""

from __future__ import annotations

from typing import Any, Literal

import torch

from protolabel import PNMLClassifier
from protolabel.datasets import load_dataset
from protolabel.experiments.published import load_runtime
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import SparseRows, feature_rows
from protolabel.pnml.trainer import Trainer, TrainingData
from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

_CPU = torch.device("cpu")
# Passes over every parameter: Adam reads the parameter, its gradient and two moments and writes
# all but the gradient, which the backward pass has written before.
_PARAMETER_PASSES = 8


def first_fold(name: str) -> tuple[Any, Any]:
    """Features and labels of the training part of the first of five folds."""
    dataset = load_dataset(name)
    splitter = MultilabelStratifiedKFold(5, shuffle=True, random_state=0)
    train, _ = next(iter(splitter.split(dataset.X, dataset.Y)))
    return dataset.X[train], dataset.Y[train]


def rates_of(name: str) -> dict[str, float]:
    """Sampling rates of the paper's run-time table."""
    runtime = next(r for r in load_runtime() if r.dataset == name)
    return {"positive_rate": runtime.rate_positive, "negative_rate": runtime.rate_negative}


def paper_trainer(
    X: Any, Y: Any, prototypes: Literal["single", "multiple"], **params: Any
) -> Trainer:
    """Training of the paper configuration, before its first epoch."""
    model = PNMLClassifier.paper(prototypes=prototypes, **params)
    settings = model._settings(X, Y.shape[1])
    generator = torch.Generator().manual_seed(0)
    network = PrototypeNetwork(X.shape[1], Y.shape[1], settings, 1, generator)
    data = TrainingData(
        rows=feature_rows(FeatureScaler("auto").fit_transform(X), _CPU),
        labels=torch.from_numpy(Y.toarray()).float(),
        row_weights=torch.ones(1, X.shape[0]),
    )
    return Trainer(network, data, torch.Generator().manual_seed(1))


def needed_work(trainer: Trainer) -> tuple[float, float]:
    """Flops and bytes that one epoch of single prototypes needs.

    Flops: the three products of each metric with the batch (forward, two gradients), as many
    with the two prototypes, those of the batch with the prototypes, and the embedding and the
    means of all drawn rows, forward and backward. Bytes: the passes over parameters.
    """
    settings, network, rows = trainer.settings, trainer.network, trainer.data.rows
    assert network.metric is not None
    assert isinstance(trainer.data.labels, torch.Tensor)
    n_rows, dim, batch = rows.n_rows, settings.embedding_dim, settings.batch_size
    matrices = network.metric.numel()
    n_prototypes = 2 * network.n_labels
    stored = len(rows.values) if isinstance(rows, SparseRows) else n_rows * rows.n_features
    n_positive = float(trainer.data.labels.sum())
    n_negative = trainer.data.labels.numel() - n_positive
    drawn = settings.positive_rate * n_positive + settings.negative_rate * n_negative
    queries = 6 * matrices * n_rows + 6 * n_rows * n_prototypes * dim
    per_step = 6 * matrices * 2 + 4 * stored * dim + 2 * drawn * dim
    n_steps = -(-n_rows // batch)
    n_parameters = sum(p.numel() for p in network.parameters() if p.requires_grad)
    return queries + n_steps * per_step, n_steps * _PARAMETER_PASSES * 4.0 * n_parameters
