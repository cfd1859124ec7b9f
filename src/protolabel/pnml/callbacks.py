"""Hooks into training, and the record that each epoch leaves behind."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

logger = logging.getLogger("protolabel")


@dataclass(frozen=True)
class EpochRecord:
    """What one epoch of training did; the losses are means over its steps."""

    epoch: int
    loss: float
    cross_entropy: float
    metric_penalty: float
    correlation_penalty: float
    learning_rate: float
    mean_prototypes: float
    seconds: float
    validation_loss: float | None = None
    validation_accuracy: float | None = None


class Callback:
    """Base class with empty hooks; override the ones you need."""

    def on_train_begin(self, n_epochs: int) -> None:
        """Run before the first epoch."""

    def on_epoch_end(self, record: EpochRecord) -> None:
        """Run after every epoch."""

    def on_train_end(self, history: Sequence[EpochRecord]) -> None:
        """Run after the last epoch, also when training stopped early or failed."""


class EpochLogger(Callback):
    """Write one line per epoch to the ``protolabel`` logger."""

    def on_epoch_end(self, record: EpochRecord) -> None:
        """Log the losses of the epoch."""
        validation = (
            "" if record.validation_loss is None else f" validation {record.validation_loss:.4f}"
        )
        logger.info("epoch %d loss %.4f%s", record.epoch, record.loss, validation)
