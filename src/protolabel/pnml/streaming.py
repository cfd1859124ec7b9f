"""Training on a stream: chunks of rows that are seen once and not kept.

Prototypes and moments of the embeddings are running means. The embedding moves while it
learns, so that the sums of older rows describe it less and less: they fade, and the mean is
about the last few thousand rows.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from torch import Tensor

from protolabel.exceptions import TrainingError
from protolabel.pnml.callbacks import EpochRecord
from protolabel.pnml.loss import mean_cross_entropy, metric_penalty
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.new_labels import embedding_moments
from protolabel.pnml.optimisation import adam
from protolabel.pnml.prediction import log_prior_odds
from protolabel.pnml.prototypes import LOG_ZERO, PrototypeSet, single_prototypes
from protolabel.pnml.rows import FeatureRows
from protolabel.threads import threads_worth

# Rows after which the weight of what came before has halved, roughly.
MEMORY_ROWS = 1000


@dataclass(frozen=True)
class RunningMeans:
    """Means of the components and of all rows, with the faded number of rows behind them.

    ``positions`` (n_slices, labels_per_slice, 2, dim) and ``counts`` (n_slices,
    labels_per_slice, 2) of the two sides of each label; ``mean`` (n_slices, dim),
    ``covariance`` (n_slices, dim, dim) and ``n_rows`` of all embeddings.
    """

    positions: Tensor
    counts: Tensor
    mean: Tensor
    covariance: Tensor
    n_rows: float

    @classmethod
    def of(cls, embeddings: Tensor, labels: Tensor) -> RunningMeans:
        """Means of the rows of one chunk.

        Parameters
        ----------
        embeddings : Tensor of shape (n_slices, n_rows, dim)
        labels : Tensor of shape (1 or n_slices, n_rows, labels_per_slice)
        """
        weights = embeddings.new_ones(embeddings.shape[:2])
        found = single_prototypes(embeddings, labels, weights)
        positive = labels.sum(1).expand(len(embeddings), -1)
        counts = torch.stack([embeddings.shape[1] - positive, positive], dim=-1)
        mean, covariance = embedding_moments(embeddings, weights)
        return cls(found.positions.squeeze(-2), counts, mean, covariance, embeddings.shape[1])

    def faded(self, n_new: int) -> RunningMeans:
        """The same means with the weight that they have beside ``n_new`` later rows."""
        keep = MEMORY_ROWS / (MEMORY_ROWS + n_new)
        return RunningMeans(
            self.positions, self.counts * keep, self.mean, self.covariance, self.n_rows * keep
        )

    def joined(self, other: RunningMeans) -> RunningMeans:
        """Means over the rows of both.

        Examples
        --------
        >>> import torch
        >>> def chunk(*values):
        ...     rows = torch.tensor(values)[None, :, None]
        ...     return RunningMeans.of(rows, torch.ones_like(rows))
        >>> chunk(0.0, 2.0).joined(chunk(4.0)).positions[0, 0, 1].item()
        2.0
        """
        counts = self.counts + other.counts
        share = (other.counts / torch.where(counts > 0, counts, 1.0))[..., None]
        n_rows = self.n_rows + other.n_rows
        part = other.n_rows / n_rows
        step = other.mean - self.mean
        between = part * (1 - part) * step[:, :, None] * step[:, None, :]
        return RunningMeans(
            self.positions + share * (other.positions - self.positions),
            counts,
            self.mean + part * step,
            self.covariance + part * (other.covariance - self.covariance) + between,
            n_rows,
        )

    def prototypes(self) -> PrototypeSet:
        """One prototype for each component that has had a row."""
        log_weights = torch.zeros_like(self.counts).masked_fill(self.counts == 0, LOG_ZERO)
        return PrototypeSet(self.positions[..., None, :], log_weights[..., None])


class StreamTrainer:
    """Fits a network to chunk after chunk, one pass over each.

    Parameters
    ----------
    network : PrototypeNetwork
        With single prototypes.
    generator : torch.Generator
        Source of the batch order and the dropout masks.
    """

    def __init__(self, network: PrototypeNetwork, generator: torch.Generator) -> None:
        self.network = network
        self.settings = network.settings
        self.generator = generator
        self.optimizer = adam(network)
        self.means: RunningMeans | None = None
        self.n_rows = 0
        self.n_chunks = 0
        self.n_positive = network.positions.new_zeros(network.n_labels)

    def learn(self, rows: FeatureRows, labels: Tensor) -> EpochRecord:
        """One pass over a chunk.

        Parameters
        ----------
        rows : FeatureRows
        labels : Tensor of shape (n_rows, n_labels)
        """
        started = time.perf_counter()
        self._count(labels)
        self._show(self._means_with(rows, labels))
        order = torch.randperm(rows.n_rows, generator=self.generator, device=self.generator.device)
        batches = order.split(self.settings.batch_size)
        with threads_worth(self.network.flops_of_step(self.settings.batch_size)):
            losses = [self._step(rows.take(batch), labels[batch]) for batch in batches]
        self.means = self._means_with(rows, labels)
        self._show(self.means)
        return self._record(float(torch.stack(losses).mean()), started)

    @torch.no_grad()
    def take_up(self) -> None:
        """Start from what a trained network knows, as if it came from ``MEMORY_ROWS`` rows."""
        network = self.network
        found = network.prototypes
        weights = found.log_weights.exp() * found.exists
        share = network.constant_logits.sigmoid()
        sides = torch.stack([1 - share, share], dim=-1).expand(network.n_members, -1, -1)
        has_side = found.exists.any(-1)
        counts = MEMORY_ROWS * sides.reshape(has_side.shape) * has_side
        dim = found.positions.shape[-1]
        empty = network.covariance is None
        self.means = RunningMeans(
            positions=(found.positions * weights[..., None]).sum(-2),
            counts=counts,
            mean=found.positions.new_zeros(network.n_slices, dim)
            if empty
            else network.mean_embedding,
            covariance=found.positions.new_zeros(network.n_slices, dim, dim)
            if empty
            else network.covariance,
            n_rows=0 if empty else MEMORY_ROWS,
        )
        known = has_side.view(network.n_members, network.n_labels, 2).any(0)
        self.n_rows = MEMORY_ROWS
        positive = torch.where(known[:, 0], MEMORY_ROWS * share, float(MEMORY_ROWS))
        self.n_positive = torch.where(known[:, 1], positive, 0.0)

    def _step(self, rows: FeatureRows, labels: Tensor) -> Tensor:
        """One Adam step on a batch of query rows."""
        network = self.network
        logits = network.logits(network.embedding(rows, self.generator), network.prototypes)
        weights = logits.new_ones(logits.shape[:2])
        entropy = mean_cross_entropy(
            logits,
            network.slice_labels(labels),
            weights,
            learnable=network.prototypes.complete & network.active,
            n_labels=network.n_labels,
            reduction=self.settings.loss_reduction,
        )
        entropy.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return entropy.detach() / network.n_members

    @torch.no_grad()
    def _means_with(self, rows: FeatureRows, labels: Tensor) -> RunningMeans:
        """Running means after a chunk, embedded with the present weights."""
        new = RunningMeans.of(self.network.embed(rows), self.network.slice_labels(labels))
        return new if self.means is None else self.means.faded(rows.n_rows).joined(new)

    @torch.no_grad()
    def _count(self, labels: Tensor) -> None:
        """Which labels have had both sides by now, and the priors of those that are new."""
        network = self.network
        self.n_rows += len(labels)
        self.n_positive += labels.sum(0)
        n_rows = torch.tensor(float(self.n_rows), device=labels.device, dtype=labels.dtype)
        learnable = (self.n_positive > 0) & (self.n_positive < n_rows)
        active = learnable.expand(network.n_members, -1).reshape(network.active.shape)
        network.constant_logits = log_prior_odds(self.n_positive, n_rows)
        if self.settings.class_prior != "uniform":
            odds = network.constant_logits.expand(network.n_members, -1).reshape(active.shape)
            fixed = self.settings.class_prior == "empirical"
            network.log_prior_odds.copy_(
                torch.where(network.active & (not fixed), network.log_prior_odds, odds)
            )
        network.active = active.clone()
        self.n_chunks += 1

    @torch.no_grad()
    def _show(self, means: RunningMeans) -> None:
        """Predict with these means."""
        self.network.prototypes = means.prototypes()
        if self.settings.shared_embedding:
            self.network.mean_embedding = means.mean
            self.network.covariance = means.covariance

    def _record(self, entropy: float, started: float) -> EpochRecord:
        metric = self.network.metric
        frobenius = 0.0 if metric is None else float(metric_penalty(metric.detach()))
        loss = entropy + self.settings.metric_weight(self.network.n_labels) * frobenius
        if not math.isfinite(loss):
            raise TrainingError(
                f"The loss became {loss} in chunk {self.n_chunks} of the stream. Lower "
                f"learning_rate (now {self.settings.learning_rate}) and start the stream again."
            )
        return EpochRecord(
            epoch=self.n_chunks - 1,
            loss=loss,
            cross_entropy=entropy,
            metric_penalty=frobenius,
            correlation_penalty=0.0,
            learning_rate=self.settings.learning_rate,
            mean_prototypes=1.0,
            seconds=time.perf_counter() - started,
        )
