"""From validated chunks of rows to a PNML model that goes on learning."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from protolabel.fitting import FitOptions, FittedModel, resolve_device
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.settings import PNMLSettings
from protolabel.pnml.streaming import StreamTrainer
from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.labels import Targets

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)


class Stream:
    """Scaling, networks and optimiser between two chunks; no row is kept.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        First chunk, which the scaling is fixed on.
    targets : Targets
        Its targets, which say what labels there are.
    settings : PNMLSettings
    options : FitOptions
    """

    def __init__(
        self, X: Matrix, targets: Targets, settings: PNMLSettings, options: FitOptions
    ) -> None:
        self.targets = replace(targets, matrix=targets.matrix[:0])
        self.scaler = FeatureScaler(options.feature_scaling).fit(X)
        device = resolve_device(options.device)
        network = PrototypeNetwork(
            n_features=X.shape[1],
            n_labels=targets.matrix.shape[1],
            settings=settings,
            n_members=options.n_members,
            generator=torch.Generator().manual_seed(options.seed),
        ).to(device)
        generator = torch.Generator(device).manual_seed(options.seed + 1)
        self.trainer = StreamTrainer(network, generator)

    def learn(self, X: Matrix, Y: sp.csr_array) -> FittedModel:
        """Learn from a chunk and give the model that predicts after it."""
        network = self.trainer.network
        device = network.positions.device
        rows = feature_rows(self.scaler.transform(X), device)
        labels = torch.from_numpy(Y.toarray()).to(device, torch.float32)
        record = self.trainer.learn(rows, labels)
        predicting = copy.deepcopy(network).double()
        return FittedModel(predicting, self.scaler, np.zeros(network.n_labels), (record,))


def stream_settings(settings: PNMLSettings, prototypes: str) -> PNMLSettings:
    """Settings of a network that learns from chunks.

    Parameters
    ----------
    settings : PNMLSettings
    prototypes : str
        What was asked for; ``"auto"`` is single in a stream.
    """
    if prototypes == "multiple":
        raise ValueError(
            "prototypes='multiple' needs all rows at once to cluster them, which a stream does "
            "not keep; use prototypes='single' with partial_fit, or fit."
        )
    if settings.correlation_penalty > 0 or settings.leave_one_out:
        name = "correlation_penalty" if settings.correlation_penalty > 0 else "leave_one_out"
        raise ValueError(
            f"{name}={getattr(settings, name)} cannot be used with partial_fit: the prototypes "
            "of a stream carry no gradient. Set correlation_penalty=0 and leave_one_out=False."
        )
    return replace(settings, prototypes="single", prototype_update="stale")
