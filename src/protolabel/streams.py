"""From validated chunks of rows to a PNML model that goes on learning."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from protolabel.decision.decision_rule import DecisionRule
from protolabel.fitted_model import FittedModel
from protolabel.fitting import FitOptions, resolve_device
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.settings import PNMLSettings
from protolabel.pnml.streaming import StreamTrainer
from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.labels import Targets
from protolabel.torch_state import gradients_on

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)


class Stream:
    """Scaling, networks and optimiser between two chunks; no row is kept.

    Parameters
    ----------
    targets : Targets
        Says what labels there are.
    scaler : FeatureScaler
        Fitted.
    trainer : StreamTrainer
    """

    def __init__(self, targets: Targets, scaler: FeatureScaler, trainer: StreamTrainer) -> None:
        self.targets = replace(targets, matrix=targets.matrix[:0])
        self.scaler = scaler
        self.trainer = trainer

    @classmethod
    @gradients_on()
    def start(
        cls, X: Matrix, targets: Targets, settings: PNMLSettings, options: FitOptions
    ) -> Stream:
        """Begin with new networks, and the scaling of the first chunk."""
        device = resolve_device(options.device)
        scaler = FeatureScaler(options.feature_scaling).fit(X)
        network = PrototypeNetwork(
            n_features=scaler.n_columns,
            n_labels=targets.matrix.shape[1],
            settings=settings,
            n_members=options.n_members,
            generator=torch.Generator().manual_seed(options.seed),
        ).to(device)
        generator = torch.Generator(device).manual_seed(options.seed + 1)
        return cls(targets, scaler, StreamTrainer(network, generator))

    @classmethod
    @gradients_on()
    def resume(cls, model: FittedModel, targets: Targets, seed: int) -> Stream:
        """Go on from a fitted model, whose companions and several prototypes are given up."""
        network = copy.deepcopy(model.network).float()
        network.settings = stream_settings(network.settings)
        network.n_added = 0
        generator = torch.Generator(network.positions.device).manual_seed(seed + 1)
        trainer = StreamTrainer(network, generator)
        trainer.take_up()
        return cls(targets, model.scaler, trainer)

    @gradients_on()
    def learn(self, X: Matrix, Y: sp.csr_array) -> FittedModel:
        """Learn from a chunk and give the model that predicts after it."""
        device = self.trainer.network.positions.device
        rows = feature_rows(self.scaler.transform(X), device)
        labels = torch.from_numpy(Y.toarray()).to(device, torch.float32)
        before = copy.deepcopy(self.trainer)
        try:
            record = self.trainer.learn(rows, labels)
        except BaseException:
            self.trainer = before  # as if the chunk had not been there
            raise
        network = self.trainer.network
        predicting = copy.deepcopy(network).double()
        return FittedModel(
            predicting, self.scaler, DecisionRule.of(np.zeros(network.n_labels)), (record,)
        )


def stream_settings(settings: PNMLSettings) -> PNMLSettings:
    """Settings of a network that learns from chunks: single prototypes without gradient."""
    return replace(
        settings,
        prototypes="single",
        prototype_update="stale",
        prototype_interval=1,
        correlation_penalty=0.0,
        leave_one_out=False,
    )
