import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from protolabel.pnml.loss import (
    correlation_penalty,
    cross_entropy,
    label_correlations,
    metric_penalty,
)
from reference import pnml as naive


@pytest.fixture
def cells():
    g = torch.Generator().manual_seed(0)
    logits = torch.randn(1, 5, 3, generator=g, dtype=torch.float64)
    labels = (torch.rand(1, 5, 3, generator=g) > 0.5).double()
    return logits, labels


def test_cross_entropy_equals_the_printed_sum(cells):
    logits, labels = cells
    got = cross_entropy(logits, labels, torch.ones_like(labels)).item()
    expected = naive.cross_entropy(torch.sigmoid(logits)[0].numpy(), labels[0].numpy())
    assert got == pytest.approx(expected, rel=1e-10)


def test_its_gradient_is_probability_minus_label(cells):
    logits, labels = cells
    logits.requires_grad_()
    cross_entropy(logits, labels, torch.ones_like(labels)).sum().backward()
    assert torch.allclose(logits.grad, torch.sigmoid(logits.detach()) - labels)


@pytest.mark.parametrize("turned", [False, True])
def test_gradients_with_weights_and_labels_that_all_members_share(cells, turned):
    _, labels = cells
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 3, 5, generator=generator, dtype=torch.float64).mT
    logits = (logits if turned else logits.contiguous()).requires_grad_()
    weights = torch.rand(2, 5, 3, generator=generator, dtype=torch.float64)
    assert gradcheck(lambda values: cross_entropy(values, labels, weights), logits)


def test_a_masked_cell_has_no_influence(cells):
    logits, labels = cells
    weights = torch.ones_like(labels)
    weights[0, 2] = 0
    changed = labels.clone()
    changed[0, 2] = 1 - changed[0, 2]
    assert torch.equal(
        cross_entropy(logits, labels, weights), cross_entropy(logits, changed, weights)
    )


def test_cross_entropy_is_finite_for_extreme_logits():
    logits = torch.tensor([[[1e4, -1e4]]])
    labels = torch.tensor([[[0.0, 1.0]]])
    assert cross_entropy(logits, labels, torch.ones_like(labels)).item() == pytest.approx(2e4)


def test_metric_penalty_equals_the_naive_sum():
    metric = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    assert metric_penalty(metric).item() == pytest.approx(
        naive.metric_penalty(metric.flatten(0, 1).numpy())
    )


def test_correlation_penalty_equals_the_double_loop():
    means = torch.randn(1, 4, 3, dtype=torch.float64)
    correlations = label_correlations((torch.rand(20, 4) > 0.4).double())
    got = correlation_penalty(means, correlations).item()
    assert got == pytest.approx(
        naive.correlation_penalty(means[0].numpy(), correlations.numpy()), rel=1e-9
    )


def test_correlation_gradient_is_the_weighted_sum_of_the_other_means():
    means = torch.randn(1, 4, 3, dtype=torch.float64, requires_grad=True)
    correlations = label_correlations((torch.rand(20, 4) > 0.4).double())
    correlation_penalty(means, correlations).backward()
    assert torch.allclose(means.grad[0], (1 - correlations) @ means.detach()[0])


@pytest.mark.parametrize("kind", ["inner", "cosine"])
def test_gradients_of_the_correlation_penalty(kind):
    means = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    correlations = label_correlations((torch.rand(20, 4) > 0.4).double())
    assert gradcheck(lambda m: correlation_penalty(m, correlations, kind), means)


def test_one_label_has_no_correlation_penalty():
    correlations = label_correlations(torch.tensor([[1.0], [0.0]]))
    assert correlation_penalty(torch.randn(1, 1, 3), correlations).item() == 0


def test_cosine_form_is_bounded_whatever_the_length_of_the_means():
    correlations = label_correlations((torch.rand(50, 6) > 0.5).double())
    for scale in (1e-6, 1.0, 1e6):
        means = scale * torch.randn(1, 6, 4, dtype=torch.float64)
        assert abs(correlation_penalty(means, correlations, "cosine").item()) <= 6 * 5


def test_correlations_equal_the_naive_ones_with_constant_columns():
    rng = np.random.default_rng(0)
    labels = (rng.random((30, 4)) > 0.5).astype(float)
    labels[:, 1] = 0
    labels[:, 3] = 1
    got = label_correlations(torch.from_numpy(labels)).numpy()
    assert np.allclose(got, naive.pearson(labels))
