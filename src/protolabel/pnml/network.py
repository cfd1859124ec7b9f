"""The network: a shared embedding, a metric per label, and the prototypes it last computed."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from protolabel.pnml.distance import label_distances, label_squares, linear_logits
from protolabel.pnml.embedding import Embedding
from protolabel.pnml.label_rows import LabelRows, label_sums
from protolabel.pnml.prediction import label_logits, log_densities, log_prior_odds
from protolabel.pnml.prototypes import LOG_ZERO, PrototypeSet
from protolabel.pnml.rows import FeatureRows
from protolabel.pnml.settings import PNMLSettings

# Rows scored for all labels at once where no gradient is wanted, and rows embedded: more where
# they have few features.
_SCORED_ROWS, _EMBEDDED_ROWS, _EMBEDDED_CELLS = 1024, 8192, 2**24


class PrototypeNetwork(nn.Module):
    """An ensemble of PNML models trained side by side.

    All parameters have a leading *slice* axis. A shared embedding needs one slice per
    ensemble member, holding all labels; per-label embeddings (PNML-I) need one slice per
    member and label, holding that label alone.

    Parameters
    ----------
    n_features, n_labels : int
    settings : PNMLSettings
    n_members : int
        Size of the ensemble.
    generator : torch.Generator
        Source of the start weights.
    """

    positions: Tensor
    log_weights: Tensor
    active: Tensor
    constant_logits: Tensor
    mean_embedding: Tensor
    covariance: Tensor

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        settings: PNMLSettings,
        n_members: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.n_members = n_members
        self.n_labels = n_labels
        # The last labels, which were not there in training, see ``new_labels``.
        self.n_added = 0
        self.n_slices = n_members if settings.shared_embedding else n_members * n_labels
        self.labels_per_slice = n_labels if settings.shared_embedding else 1
        dim = settings.embedding_dim
        self.embedding = Embedding(
            n_features,
            dim,
            n_members=self.n_slices,
            hidden_dim=settings.hidden_dim,
            negative_slope=settings.negative_slope,
            input_dropout=settings.input_dropout,
            embedding_dropout=settings.embedding_dropout,
            weight_init=settings.weight_init,
            generator=generator,
        )
        heads = (self.n_slices, self.labels_per_slice)
        self.metric = _start_metric(heads, dim, settings, generator)
        self.log_prior_odds = nn.Parameter(
            torch.zeros(heads, dtype=torch.float32), requires_grad=settings.class_prior == "learned"
        )
        self.log_variance: nn.Parameter | None = None
        if settings.cluster_variance == "trainable":
            # Distances are divided by twice the variance: a start of 1/2 leaves them as they are.
            self.log_variance = nn.Parameter(
                torch.full((self.n_slices,), 0.5, dtype=torch.float32).log()
            )
        self.register_buffer("positions", torch.zeros(*heads, 2, 1, dim, dtype=torch.float32))
        self.register_buffer(
            "log_weights", torch.full((*heads, 2, 1), LOG_ZERO, dtype=torch.float32)
        )
        self.register_buffer("active", torch.zeros(heads, dtype=torch.bool))
        self.register_buffer("constant_logits", torch.zeros(n_labels, dtype=torch.float32))
        # Of the training rows; what a label that comes later is compared with.
        shared = settings.shared_embedding
        mean = torch.zeros(n_members, dim, dtype=torch.float32)
        covariance = torch.zeros(n_members, dim, dim, dtype=torch.float32)
        self.register_buffer("mean_embedding", mean if shared else None)
        self.register_buffer("covariance", covariance if shared else None)

    @property
    def prototypes(self) -> PrototypeSet:
        """The prototypes that predictions are made with."""
        return PrototypeSet(self.positions, self.log_weights)

    @prototypes.setter
    def prototypes(self, prototypes: PrototypeSet) -> None:
        self.positions = prototypes.positions.detach()
        self.log_weights = prototypes.log_weights.detach()

    @torch.no_grad()
    def observe_labels(self, labels: LabelRows, row_weights: Tensor) -> None:
        """Set the class priors and find the labels that each slice can learn.

        Parameters
        ----------
        labels : Tensor or SparseLabels of shape (n_rows, n_labels)
        row_weights : Tensor of shape (n_slices, n_rows)
        """
        if self.settings.shared_embedding:
            n_positive = label_sums(labels, row_weights.mT).mT
        else:
            assert isinstance(labels, Tensor)
            n_positive = (self.slice_labels(labels) * row_weights[..., None]).sum(1)
        n_rows = row_weights.sum(1, keepdim=True)
        self.active = (n_positive > 0) & (n_positive < n_rows)
        if self.settings.class_prior != "uniform":
            self.log_prior_odds.copy_(log_prior_odds(n_positive, n_rows))
        n_all = row_weights.new_tensor(float(len(labels)))
        counts = label_sums(labels, row_weights.new_ones(len(labels), 1)).squeeze(1)
        self.constant_logits = log_prior_odds(counts, n_all)

    def flops_of_step(self, n_rows: int) -> float:
        """Operations of a training step: a product with every parameter, and its two gradients."""
        return 6.0 * n_rows * sum(parameter.numel() for parameter in self.parameters())

    def slice_labels(self, labels: Tensor) -> Tensor:
        """Labels as the slices see them: (1, n_rows, n_labels) or (n_slices, n_rows, 1)."""
        if self.settings.shared_embedding:
            return labels[None]
        return labels.mT[..., None].repeat(self.n_members, 1, 1)

    def slice_rows(self, row_weights: Tensor) -> Tensor:
        """Spread one weight per member and row over the slices, (n_slices, n_rows)."""
        return row_weights.repeat_interleave(self.n_slices // self.n_members, dim=0)

    def logits(
        self,
        embeddings: Tensor,
        prototypes: PrototypeSet,
        stretch: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> Tensor:
        """Log-odds of the labels of every slice, (n_slices, n_rows, labels_per_slice).

        Parameters
        ----------
        embeddings : Tensor of shape (n_slices, n_rows, dim)
        prototypes : PrototypeSet
        stretch : Tensor of shape (n_slices, labels_per_slice, n_rows, 2) or None
            Factors on the distances to each side, for the leave-one-out correction.
        labels : Tensor of int, shape (n_chosen,), or None
            Labels to compute, where a slice holds many; None for all.
        """
        if labels is not None:
            assert stretch is None
            return self._head_logits(
                embeddings,
                PrototypeSet(prototypes.positions[:, labels], prototypes.log_weights[:, labels]),
                None if self.metric is None else self.metric.index_select(1, labels),
                self.log_prior_odds.index_select(1, labels),
            )
        if self.n_added == 0:
            return self._head_logits(
                embeddings, prototypes, self.metric, self.log_prior_odds, stretch
            )
        # Products of another size or layout round differently: each label is computed as it
        # was first.
        trained = self.n_labels - self.n_added
        groups = [slice(trained), *(slice(k, k + 1) for k in range(trained, self.n_labels))]
        parts = []
        for group in groups:
            positions, log_weights, prior = (
                values[:, group].contiguous()
                for values in (prototypes.positions, prototypes.log_weights, self.log_prior_odds)
            )
            metric = None if self.metric is None else self.metric[:, group].contiguous()
            parts.append(
                self._head_logits(embeddings, PrototypeSet(positions, log_weights), metric, prior)
            )
        return torch.cat(parts, dim=-1)

    def _head_logits(
        self,
        embeddings: Tensor,
        prototypes: PrototypeSet,
        metric: Tensor | None,
        log_prior_odds: Tensor,
        stretch: Tensor | None = None,
    ) -> Tensor:
        """Log-odds of the labels that the prototypes, metrics and priors are of."""
        squared = self.settings.squared_distance
        n_slots = prototypes.positions.shape[-2]
        plain = stretch is None and self.log_variance is None
        if squared and n_slots == 1 and plain and metric is not None:
            ratio = linear_logits(embeddings, prototypes.positions.squeeze(-2), metric)
            return (ratio + log_prior_odds[..., None]).mT
        flat = prototypes.positions.flatten(2, 3)
        if plain:
            weights, n_negative = prototypes.log_weights.flatten(2), n_slots
            # Not in predictions, where products of another size would round differently.
            if n_slots > 1 and torch.is_grad_enabled():
                flat, weights, n_negative = prototypes.without_unused()
            squares = label_squares(embeddings, flat, metric)
            density = log_densities(squares, weights, n_negative, squared=squared)
            return (density[:, :, 1] - density[:, :, 0] + log_prior_odds[..., None]).mT
        distances = label_distances(embeddings, flat, metric, squared=squared)
        distances = distances.unflatten(-1, (2, n_slots))
        if stretch is not None:
            distances = distances * stretch[..., None]
        if self.log_variance is not None:
            distances = distances / (2 * self.log_variance.exp()).view(-1, 1, 1, 1, 1)
        return label_logits(distances, prototypes.log_weights, log_prior_odds)

    @torch.no_grad()
    def embed(self, rows: FeatureRows) -> Tensor:
        """Embeddings in evaluation mode, (n_slices, n_rows, dim), computed in chunks."""
        dtype = self.embedding.weight.dtype
        n_rows = min(max(_EMBEDDED_CELLS // rows.n_features, _SCORED_ROWS), _EMBEDDED_ROWS)
        parts = [self.embedding(part.to(dtype)) for part in rows.parts(n_rows)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)

    @torch.no_grad()
    def member_logits(self, rows: FeatureRows) -> Tensor:
        """Log-odds of every member, (n_members, n_rows, n_labels); NaN where it knows no label."""
        dtype = self.embedding.weight.dtype
        parts = []
        for part in rows.parts(_SCORED_ROWS):
            logits = self.logits(self.embedding(part.to(dtype)), self.prototypes)
            parts.append(torch.where(self.active[:, None, :], logits, torch.nan))
        logits = torch.cat(parts, dim=1)
        if self.settings.shared_embedding:
            return logits
        return logits.view(self.n_members, self.n_labels, -1).mT

    def average_members(self, member_logits: Tensor) -> Tensor:
        """Mean log-odds of the members that know a label, else its prior, (n_rows, n_labels)."""
        total = torch.zeros_like(member_logits[0])
        # Member by member: the order of a sum over an axis depends on the number of labels.
        for logits in member_logits:
            total = total + torch.where(logits.isnan(), 0.0, logits)
        n_members = (~member_logits.isnan()).sum(0)
        constant = self.constant_logits.to(total.dtype)
        return torch.where(n_members > 0, total / n_members.clamp_min(1), constant)


def _start_metric(
    heads: tuple[int, int], dim: int, settings: PNMLSettings, generator: torch.Generator
) -> nn.Parameter | None:
    """Identity for a full metric, so that training starts at PNML-D; Gaussian for a low rank."""
    if settings.metric == "euclidean":
        return None
    rank = settings.metric_rank
    if rank is None or rank == dim:
        return nn.Parameter(torch.eye(dim, dtype=torch.float32).repeat(*heads, 1, 1))
    start = torch.empty(*heads, rank, dim, dtype=torch.float32).normal_(
        std=rank**-0.5, generator=generator
    )
    return nn.Parameter(start)
