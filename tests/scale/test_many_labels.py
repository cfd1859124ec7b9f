"""Labels in compressed rows and the sampled loss, against dense labels and the full loss."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from protolabel.pnml import trainer as trainer_module
from protolabel.pnml.label_rows import SparseLabels, label_sums
from protolabel.pnml.label_sampling import sample_labels
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.new_labels import embedding_moments
from protolabel.pnml.prototypes import single_prototypes
from protolabel.pnml.row_means import means_of_rows
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.trainer import Trainer, TrainingData

CPU = torch.device("cpu")
N_LABELS = 40


@pytest.fixture
def many():
    """Rows with forty labels, two of which nobody has and one that all rows have."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6)) + 50.0
    Y = (rng.random((150, N_LABELS)) < 0.06).astype(np.float64)
    Y[:, :2], Y[:, 2] = 0, 1
    return X, Y


@pytest.fixture
def trainer_for(settings, many):
    X, Y = many

    def build(*, sparse, dtype=torch.float64, n_members=2, **overrides):
        chosen = settings(**{"prototype_update": "stale", "correlation_penalty": 0.0, **overrides})
        network = PrototypeNetwork(
            X.shape[1], N_LABELS, chosen, n_members, torch.Generator().manual_seed(0)
        ).to(dtype)
        labels = SparseLabels.of(sp.csr_array(Y), CPU)
        weights = torch.ones(n_members, len(X), dtype=dtype)
        weights[0, ::3] = 0
        data = TrainingData(
            rows=feature_rows(X, CPU, dtype),
            labels=labels.double() if sparse else torch.from_numpy(Y).to(dtype),
            row_weights=weights,
        )
        return Trainer(network, data, torch.Generator().manual_seed(1))

    return build


def test_rows_of_compressed_labels_are_those_of_the_matrix(many):
    _, Y = many
    labels = SparseLabels.of(sp.csr_array(Y), CPU)
    index = torch.tensor([5, 0, 149, 5])
    assert labels.shape == Y.shape
    assert np.array_equal(labels[index].numpy(), Y[index.numpy()])
    assert labels.double()[index].dtype == torch.float64


def test_sums_over_compressed_labels_are_products_with_the_matrix(many):
    _, Y = many
    values = torch.randn(len(Y), 3, dtype=torch.float64)
    expected = torch.from_numpy(Y).mT @ values
    assert torch.allclose(label_sums(SparseLabels.of(sp.csr_array(Y), CPU), values), expected)
    assert torch.allclose(label_sums(torch.from_numpy(Y), values), expected)


def test_a_batch_without_any_label_is_all_zeros():
    labels = SparseLabels.of(sp.csr_array((4, 3)), CPU)
    assert labels[torch.arange(4)].tolist() == [[0.0] * 3] * 4
    assert labels.sums(torch.ones(4, 2)).tolist() == [[0.0] * 2] * 3


@pytest.mark.parametrize("sparse", [False, True])
def test_means_in_chunks_are_those_of_all_rows(trainer_for, monkeypatch, sparse):
    monkeypatch.setattr("protolabel.pnml.row_means.CHUNK_ROWS", 37)
    trainer = trainer_for(sparse=sparse)
    network, data = trainer.network, trainer.data
    embedded = network.embed(data.rows)
    dense = trainer_for(sparse=False).data.labels[None]
    expected = single_prototypes(embedded, dense, trainer.row_weights)
    found = means_of_rows(network, data.rows, data.labels, trainer.row_weights)
    assert torch.allclose(found.prototypes.positions, expected.positions)
    assert torch.equal(found.prototypes.exists, expected.exists)
    mean, covariance = embedding_moments(embedded, trainer.row_weights)
    assert torch.allclose(found.mean, mean)
    assert torch.allclose(found.covariance, covariance, atol=1e-9)


def test_training_on_compressed_labels_ends_with_the_model_of_dense_ones(trainer_for):
    dense, compressed = (
        trainer_for(sparse=sparse, max_epochs=3, class_prior="learned") for sparse in (False, True)
    )
    for trainer in (dense, compressed):
        trainer.fit()
    rows = dense.data.rows
    assert torch.allclose(
        dense.network.member_logits(rows),
        compressed.network.member_logits(rows),
        atol=1e-8,
        equal_nan=True,
    )


def test_sampled_labels_hold_all_present_ones_and_stand_for_the_rest(generator):
    present = torch.zeros(1000, dtype=torch.bool)
    present[[3, 500, 999]] = True
    sample = sample_labels(present, 50, generator)
    assert len(sample.labels) == 53
    assert set(sample.labels.tolist()) >= {3, 500, 999}
    assert (
        sample.weights[torch.isin(sample.labels, torch.tensor([3, 500, 999]))].tolist() == [1] * 3
    )
    assert sample.weights.sum().item() == pytest.approx(1000)


def test_with_few_absent_labels_all_are_taken(generator):
    sample = sample_labels(torch.ones(5, dtype=torch.bool), 10, generator)
    assert sample.labels.tolist() == [0, 1, 2, 3, 4]
    assert sample.weights.tolist() == [1.0] * 5


def test_the_expected_loss_and_gradient_of_sampled_labels_are_those_of_all(
    trainer_for, monkeypatch
):
    trainer = trainer_for(sparse=True)
    trainer.refresh_prototypes()
    batch = torch.arange(10)
    full = trainer.loss(batch).total
    full.backward()
    metric = trainer.network.metric
    expected = metric.grad.clone()
    monkeypatch.setattr(trainer_module, "MAX_LABELS_OF_A_STEP", 0)
    monkeypatch.setattr(trainer_module, "N_ABSENT_LABELS", 8)
    metric.grad = None
    draws = 600
    losses = []
    for _ in range(draws):
        loss = trainer.loss(batch).total
        loss.backward()
        losses.append(loss.item())
    assert np.std(losses) > 0
    error = np.std(losses) / np.sqrt(draws)
    assert abs(np.mean(losses) - full.item()) < 4 * error
    gap = torch.linalg.vector_norm(metric.grad / draws - expected)
    assert gap < 0.1 * torch.linalg.vector_norm(expected)


def test_label_correlations_are_not_computed_where_they_have_no_weight(trainer_for):
    assert trainer_for(sparse=True).correlations is None
