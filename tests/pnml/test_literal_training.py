"""Batched training takes the steps of the printed procedure."""

import pytest
import torch

from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.trainer import Trainer, TrainingData
from reference.literal_pnml import LiteralTraining

CPU = torch.device("cpu")


@pytest.fixture
def both(settings, labelled):
    """Batched and literal training from one start, in double precision."""
    X, Y = labelled

    def build(**overrides):
        chosen = settings(
            loss_reduction="cells", metric_penalty=0.3, correlation_penalty=1e-3, **overrides
        )
        network = PrototypeNetwork(6, 3, chosen, 1, torch.Generator().manual_seed(0)).double()
        data = TrainingData(
            rows=feature_rows(X, CPU, torch.float64),
            labels=torch.from_numpy(Y).double(),
            row_weights=torch.ones(1, len(X), dtype=torch.float64),
        )
        literal = LiteralTraining(
            torch.from_numpy(X).double(),
            data.labels,
            network.embedding.weight[:, 0],
            network.embedding.bias[0, 0],
            network.metric[0],
            multiple=chosen.prototypes == "multiple",
            concentration=chosen.concentration,
            learning_rate=chosen.learning_rate,
            metric_weight=0.3 / 3,
            correlation_weight=1e-3,
            interval=chosen.prototype_interval,
        )
        return Trainer(network, data, torch.Generator().manual_seed(1)), literal

    return build


@pytest.mark.parametrize("interval", [1, 3])
@pytest.mark.parametrize("prototypes", ["single", "multiple"])
def test_steps_equal_those_of_the_printed_procedure(both, prototypes, interval):
    batched, literal = both(
        prototypes=prototypes,
        prototype_update="step",
        prototype_interval=interval,
        schedule="constant",
        class_prior="uniform",
        mixing="uniform",
        concentration=0.1,
        cluster_variance="effective",
    )
    order = torch.randperm(batched.data.rows.n_rows, generator=torch.Generator().manual_seed(2))
    for batch in order.split(32)[:5]:
        batched.train_step(batch)
        literal.step(batch)
    network = batched.network
    assert torch.allclose(network.embedding.weight[:, 0], literal.weight, atol=1e-7)
    assert torch.allclose(network.embedding.bias[0, 0], literal.bias, atol=1e-7)
    assert torch.allclose(network.metric[0], literal.metric, atol=1e-7)
