"""Everything that shapes a PNML model and its training, resolved and checked."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

PrototypeMode = Literal["single", "multiple"]
PrototypeUpdate = Literal["step", "epoch", "stale"]
ClusterVariance = Literal["effective", "within", "trainable"] | float
Choices = tuple[str, ...]

_CHOICES: dict[str, Choices] = {
    "prototypes": ("single", "multiple"),
    "weight_init": ("uniform", "glorot"),
    "metric": ("mahalanobis", "euclidean"),
    "class_prior": ("learned", "empirical", "uniform"),
    "mixing": ("uniform", "empirical"),
    "prototype_update": ("step", "epoch", "stale"),
    "correlation": ("inner", "cosine"),
    "loss_reduction": ("rows", "cells"),
    "schedule": ("one_cycle", "constant"),
}
_COUNTS = (
    *("embedding_dim", "max_prototypes", "n_clustering", "prototype_interval"),
    *("batch_size", "max_epochs", "n_iter_no_change"),
)
# What a classifier also takes, and what never comes this far.
_AUTOMATIC = ("embedding_dim", "metric_rank", "learning_rate", "batch_size", "max_epochs")


@dataclass(frozen=True)
class PNMLSettings:
    """Resolved hyper-parameters; :class:`protolabel.PNMLClassifier` documents each one."""

    prototypes: PrototypeMode
    embedding_dim: int
    hidden_dim: int | None
    negative_slope: float
    weight_init: Literal["uniform", "glorot"]
    shared_embedding: bool
    metric: Literal["mahalanobis", "euclidean"]
    metric_rank: int | None
    squared_distance: bool
    class_prior: Literal["learned", "empirical", "uniform"]
    mixing: Literal["uniform", "empirical"]
    concentration: float
    cluster_variance: ClusterVariance
    assignment_temperature: float | None
    max_prototypes: int
    max_negative_prototypes: int | None
    n_clustering: int
    prototype_update: PrototypeUpdate
    prototype_interval: int
    positive_rate: float
    negative_rate: float
    support_size: int | None
    leave_one_out: bool
    metric_penalty: float
    correlation_penalty: float
    correlation: Literal["inner", "cosine"]
    loss_reduction: Literal["rows", "cells"]
    input_dropout: float
    embedding_dropout: float
    learning_rate: float
    schedule: Literal["one_cycle", "constant"]
    batch_size: int
    max_epochs: int
    n_iter_no_change: int

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            _require(getattr(self, name) in choices, name, getattr(self, name), f"one of {choices}")
        for name in _COUNTS:
            value = getattr(self, name)
            _require(_is_count(value), name, value, "an integer of at least 1")
        for name in ("positive_rate", "negative_rate"):
            value = getattr(self, name)
            _require(_is_number(value) and 0 < value <= 1, name, value, "a rate above 0, at most 1")
        for name in ("input_dropout", "embedding_dropout"):
            value = getattr(self, name)
            _require(_is_number(value) and 0 <= value < 1, name, value, "a rate from 0 to below 1")
        for name in ("metric_penalty", "correlation_penalty"):
            value = getattr(self, name)
            _require(_is_number(value) and value >= 0, name, value, "a number of at least 0")
        slope = self.negative_slope
        _require(
            _is_number(slope) and slope >= 0, "negative_slope", slope, "a number of at least 0"
        )
        for name in ("shared_embedding", "squared_distance", "leave_one_out"):
            value = getattr(self, name)
            _require(isinstance(value, (bool, np.bool_)), name, value, "True or False")
        for name in ("learning_rate", "concentration"):
            value = getattr(self, name)
            _require(_is_number(value) and value > 0, name, value, "a number above 0")
        for name in ("hidden_dim", "metric_rank", "support_size", "max_negative_prototypes"):
            value = getattr(self, name)
            holds = value is None or _is_count(value)
            _require(holds, name, value, "None or an integer of at least 1")
        self._check_clustering()
        self._check_combinations()

    def _check_clustering(self) -> None:
        variance, temperature = self.cluster_variance, self.assignment_temperature
        if isinstance(variance, str):
            choices = ("effective", "within", "trainable")
            _require(
                variance in choices, "cluster_variance", variance, f"a number or one of {choices}"
            )
        else:
            _require(
                variance > 0, "cluster_variance", variance, "a number above 0 or a rule's name"
            )
        _require(
            temperature is None or temperature > 0,
            "assignment_temperature",
            temperature,
            "None (twice the cluster variance) or a number above 0",
        )

    def _check_combinations(self) -> None:
        if self.metric_rank is not None and self.metric_rank > self.embedding_dim:
            raise ValueError(
                f"metric_rank={self.metric_rank} is larger than the embedding dimension "
                f"{self.embedding_dim}; use metric_rank=None for a full metric."
            )
        if self.prototype_update == "stale" and self.correlation_penalty > 0:
            raise ValueError(
                f"correlation_penalty={self.correlation_penalty} would have no effect: with "
                "prototype_update='stale' the prototypes carry no gradient. Use "
                "prototype_update='epoch' or set correlation_penalty=0."
            )
        if self.prototype_interval > 1 and self.prototype_update == "stale":
            raise ValueError(
                f"prototype_interval={self.prototype_interval} would have no effect: with "
                "prototype_update='stale' the prototypes are held for the whole epoch. Use "
                "prototype_update='epoch' or set prototype_interval=1."
            )
        if self.leave_one_out and self.prototype_interval > 1:
            raise ValueError(
                f"leave_one_out=True needs the prototypes of the same step, and with "
                f"prototype_interval={self.prototype_interval} they may be older; set "
                "prototype_interval=1."
            )
        if self.leave_one_out and (self.prototypes != "single" or self.prototype_update == "stale"):
            raise ValueError(
                "leave_one_out=True is defined for single prototypes that are recomputed at every "
                "step; use prototypes='single' and prototype_update='epoch'."
            )

    @property
    def clusters_by_epoch(self) -> bool:
        """Whether rows are assigned to clusters between epochs, and not in every step."""
        return self.prototypes == "multiple" and self.prototype_update == "epoch"

    @property
    def most_prototypes(self) -> tuple[int, int]:
        """Largest number of prototypes of a negative and of a positive component."""
        negative = self.max_negative_prototypes
        return self.max_prototypes if negative is None else negative, self.max_prototypes

    def metric_weight(self, n_labels: int) -> float:
        """Weight of the metric penalty beside the reduced cross-entropy.

        A mean over the cells divides the data of each label by the number of labels; so is its
        penalty, or many labels would weigh it up.
        """
        return self.metric_penalty / (n_labels if self.loss_reduction == "cells" else 1)


def embedding_dim_of_paper(n_features: int) -> int:
    """Width of the embedding by the number of features (Eq. 14)."""
    return 72 if n_features <= 200 else 128


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _require(holds: bool, name: str, received: Any, expected: str) -> None:
    if not holds:
        automatic = " or 'auto'" if name in _AUTOMATIC else ""
        raise ValueError(f"{name}={received!r} cannot be used; expected {expected}{automatic}.")
