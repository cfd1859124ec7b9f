"""Training: fit -> run_epoch -> train_step -> loss (section "Training procedure", Eq. 13)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from protolabel.exceptions import TrainingError
from protolabel.pnml.allocator import freed_memory_kept
from protolabel.pnml.callbacks import Callback, EpochRecord
from protolabel.pnml.checkpoint import Checkpoints, Progress
from protolabel.pnml.clustering import Clustering
from protolabel.pnml.components import Components
from protolabel.pnml.held_prototypes import HeldPrototypes
from protolabel.pnml.label_rows import LabelRows, SparseLabels
from protolabel.pnml.label_sampling import (
    MAX_LABELS_OF_A_STEP,
    N_ABSENT_LABELS,
    LabelSample,
    sample_labels,
)
from protolabel.pnml.loss import (
    correlation_penalty,
    cross_entropy,
    label_correlations,
    mean_cross_entropy,
    metric_penalty,
)
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.new_labels import embedding_moments
from protolabel.pnml.optimisation import adam, one_cycle
from protolabel.pnml.prototypes import PrototypeSet
from protolabel.pnml.row_means import means_of_rows
from protolabel.pnml.rows import FeatureRows, compact_rows
from protolabel.pnml.sampling import sample_rows
from protolabel.pnml.seen_rows import SeenRows
from protolabel.pnml.soft_targets import SoftTargets
from protolabel.pnml.support import Support, cluster_slices, support_prototypes
from protolabel.threads import threads_worth

# Entries of the embeddings of all rows that are kept at once for single prototypes.
_MAX_EMBEDDED_ENTRIES = 2**25


@dataclass(frozen=True)
class TrainingData:
    """Rows and labels to learn from, and optionally rows to watch for early stopping.

    ``labels`` (n_rows, n_labels) of 0 and 1, sparse only for single prototypes that are
    ``"stale"``; ``row_weights`` (n_members, n_rows), 0 for the rows that a member must not see;
    ``soft_targets`` draw the labels in the loss towards what other models say.
    """

    rows: FeatureRows
    labels: LabelRows
    row_weights: Tensor
    validation_rows: FeatureRows | None = None
    validation_labels: Tensor | None = None
    soft_targets: SoftTargets | None = None


class _StepLoss(NamedTuple):
    total: Tensor
    cross_entropy: Tensor
    correlation: Tensor


class Trainer:
    """Fits a network to data.

    Parameters
    ----------
    network : PrototypeNetwork
    data : TrainingData
    generator : torch.Generator
        Source of the batch order, the samples and the dropout masks.
    callbacks : sequence of Callback, default=()
    checkpoints : Checkpoints or None, default=None
        Where to continue from, and to keep the state of every epoch.
    """

    def __init__(
        self,
        network: PrototypeNetwork,
        data: TrainingData,
        generator: torch.Generator,
        callbacks: Sequence[Callback] = (),
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self.network = network
        self.settings = network.settings
        self.data = replace(data, rows=compact_rows(data.rows))
        self.generator = generator
        self.callbacks = callbacks
        self.checkpoints = checkpoints
        self.row_weights = network.slice_rows(data.row_weights)
        self._hides_rows = bool((data.row_weights == 0).any())
        self.clusterings: list[Clustering] | None = None
        network.observe_labels(data.labels, self.row_weights)
        self.correlations = self._slice_correlations()
        self.optimizer = adam(network)
        self.held = HeldPrototypes(self.settings.prototype_interval, network.embedding.parameters())
        self.epoch_steps = math.ceil(data.rows.n_rows / self.settings.batch_size)
        self.n_steps = self.settings.max_epochs * self.epoch_steps
        self.step = 0

    @property
    def flops_of_step(self) -> float:
        """Operations of a training step, roughly."""
        return self.network.flops_of_step(self.settings.batch_size)

    def fit(self) -> tuple[EpochRecord, ...]:
        """Train to the last epoch, or until the validation loss stops falling."""
        progress = self._restored_progress()
        for callback in self.callbacks:
            callback.on_train_begin(self.settings.max_epochs)
        try:
            with freed_memory_kept(), threads_worth(self.flops_of_step):
                while not self._is_done(progress):
                    progress = self._advance(progress)
            if progress.best_state is not None:
                self._restore(progress.best_state)
            self.finish()
        finally:
            for callback in self.callbacks:
                callback.on_train_end(progress.history)
        return progress.history

    def run_epoch(self, epoch: int) -> EpochRecord:
        """One pass over the shuffled rows."""
        started = time.perf_counter()
        if self.settings.prototype_update == "stale":
            self.refresh_prototypes()
        elif self.settings.clusters_by_epoch and not self._holds_clusters(epoch):
            self.refresh_clusterings()
        order = torch.randperm(
            self.data.rows.n_rows, generator=self.generator, device=self.generator.device
        )
        batches = order.split(self.settings.batch_size)
        # One tensor for all steps: small ones that outlive a step would keep the allocator from
        # giving the memory of large ones to the next step.
        losses = torch.empty(len(batches), 3, device=order.device, dtype=torch.float32)
        self.held.forget()
        for row, batch in zip(losses, batches, strict=True):
            row.copy_(torch.stack(self.train_step(batch)))
        total, entropy, correlation = losses.mean(dim=0).tolist()
        metric = self.network.metric
        frobenius = 0.0 if metric is None else float(metric_penalty(metric.detach()))
        record = EpochRecord(
            epoch=epoch,
            loss=total + self.settings.metric_weight(self.network.n_labels) * frobenius,
            cross_entropy=entropy,
            metric_penalty=frobenius,
            correlation_penalty=correlation,
            learning_rate=self.optimizer.learning_rate,
            mean_prototypes=self._mean_prototypes(),
            seconds=time.perf_counter() - started,
        )
        if not math.isfinite(record.loss):
            raise TrainingError(
                f"The loss became {record.loss} in epoch {epoch}. Lower learning_rate "
                f"(now {self.settings.learning_rate}) or correlation_penalty "
                f"(now {self.settings.correlation_penalty}), or use correlation='cosine', "
                "which is bounded."
            )
        return self._with_validation(record)

    def train_step(self, batch: Tensor) -> _StepLoss:
        """One Adam step on a batch of query rows."""
        self._set_learning_rate()
        self.optimizer.zero_grad()
        loss = self.loss(batch)
        if loss.total.requires_grad:
            loss.total.backward()
            self.held.pass_on()
            self.optimizer.step()
        self.step += 1
        members = self.network.n_members
        return _StepLoss(
            loss.total.detach() / members,
            loss.cross_entropy.detach() / members,
            loss.correlation.detach() / members,
        )

    def loss(self, batch: Tensor) -> _StepLoss:
        """The objective of Eq. 13 on a batch, summed over the members.

        The metric penalty is not in it: the optimiser applies its gradient as weight decay.
        """
        labels = self.data.labels[batch]
        embeddings, prototypes, stretch = self._queries_and_prototypes(batch)
        learnable = prototypes.complete & self.network.active
        sample = self._sampled_labels(labels)
        if self.data.soft_targets is not None:
            labels = self.data.soft_targets.blend(labels, batch)
        if sample is not None:
            labels = labels[:, sample.labels]
            learnable = learnable[:, sample.labels] * sample.weights
        sliced, weights = self.network.slice_labels(labels), self.row_weights[:, batch]
        if self._hides_rows and stretch is None:
            seen = SeenRows.of(weights)
            embeddings, sliced = seen.of_each(embeddings), seen.of_each(sliced)
            weights = seen.weights
        logits = self.network.logits(
            embeddings, prototypes, stretch, None if sample is None else sample.labels
        )
        entropy = mean_cross_entropy(
            logits,
            sliced,
            weights,
            learnable=learnable,
            n_labels=self.network.n_labels,
            reduction=self.settings.loss_reduction,
        )
        correlation = self._correlation_penalty(prototypes)
        total = entropy + self.settings.correlation_penalty * correlation
        return _StepLoss(total, entropy, correlation)

    @torch.no_grad()
    def refresh_clusterings(self) -> None:
        """Assign all rows to clusters anew, for means that follow the embeddings in the epoch."""
        self.clusterings = cluster_slices(
            self.network, self._all_rows(), keep_responsibilities=True
        )

    @torch.no_grad()
    def refresh_prototypes(self) -> None:
        """Recompute the network's prototypes from all rows, in evaluation mode."""
        if self._embeds_in_chunks:
            means = means_of_rows(self.network, self.data.rows, self.data.labels, self.row_weights)
            self.network.prototypes = means.prototypes
            return
        self.network.prototypes = support_prototypes(self.network, self._all_rows())

    @torch.no_grad()
    def finish(self) -> None:
        """Fix the prototypes for prediction: all rows, final weights, double precision."""
        self.clusterings = None
        self.network.double()
        self.data = replace(self.data, labels=self.data.labels.double())
        self.row_weights = self.row_weights.double()
        if self._embeds_in_chunks:
            means = means_of_rows(self.network, self.data.rows, self.data.labels, self.row_weights)
            self.network.prototypes = means.prototypes
            self.network.mean_embedding, self.network.covariance = means.mean, means.covariance
            return
        rows = self._all_rows()
        self.network.prototypes = support_prototypes(self.network, rows)
        if self.settings.shared_embedding:
            self.network.mean_embedding, self.network.covariance = embedding_moments(
                rows.embeddings, self.row_weights
            )

    def _restored_progress(self) -> Progress:
        if self.checkpoints is None:
            return Progress()
        progress = self.checkpoints.restore(self.network, self.optimizer, self.generator)
        self.step = len(progress.history) * self.epoch_steps
        return progress

    def _is_done(self, progress: Progress) -> bool:
        """Whether the last epoch is over, or the validation loss stopped falling."""
        n_epochs = len(progress.history)
        if n_epochs == 0 or n_epochs >= self.settings.max_epochs:
            return n_epochs > 0
        waited = n_epochs - 1 - progress.best_epoch
        watched = progress.history[-1].validation_loss is not None
        return watched and waited >= self.settings.n_iter_no_change

    def _advance(self, progress: Progress) -> Progress:
        """One epoch, and what is known after it."""
        record = self.run_epoch(len(progress.history))
        for callback in self.callbacks:
            callback.on_epoch_end(record)
        progress = replace(progress, history=(*progress.history, record))
        if record.validation_loss is not None and record.validation_loss < progress.best_loss:
            best_state = {k: v.clone() for k, v in self.network.state_dict().items()}
            progress = Progress(progress.history, record.validation_loss, record.epoch, best_state)
        # Clusters are not in a checkpoint, so the next epoch must not need those of this one.
        has_all = self._is_done(progress) or not self._holds_clusters(len(progress.history))
        if self.checkpoints is not None and has_all:
            self.checkpoints.save(progress, self.network, self.optimizer, self.generator)
        return progress

    def _holds_clusters(self, epoch: int) -> bool:
        """Whether an epoch goes on with the clusters of an earlier one."""
        settings = self.settings
        return settings.clusters_by_epoch and epoch % settings.prototype_interval > 0

    @property
    def _embeds_in_chunks(self) -> bool:
        """Whether the embeddings of all rows are never held at once."""
        if self.settings.prototypes != "single" or not self.settings.shared_embedding:
            return False
        n_entries = self.data.rows.n_rows * self.network.n_slices * self.settings.embedding_dim
        return isinstance(self.data.labels, SparseLabels) or n_entries > _MAX_EMBEDDED_ENTRIES

    def _sampled_labels(self, labels: Tensor) -> LabelSample | None:
        """Labels that a step on these rows computes, None for all."""
        few = self.network.n_labels <= MAX_LABELS_OF_A_STEP or not self.settings.shared_embedding
        if few or self.settings.prototype_update != "stale":
            return None
        return sample_labels(labels.any(0), N_ABSENT_LABELS, self.generator)

    @cached_property
    def _components(self) -> Components:
        """All rows of every component."""
        assert isinstance(self.data.labels, Tensor)
        return Components.of(self.network.slice_labels(self.data.labels), self.row_weights)

    def _all_rows(self) -> Support:
        return Support(self.network.embed(self.data.rows), self._components)

    def _queries_and_prototypes(self, batch: Tensor) -> tuple[Tensor, PrototypeSet, Tensor | None]:
        """Embed the batch and the rows behind its prototypes."""
        network = self.network
        if self.settings.prototype_update == "stale":
            queries = network.embedding(self.data.rows.take(batch), self.generator)
            return queries, network.prototypes, None
        held = self.held.take()
        if held is not None:
            return network.embedding(self.data.rows.take(batch), self.generator), held, None
        rows, labels, weights = self.data.rows, self.data.labels, self.row_weights
        assert isinstance(labels, Tensor)
        clusterings, position, components = self.clusterings, batch, self._components
        if self.settings.support_size is not None:
            index = sample_rows(batch, rows.n_rows, self.settings.support_size, self.generator)
            rows, labels, weights = rows.take(index), labels[index], weights[:, index]
            position = torch.searchsorted(index, batch)
            clusterings = _restrict(clusterings, index)
            components = Components.of(network.slice_labels(labels), weights)
        embeddings = network.embedding(rows)
        components = components.drawn(
            self.settings.positive_rate, self.settings.negative_rate, self.generator
        )
        support = Support(embeddings, components)
        prototypes = self.held.hold(support_prototypes(network, support, clusterings))
        stretch = (
            support.stretch(position, self.settings.squared_distance)
            if self.settings.leave_one_out
            else None
        )
        # Prototypes that are held have a backward pass of their own.
        if network.embedding.uses_dropout or self.held.interval > 1:
            queries = network.embedding(self.data.rows.take(batch), self.generator)
        else:
            queries = embeddings.index_select(1, position)
        return queries, prototypes, stretch

    def _correlation_penalty(self, prototypes: PrototypeSet) -> Tensor:
        if self.settings.correlation_penalty == 0 or self.correlations is None:
            return prototypes.positions.new_zeros(())
        means = prototypes.positive_means() * self.network.active[..., None]
        return correlation_penalty(means, self.correlations, self.settings.correlation)

    def _slice_correlations(self) -> Tensor | None:
        """Label correlations, or None where they have no weight or a slice holds one label."""
        if self.network.labels_per_slice == 1 or self.settings.correlation_penalty == 0:
            return None
        assert isinstance(self.data.labels, Tensor)
        return label_correlations(self.data.labels)

    def _set_learning_rate(self) -> None:
        if self.settings.schedule == "constant":
            return
        peak = self.settings.learning_rate
        self.optimizer.learning_rate = one_cycle(self.step, self.n_steps, peak)

    def _mean_prototypes(self) -> float:
        if self.clusterings is not None:
            counts = torch.cat([c.exists.sum(-1).flatten() for c in self.clusterings])
        else:
            counts = self.network.prototypes.exists.sum(-1).flatten()
        occupied = counts[counts > 0]
        return float(occupied.double().mean()) if len(occupied) else 1.0

    @torch.no_grad()
    def _with_validation(self, record: EpochRecord) -> EpochRecord:
        rows, labels = self.data.validation_rows, self.data.validation_labels
        if rows is None or labels is None:
            return record
        self.refresh_prototypes()
        logits = self.network.average_members(self.network.member_logits(rows))
        entropy = cross_entropy(logits[None], labels[None], torch.ones_like(labels)[None])
        predicted = logits > 0
        both, either = (predicted & (labels > 0)).sum(1), (predicted | (labels > 0)).sum(1)
        return replace(
            record,
            validation_loss=float(entropy.sum()) / labels.numel(),
            validation_accuracy=float((both / either.clamp_min(1)).mean()),
        )

    def _restore(self, state: Mapping[str, Tensor]) -> None:
        """Load parameters; the prototypes, whose number may differ, are computed anew after it."""
        own = self.network.state_dict()
        self.network.load_state_dict(
            {
                name: state[name] if state[name].shape == value.shape else value
                for name, value in own.items()
            }
        )


def _restrict(clusterings: list[Clustering] | None, index: Tensor) -> list[Clustering] | None:
    """Soft assignments of the rows in a support sample only."""
    if clusterings is None:
        return None
    return [
        replace(
            c, responsibilities=None if c.responsibilities is None else c.responsibilities[index]
        )
        for c in clusterings
    ]
