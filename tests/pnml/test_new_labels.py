import numpy as np
import pytest
import torch

from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.new_labels import (
    discriminant_form,
    embedding_moments,
    low_rank_metric,
    network_with_label,
)


@pytest.fixture
def spread():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(2, 6, 6))
    return torch.from_numpy(factors @ factors.transpose(0, 2, 1))


def test_moments_are_those_of_the_rows_with_weight():
    rng = np.random.default_rng(1)
    embeddings, weights = rng.normal(size=(2, 9, 3)), rng.integers(0, 2, size=(2, 9)).astype(float)
    mean, covariance = embedding_moments(torch.from_numpy(embeddings), torch.from_numpy(weights))
    for member in range(2):
        seen = [
            row for row, weight in zip(embeddings[member], weights[member], strict=True) if weight
        ]
        centre = sum(seen) / len(seen)
        expected = sum(np.outer(row - centre, row - centre) for row in seen) / len(seen)
        np.testing.assert_allclose(mean[member], centre)
        np.testing.assert_allclose(covariance[member], expected)


def test_the_form_comes_closer_to_the_inverse_covariance_with_more_rows(spread):
    inverse = torch.linalg.inv(spread)
    errors = [
        float((discriminant_form(spread, n) - inverse).abs().max()) for n in (1, 10, 1000, 10**9)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4


def test_the_form_of_few_rows_treats_all_directions_alike(spread):
    form = discriminant_form(spread, 1)[0]
    values = torch.linalg.eigvalsh(form)
    assert float(values.max() / values.min()) < 1.1


def test_an_embedding_without_spread_still_has_a_form():
    assert torch.isfinite(discriminant_form(torch.zeros(1, 3, 3), 5)).all()


@pytest.mark.parametrize("rank", [1, 2, 6])
def test_a_metric_of_low_rank_is_exact_along_the_difference(spread, rank):
    difference = torch.from_numpy(np.random.default_rng(2).normal(size=(2, 6)))
    metric = low_rank_metric(spread, difference, rank)
    assert metric.shape == (2, rank, 6)
    for member in range(2):
        found = metric[member].T @ (metric[member] @ difference[member])
        np.testing.assert_allclose(found, spread[member] @ difference[member], rtol=1e-9)


def test_a_metric_of_full_rank_is_the_form(spread):
    difference = torch.from_numpy(np.random.default_rng(2).normal(size=(2, 6)))
    metric = low_rank_metric(spread, difference, 6)
    np.testing.assert_allclose(metric.mT @ metric, spread, atol=1e-9)


def test_equal_prototypes_give_a_finite_metric(spread):
    assert torch.isfinite(low_rank_metric(spread, torch.zeros_like(spread[:, 0]), 3)).all()


@pytest.fixture
def trained(settings, generator):
    network = PrototypeNetwork(
        5, 3, settings(embedding_dim=4, metric_rank=2), n_members=2, generator=generator
    ).double()
    network.positions = torch.randn(2, 3, 2, 1, 4, generator=generator, dtype=torch.double)
    network.log_weights = torch.zeros(2, 3, 2, 1, dtype=torch.double)
    network.active = torch.tensor([[True, True, True], [True, False, True]])
    network.covariance = torch.eye(4, dtype=torch.double).repeat(2, 1, 1)
    return network


def test_prototypes_of_a_new_label_are_means_at_the_usual_distance(trained, generator):
    positives = torch.randn(2, 7, 4, generator=generator, dtype=torch.double) + 2
    grown = network_with_label(trained, positives)
    assert (grown.n_labels, grown.n_added, trained.n_labels) == (4, 1, 3)
    for member in range(2):
        np.testing.assert_allclose(grown.positions[member, 3, 1, 0], positives[member].mean(0))
        np.testing.assert_allclose(grown.positions[member, 3, 0, 0], trained.mean_embedding[member])
        gaps = []
        for label in range(4):
            negative, positive = grown.positions[member, label, :, 0]
            gaps.append(
                float((grown.metric.detach()[member, label] @ (positive - negative)).norm())
            )
        known = [
            gap for gap, is_known in zip(gaps[:3], trained.active[member], strict=True) if is_known
        ]
        # torch's median of an even number is the lower one of the middle.
        assert gaps[3] == pytest.approx(sorted(known)[(len(known) - 1) // 2])


def test_given_negatives_replace_the_mean_of_the_training_rows(trained, generator):
    positives = torch.ones(2, 3, 4, dtype=torch.double)
    negatives = torch.randn(2, 5, 4, generator=generator, dtype=torch.double)
    grown = network_with_label(trained, positives, negatives)
    np.testing.assert_allclose(grown.positions[:, 3, 0, 0], negatives.mean(1))


def test_the_network_that_is_grown_stays_as_it_was(trained):
    before = {name: value.clone() for name, value in trained.state_dict().items()}
    network_with_label(trained, torch.ones(2, 3, 4, dtype=torch.double))
    for name, value in trained.state_dict().items():
        assert torch.equal(value, before[name])
