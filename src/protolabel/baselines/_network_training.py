"""Training of the networks of binary relevance: Adam on mini-batches, labels stop one by one.

Labels are trained in groups whose parameters, gradients and moments together stay below
``GROUP_BYTES``. This bounds the memory, and a group of that size stays in a processor's cache
from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from protolabel.baselines._label_networks import (
    MiniBatch,
    Networks,
    hidden_and_logits,
    label_seeds,
    loss_and_gradients,
    start_networks,
)

GROUP_BYTES = 32 * 2**20
_COPIES = 4 * 4  # parameter, gradient and two moments in float32
_ROWS_OF_A_CHUNK = 1024
# Above this share of non-zeros the product of a densified mini-batch is the faster one.
_DENSE_SHARE = 0.15


@dataclass(frozen=True)
class TrainingSettings:
    """Resolved parameters of the training.

    Parameters
    ----------
    width : int
        Hidden units of each network.
    alpha : float
        Weight of the squared norm of the weights, divided by the batch size.
    learning_rate : float
    batch_size : int
    max_iter : int
        Largest number of epochs.
    tol : float
        Smallest fall of the training loss that counts as improvement.
    n_iter_no_change : int
        Epochs without improvement that are tolerated.
    """

    width: int
    alpha: float
    learning_rate: float
    batch_size: int
    max_iter: int
    tol: float
    n_iter_no_change: int


@dataclass(frozen=True)
class BinaryRelevanceModel:
    """Trained networks, one per label.

    Parameters
    ----------
    hidden_weight : ndarray of shape (n_labels, n_features, width)
    hidden_bias : ndarray of shape (n_labels, width)
    output_weight : ndarray of shape (n_labels, width)
    output_bias : ndarray of shape (n_labels, 1)
    n_iter : ndarray of shape (n_labels,)
        Epochs that each label was trained.
    """

    hidden_weight: np.ndarray
    hidden_bias: np.ndarray
    output_weight: np.ndarray
    output_bias: np.ndarray
    n_iter: np.ndarray


def group_size(n_features: int, width: int) -> int:
    """Labels that are trained side by side.

    Examples
    --------
    >>> group_size(n_features=1836, width=128)
    8
    """
    return max(1, GROUP_BYTES // (_COPIES * width * (n_features + 3)))


def train_networks(
    X: Any, Y: sp.csr_array, settings: TrainingSettings, seed: int
) -> BinaryRelevanceModel:
    """Train one network per column of Y.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    Y : CSR of shape (n_samples, n_labels)
    settings : TrainingSettings
    seed : int
        Seed of the order of the rows, shared by all labels, and of the start weights.
    """
    X = X.astype(np.float32)
    n_features, n_labels = X.shape[1], Y.shape[1]
    seeds = label_seeds(Y, seed)
    trained = BinaryRelevanceModel(
        hidden_weight=np.empty((n_labels, n_features, settings.width), dtype=np.float32),
        hidden_bias=np.empty((n_labels, settings.width), dtype=np.float32),
        output_weight=np.empty((n_labels, settings.width), dtype=np.float32),
        output_bias=np.empty((n_labels, 1), dtype=np.float32),
        n_iter=np.zeros(n_labels, dtype=np.int64),
    )
    step = group_size(n_features, settings.width)
    for start in range(0, n_labels, step):
        labels = slice(start, min(start + step, n_labels))
        targets = torch.from_numpy(Y[:, labels].toarray().T.astype(np.float32))
        networks = start_networks(n_features, settings.width, seeds[labels])
        _train_group(X, targets, networks, settings, seed, _part_of(trained, labels))
    return trained


def network_logits(X: Any, model: BinaryRelevanceModel) -> np.ndarray:
    """Logits of rows, (n_samples, n_labels); those of a row do not depend on the other rows.

    Sparse products add up row by row in single precision. The rounding of a dense product
    depends on the number of rows; double precision makes that difference vanish.
    """
    n_samples = X.shape[0]
    n_labels, n_features, width = model.hidden_weight.shape
    logits = np.empty((n_samples, n_labels))
    dtype = torch.float32 if sp.issparse(X) else torch.float64
    step = group_size(n_features, width)
    for start in range(0, n_labels, step):
        labels = slice(start, min(start + step, n_labels))
        networks = _networks_of(_part_of(model, labels), dtype)
        for top in range(0, n_samples, _ROWS_OF_A_CHUNK):
            rows = slice(top, top + _ROWS_OF_A_CHUNK)
            _, found = hidden_and_logits(MiniBatch(X[rows], dtype), networks)
            logits[rows, labels] = found.T.numpy()
    return logits


def _train_group(
    X: Any,
    targets: Tensor,
    networks: Networks,
    settings: TrainingSettings,
    seed: int,
    trained: BinaryRelevanceModel,
) -> None:
    """Train labels side by side and write each into ``trained`` when it stops."""
    n_samples, n_features = X.shape
    densify = sp.issparse(X) and X.nnz > _DENSE_SHARE * n_samples * n_features
    live = np.arange(len(targets))
    best = torch.full((len(targets),), torch.inf, dtype=torch.float32)
    waited = torch.zeros(len(targets), dtype=torch.int64)
    optimiser = _adam(networks, settings)
    order = np.random.default_rng(seed)
    for epoch in range(1, settings.max_iter + 1):
        permutation = order.permutation(n_samples)
        losses = torch.zeros(len(live), dtype=torch.float32)
        for top in range(0, n_samples, settings.batch_size):
            rows = permutation[top : top + settings.batch_size]
            batch = MiniBatch(X[rows].toarray() if densify else X[rows])
            batch_losses, gradients = loss_and_gradients(batch, targets[:, rows], networks)
            _step(optimiser, gradients, settings.alpha / len(rows))
            losses += batch_losses
        losses = losses / n_samples + _mean_penalty(networks, settings, n_samples)
        if not torch.isfinite(losses).all():
            raise ValueError(
                f"the training loss became infinite in epoch {epoch} with "
                f"learning_rate={settings.learning_rate}; use a smaller learning_rate or scale "
                "the features (feature_scaling='auto')."
            )
        waited = torch.where(losses > best - settings.tol, waited + 1, 0)
        best = torch.minimum(best, losses)
        stopped = waited > settings.n_iter_no_change
        if epoch == settings.max_iter:
            stopped = torch.ones_like(stopped)
        if stopped.any():
            _store(trained, live[stopped.numpy()], networks.of_labels(stopped), epoch)
            kept = ~stopped
            if not kept.any():
                return
            live, best, waited = live[kept.numpy()], best[kept], waited[kept]
            targets = targets[kept]
            networks, optimiser = _without_stopped(networks, optimiser, kept, settings)


def _adam(networks: Networks, settings: TrainingSettings) -> torch.optim.Adam:
    """Fused Adam with one entry per label and parameter; the first group is penalised."""
    # A parameter of several labels in one entry would be updated with vectors that cross from
    # one label to the next, with another rounding at its end.
    entries = [list(tensor.unbind()) for tensor in networks.tensors]
    groups = [{"params": entries[0] + entries[1]}, {"params": entries[2] + entries[3]}]
    return torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)


def _step(optimiser: torch.optim.Adam, gradients: list[Tensor], penalty: float) -> None:
    weights, biases = optimiser.param_groups
    weights["weight_decay"] = penalty
    for parameter, gradient in zip(weights["params"] + biases["params"], gradients, strict=True):
        parameter.grad = gradient
    optimiser.step()


def _mean_penalty(networks: Networks, settings: TrainingSettings, n_samples: int) -> Tensor:
    """Penalty of each label, averaged over an epoch as the loss is."""
    squares = networks.hidden_weight.square().sum(dim=(1, 2))
    squares = squares + networks.output_weight.square().sum(dim=1)
    n_batches = -(-n_samples // settings.batch_size)
    return 0.5 * settings.alpha * n_batches / n_samples * squares


def _without_stopped(
    networks: Networks, optimiser: torch.optim.Adam, kept: Tensor, settings: TrainingSettings
) -> tuple[Networks, torch.optim.Adam]:
    """Networks and optimiser of the labels that go on; their moments are handed over."""
    smaller = networks.of_labels(kept)
    successor = _adam(smaller, settings)
    mask = kept.tolist()
    for old, new in zip(optimiser.param_groups, successor.param_groups, strict=True):
        survivors = [entry for entry, keep in zip(old["params"], mask + mask, strict=True) if keep]
        for before, after in zip(survivors, new["params"], strict=True):
            successor.state[after] = optimiser.state[before]
    return smaller, successor


def _store(
    trained: BinaryRelevanceModel, labels: np.ndarray, networks: Networks, epoch: int
) -> None:
    trained.hidden_weight[labels] = networks.hidden_weight.numpy()
    trained.hidden_bias[labels] = networks.hidden_bias.numpy()
    trained.output_weight[labels] = networks.output_weight.numpy()
    trained.output_bias[labels] = networks.output_bias.numpy()
    trained.n_iter[labels] = epoch


def _part_of(model: BinaryRelevanceModel, labels: slice) -> BinaryRelevanceModel:
    """View of some labels; writing to it writes to the whole."""
    return BinaryRelevanceModel(
        model.hidden_weight[labels],
        model.hidden_bias[labels],
        model.output_weight[labels],
        model.output_bias[labels],
        model.n_iter[labels],
    )


def _networks_of(model: BinaryRelevanceModel, dtype: torch.dtype) -> Networks:
    return Networks(
        torch.from_numpy(model.hidden_weight).to(dtype),
        torch.from_numpy(model.hidden_bias).to(dtype),
        torch.from_numpy(model.output_weight).to(dtype),
        torch.from_numpy(model.output_bias).to(dtype),
    )
