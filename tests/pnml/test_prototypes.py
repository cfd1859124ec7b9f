import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from protolabel.pnml.prototypes import (
    LOG_ZERO,
    PrototypeSet,
    mixing_log_weights,
    single_prototypes,
)
from reference import pnml as naive


@pytest.fixture
def component_data():
    rng = np.random.default_rng(3)
    embeddings = rng.normal(size=(12, 4))
    labels = (rng.random((12, 5)) > 0.5).astype(float)
    labels[:, 4] = 1
    labels[7, 4] = 0  # all rows positive but one
    return embeddings, labels


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_means_equal_a_double_loop(component_data, dtype, tolerance):
    embeddings, labels = component_data
    found = single_prototypes(
        torch.from_numpy(embeddings).to(dtype)[None],
        torch.from_numpy(labels).to(dtype)[None],
        torch.ones(1, 12, dtype=dtype),
    ).positions[0, :, :, 0]
    for k in range(5):
        for side in (0, 1):
            expected = naive.component_mean(embeddings, labels[:, k] == side)
            assert np.allclose(found[k, side].numpy(), expected, rtol=tolerance, atol=tolerance)


def test_excluded_rows_do_not_enter_the_means(component_data):
    embeddings, labels = (torch.from_numpy(a)[None] for a in component_data)
    weights = torch.ones(2, 12, dtype=torch.float64)
    weights[1, 3] = 0
    both = embeddings.repeat(2, 1, 1)
    before = single_prototypes(both, labels, weights).positions
    both[:, 3] = 1e6
    after = single_prototypes(both, labels, weights).positions
    assert torch.equal(before[1], after[1])
    assert not torch.allclose(before[0], after[0])


def test_an_empty_component_has_no_prototype():
    found = single_prototypes(torch.ones(1, 3, 2), torch.zeros(1, 3, 1), torch.ones(1, 3))
    assert found.exists[0, 0].flatten().tolist() == [True, False]
    assert found.complete.tolist() == [[False]]


def test_reversing_the_rows_changes_no_mean(component_data):
    embeddings, labels = (torch.from_numpy(a)[None] for a in component_data)
    weights = torch.ones(1, 12, dtype=torch.float64)
    forwards = single_prototypes(embeddings, labels, weights).positions
    backwards = single_prototypes(embeddings.flip(1), labels.flip(1), weights).positions
    assert torch.allclose(forwards, backwards)


def test_single_prototypes_carry_gradient(component_data):
    embeddings, labels = (torch.from_numpy(a)[None] for a in component_data)
    weights = torch.ones(1, 12, dtype=torch.float64)
    embeddings.requires_grad_()
    assert gradcheck(lambda e: single_prototypes(e, labels, weights).positions, embeddings)


def test_both_mixings_agree_for_clusters_of_equal_mass():
    exists = torch.tensor([True, True, False])
    mass = torch.tensor([2.0, 2.0, 0.0])
    uniform = mixing_log_weights(exists, mass, "uniform")
    assert torch.equal(uniform, mixing_log_weights(exists, mass, "empirical"))
    assert uniform.exp().sum().item() == pytest.approx(1)
    assert uniform[2] == LOG_ZERO


def test_empirical_mixing_follows_the_mass():
    weights = mixing_log_weights(
        torch.tensor([True, True]), torch.tensor([3.0, 1.0]), "empirical"
    ).exp()
    assert weights.tolist() == pytest.approx([0.75, 0.25])


def test_positive_means_ignore_unused_slots():
    positions = torch.arange(12.0).view(1, 1, 2, 3, 2)
    log_weights = torch.zeros(1, 1, 2, 3)
    log_weights[0, 0, 1, 2] = LOG_ZERO
    expected = positions[0, 0, 1, :2].mean(0)
    assert torch.allclose(PrototypeSet(positions, log_weights).positive_means()[0, 0], expected)


def prototypes_with_unused_slots(generator):
    """Two members, three labels; slots 2 and 3 are unused on the negative sides, 3 on both."""
    positions = torch.randn(2, 3, 2, 4, 5, generator=generator, dtype=torch.float64)
    exists = torch.rand(2, 3, 2, 4, generator=generator) > 0.3
    exists[:, :, 0, 1], exists[:, :, 1, 2] = True, True
    exists[:, :, 0, 2:], exists[:, :, 1, 3:] = False, False
    log_weights = torch.randn(2, 3, 2, 4, generator=generator, dtype=torch.float64)
    return positions, torch.where(exists, log_weights, LOG_ZERO)


def test_slots_that_no_label_uses_are_left_out(generator):
    positions, log_weights = prototypes_with_unused_slots(generator)
    flat, weights, n_negative = PrototypeSet(positions, log_weights).without_unused()
    assert n_negative == 2
    assert torch.equal(flat[:, :, :2], positions[:, :, 0, :2])
    assert torch.equal(flat[:, :, 2:], positions[:, :, 1, :3])
    assert torch.equal(weights[:, :, :2], log_weights[:, :, 0, :2])
    assert torch.equal(weights[:, :, 2:], log_weights[:, :, 1, :3])


def test_gradients_reach_the_slots_in_use_and_the_positive_means(generator):
    positions, log_weights = prototypes_with_unused_slots(generator)
    positions.requires_grad_()
    assert gradcheck(lambda p: PrototypeSet(p, log_weights).without_unused()[0], positions)
    assert gradcheck(lambda p: PrototypeSet(p, log_weights).positive_means(), positions)


def test_positive_means_equal_the_mean_of_the_positive_slots_in_use(generator):
    positions, log_weights = prototypes_with_unused_slots(generator)
    found = PrototypeSet(positions, log_weights).positive_means()
    exists = log_weights > LOG_ZERO / 2
    for member, label in np.ndindex(2, 3):
        used = positions[member, label, 1, exists[member, label, 1]]
        assert torch.allclose(found[member, label], used.mean(0))
