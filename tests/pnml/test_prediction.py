import math

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from protolabel.pnml.distance import label_distances
from protolabel.pnml.prediction import label_logits, log_densities, log_prior_odds
from protolabel.pnml.prototypes import LOG_ZERO
from reference import pnml as naive

EYE = torch.eye(3, dtype=torch.float64)


def logits_of(e, prototypes, U, log_weights=None, prior=None):
    """Logits of one member; prototypes (n_labels, 2, n_slots, dim)."""
    n_labels, _, n_slots, _ = prototypes.shape
    distances = label_distances(e[None], prototypes.flatten(1, 2)[None], U[None])
    if log_weights is None:
        log_weights = torch.full((n_labels, 2, n_slots), -math.log(n_slots), dtype=torch.float64)
    prior = torch.zeros(n_labels, dtype=torch.float64) if prior is None else prior
    return label_logits(distances.unflatten(-1, (2, n_slots)), log_weights[None], prior[None])[0]


def random_problem(n_labels=2, n_slots=3, seed=0):
    g = torch.Generator().manual_seed(seed)
    e = torch.randn(4, 3, generator=g, dtype=torch.float64)
    p = torch.randn(n_labels, 2, n_slots, 3, generator=g, dtype=torch.float64)
    U = torch.randn(n_labels, 3, 3, generator=g, dtype=torch.float64)
    return e, p, U


def test_probability_equals_the_printed_formula():
    e, p, U = random_problem()
    got = torch.sigmoid(logits_of(e, p, U)).numpy()
    for i, k in np.ndindex(*got.shape):
        expected = naive.probability(e[i].numpy(), p[k, 1].numpy(), p[k, 0].numpy(), U[k].numpy())
        assert got[i, k] == pytest.approx(expected, rel=1e-9)


def test_sign_is_right_where_the_printed_formula_underflows():
    e = torch.tensor([[1e4, 0.0, 0.0]], dtype=torch.float32)
    p = torch.tensor([[[[0.0, 0, 0]], [[1.0, 0, 0]]]], dtype=torch.float32)
    distances = label_distances(e[None], p.flatten(1, 2)[None], None).unflatten(-1, (2, 1))
    logits = label_logits(distances, torch.zeros(1, 1, 2, 1), torch.zeros(1, 1))
    assert torch.isfinite(logits).all()
    assert logits.item() > 0


def test_a_prototype_in_two_halves_counts_once():
    e, p, U = random_problem(n_slots=1)
    doubled = p.repeat(1, 1, 2, 1)
    assert torch.allclose(logits_of(e, doubled, U), logits_of(e, p, U))


def test_an_unused_slot_has_no_influence():
    e, p, U = random_problem(n_slots=2)
    weights = torch.zeros(2, 2, 2, dtype=torch.float64)
    weights[..., 1] = LOG_ZERO
    assert torch.allclose(logits_of(e, p, U, weights), logits_of(e, p[:, :, :1], U))


def test_confidence_is_bounded_by_the_distance_between_the_prototypes():
    e, p, U = random_problem(n_slots=1)
    logits = logits_of(100 * e, p, U)
    for k in range(2):
        bound = naive.distance(p[k, 1, 0].numpy(), p[k, 0, 0].numpy(), U[k].numpy())
        assert logits[:, k].abs().max() <= bound + 1e-6


def test_prior_odds_shift_the_logits():
    e, p, U = random_problem()
    prior = torch.tensor([1.0, -2.0], dtype=torch.float64)
    assert torch.allclose(logits_of(e, p, U, prior=prior), logits_of(e, p, U) + prior)


def test_permuting_labels_permutes_logits():
    e, p, U = random_problem()
    assert torch.allclose(logits_of(e, p.flip(0), U.flip(0)), logits_of(e, p, U).flip(1))


def test_gradients_with_respect_to_everything():
    e, p, U = random_problem()
    b = torch.randn(2, dtype=torch.float64)
    inputs = [tensor.requires_grad_() for tensor in (e, p, U, b)]
    assert gradcheck(lambda e, p, U, b: logits_of(e, p, U, prior=b), inputs)


def test_smoothed_prior_odds_are_finite_for_absent_and_constant_labels():
    odds = log_prior_odds(torch.tensor([0.0, 4.0, 2.0]), torch.tensor(4.0))
    assert odds.tolist() == pytest.approx([math.log(0.5 / 4.5), math.log(4.5 / 0.5), 0.0])


@pytest.mark.parametrize("n_slots", [1, 2, 5])
def test_logits_are_differentiable_in_distances_weights_and_prior(n_slots):
    g = torch.Generator().manual_seed(1)
    distances = torch.rand(2, 3, 4, 2, n_slots, generator=g, dtype=torch.float64)
    weights = torch.randn(2, 3, 2, n_slots, generator=g, dtype=torch.float64)
    prior = torch.randn(2, 3, generator=g, dtype=torch.float64)
    inputs = [values.requires_grad_() for values in (distances, weights, prior)]
    assert gradcheck(label_logits, inputs)


def test_log_densities_equal_the_log_of_the_sum_where_slots_are_unused_or_far():
    g = torch.Generator().manual_seed(2)
    distances = 300 * torch.rand(1, 2, 6, 2, 4, generator=g)
    weights = torch.randn(1, 2, 2, 4, generator=g)
    weights[0, 0, 0, 1:] = LOG_ZERO
    joint = (weights[:, :, None] - distances).double()
    density = torch.logsumexp(joint, dim=-1)
    expected = (density[..., 1] - density[..., 0]).mT
    found = label_logits(distances, weights, torch.zeros(1, 2))
    assert torch.allclose(found.double(), expected, rtol=1e-6, atol=1e-4)


@pytest.fixture(params=[(1, 1), (4, 4), (1, 3), (5, 2)])
def squares_and_weights(request, generator):
    """Two members, three labels, slots of both sides (some unused on one side), five rows."""
    n_negative, n_positive = request.param
    heads = (2, 3, n_negative + n_positive)
    squares = 9 * torch.rand(*heads, 5, generator=generator, dtype=torch.float64) + 0.1
    log_weights = torch.randn(*heads, generator=generator, dtype=torch.float64)
    log_weights[0, 1, n_negative + 2 :] = LOG_ZERO
    return squares, log_weights, n_negative


@pytest.mark.parametrize("entries", [1, 2**17])
@pytest.mark.parametrize("squared", [False, True])
def test_densities_are_logs_of_sums_of_both_sides(
    squares_and_weights, monkeypatch, squared, entries
):
    monkeypatch.setattr("protolabel.pnml.prediction._CHUNK_ENTRIES", entries)
    squares, log_weights, n_negative = squares_and_weights
    density = log_densities(squares, log_weights, n_negative, squared=squared)
    distances = squares if squared else (squares + 1e-12).sqrt()
    joint = log_weights[..., None] - distances
    for side, part in enumerate((joint[:, :, :n_negative], joint[:, :, n_negative:])):
        assert torch.allclose(density[:, :, side], torch.logsumexp(part, dim=2))


@pytest.mark.parametrize("squared", [False, True])
def test_gradients_of_the_densities(squares_and_weights, squared):
    squares, log_weights, n_negative = squares_and_weights
    squares.requires_grad_()
    assert gradcheck(lambda s: log_densities(s, log_weights, n_negative, squared=squared), squares)


def test_a_slightly_negative_square_of_a_single_prototype_has_no_slope():
    squares = torch.tensor([-1e-9, 4.0]).view(1, 1, 2, 1).requires_grad_()
    density = log_densities(squares, torch.zeros(1, 1, 2), 1)
    density.sum().backward()
    assert torch.isfinite(density).all()
    assert squares.grad.flatten().tolist() == [0.0, pytest.approx(-0.25)]


def test_densities_of_far_and_slightly_negative_squares_are_finite():
    squares = torch.tensor([9.0, 1e8, 1e8, -1e-9, 4.0]).view(1, 1, 5, 1).requires_grad_()
    density = log_densities(squares, torch.zeros(1, 1, 5), 1)
    density.sum().backward()
    assert torch.isfinite(density).all()
    assert torch.isfinite(squares.grad).all()
    assert squares.grad.flatten()[3] == 0


def test_shares_too_small_for_a_number_leave_density_and_slope_alone():
    near, far = 4.0, 1e6
    squares = torch.tensor([9.0, near, far, far, near]).view(1, 1, 5, 1).requires_grad_()
    weights = torch.tensor([0.0, 0.0, 0.0, LOG_ZERO, LOG_ZERO]).view(1, 1, 5)
    density = log_densities(squares, weights, 1)
    density[0, 0, 1].sum().backward()
    assert density[0, 0, 1].item() == pytest.approx(-2.0, abs=1e-6)
    assert squares.grad.flatten()[1].item() == pytest.approx(-0.25, abs=1e-6)
    assert squares.grad.flatten()[2:].abs().max() < 1e-20
