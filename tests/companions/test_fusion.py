from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.special import expit

from protolabel.companions import fusion as fusion_module
from protolabel.companions.fusion import Fusion, fit_fusion
from protolabel.companions.label_priors import log_odds_of_counts


@pytest.fixture
def calibrated():
    """Log-odds that are true probabilities, and labels drawn from them."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(scale=2.0, size=(4000, 3))
    return log_odds, sp.csr_array((rng.random((4000, 3)) < expit(log_odds)).astype(int))


@pytest.fixture
def two_views():
    """Labels of very different shares, and two learners that each see half of the evidence."""
    rng = np.random.default_rng(1)
    prior = np.linspace(-6, 1, 12)
    Y = (rng.random((4000, 12)) < expit(prior)).astype(int)
    learners = []
    for _ in range(2):
        # Evidence of variance s with mean s (y - 1/2) is a log-odds ratio.
        evidence = rng.normal(2.0 * (Y - 0.5), np.sqrt(2.0))
        learners.append(evidence + log_odds_of_counts(Y.sum(axis=0), len(Y)))
    return learners, sp.csr_array(Y)


def test_a_distorted_score_is_brought_back_to_log_odds(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([5 * log_odds + 3], Y, np.random.default_rng(0))
    assert fusion.slopes[0] == pytest.approx(0.2, rel=0.1)
    assert fusion.intercept == pytest.approx(-0.6, abs=0.1)


def test_a_learner_that_says_the_same_twice_adds_nothing(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([log_odds, 10 * log_odds], Y, np.random.default_rng(0))
    assert fusion.slopes[0] == pytest.approx(10 * fusion.slopes[1], rel=1e-2)
    combined = fusion.combine([log_odds, 10 * log_odds])
    assert np.allclose(combined, log_odds, atol=0.5)


def test_independent_evidence_adds_up_and_the_prior_counts_once(two_views):
    learners, Y = two_views
    fusion = fit_fusion(learners, Y, np.random.default_rng(0))
    np.testing.assert_allclose(fusion.slopes, 1, atol=0.1)
    prior = log_odds_of_counts(Y.toarray().sum(axis=0), Y.shape[0])
    np.testing.assert_allclose(fusion.shifts, -prior, rtol=0.15, atol=0.1)
    assert abs(fusion.intercept) < 0.3


def test_pooled_scores_have_a_smaller_log_loss_than_the_plain_mean(two_views):
    learners, Y = two_views
    truth = Y.toarray()

    def log_loss(scores):
        return np.mean(np.logaddexp(0, scores) - truth * scores)

    fusion = fit_fusion(learners, Y, np.random.default_rng(0))
    assert log_loss(fusion.combine(learners)) < 0.95 * log_loss(np.mean(learners, axis=0))


def test_the_weights_have_no_gradient_at_their_optimum():
    rng = np.random.default_rng(3)
    n_rows, n_labels = 40, 6
    truth = (np.argsort(rng.random((n_rows, n_labels)), axis=0) < [1, 2, 3, 9, 20, 30]).astype(int)
    learners = [truth + scale * rng.normal(size=truth.shape) for scale in (0.7, 2.0)]
    fusion = fit_fusion(learners, sp.csr_array(truth), rng)
    counts = truth.sum(axis=0)
    # Naive loops: the prior of a row comes from all other rows.
    prior = np.empty(truth.shape)
    for row in range(n_rows):
        for label in range(n_labels):
            others = counts[label] - truth[row, label]
            prior[row, label] = np.log((others + 0.5) / (n_rows - 1 - others + 0.5))
    lines = [fusion_module._calibrate(part.ravel(), truth.ravel()) for part in learners]
    parts = [a * part + b for part, (a, b) in zip(learners, lines, strict=True)]
    weights = fusion.slopes / [a for a, _ in lines]
    of_prior = fusion.shifts[0] / log_odds_of_counts(counts, n_rows)[0]
    constant = fusion.intercept - weights @ [b for _, b in lines]
    found = np.array([*weights, constant, of_prior])

    def gradient(pull, doubt, prior):
        def loss(x):
            z = x[0] * parts[0] + x[1] * parts[1] + x[2] + x[3] * prior
            pulls = pull * np.sum((x[:2] - x[:2].mean()) ** 2)
            pulls += doubt / z.size * np.sum((x - [0.5, 0.5, 0, 0]) ** 2)
            return np.mean(np.logaddexp(0, z) - truth * z) + pulls

        return np.abs(approx_fprime(found, loss, 1e-7)).max()

    assert gradient(3e-3, 4, prior) < 1e-4
    for other in (
        gradient(0, 4, prior),
        gradient(3e-3, 0, prior),
        gradient(3e-3, 4, log_odds_of_counts(counts, n_rows)),
    ):
        assert other > 1e-3


def test_a_score_that_misleads_gets_no_weight(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([log_odds, -log_odds], Y, np.random.default_rng(0))
    assert fusion.slopes[1] == 0


def test_a_label_that_was_not_learned_keeps_its_first_score():
    fusion = Fusion(np.array([0.5, 0.5]), 1.0, np.array([True, False]), shifts=np.array([2.0, 0.0]))
    first, second = np.array([[2.0, -7.0]]), np.array([[4.0, 3.0]])
    assert fusion.combine([first, second]).tolist() == [[6.0, -7.0]]
    elsewhere = replace(fusion, shifts=np.array([2.0, 9.0]))
    assert elsewhere.combine([first, second]).tolist() == [[6.0, -7.0]]


def test_a_label_that_comes_later_keeps_its_first_score():
    fusion = Fusion(np.array([1.0]), 0.5, np.array([True]), shifts=np.array([2.0])).with_label()
    assert fusion.combine([np.array([[1.0, 9.0]])]).tolist() == [[3.5, 9.0]]
    before = Fusion(np.array([1.0]), 0.5, np.array([True])).with_label()
    assert before.combine([np.array([[1.0, 9.0]])]).tolist() == [[1.5, 9.0]]


def test_labels_without_two_sides_do_not_enter_the_fit():
    Y = sp.csr_array(np.ones((10, 2), dtype=int))
    fusion = fit_fusion([np.zeros((10, 2)), np.zeros((10, 2))], Y, np.random.default_rng(0))
    assert fusion.slopes.tolist() == [0.5, 0.5]
    assert fusion.shifts.tolist() == [0, 0]
    assert not fusion.learned.any()


def test_a_constant_label_is_not_shifted(two_views):
    learners, Y = two_views
    Y = sp.csr_array(np.column_stack([Y.toarray()[:, :3], np.zeros(Y.shape[0], dtype=int)]))
    fusion = fit_fusion([part[:, :4] for part in learners], Y, np.random.default_rng(0))
    assert fusion.learned.tolist() == [True, True, True, False]
    assert fusion.shifts[3] == 0
    assert (fusion.shifts[:3] != 0).all()


@pytest.mark.parametrize("n_rows", [2, 4, 30])
def test_scores_without_an_error_get_bounded_weights(n_rows):
    Y = np.stack([np.arange(n_rows) % 2, np.arange(n_rows) < 1], axis=1)
    fusion = fit_fusion([2.0 * Y - 1, 4.0 * Y - 1], sp.csr_array(Y), np.random.default_rng(0))
    assert (fusion.slopes >= 0).all()
    assert fusion.slopes.max() < 5
    assert np.abs(fusion.shifts).max() < 10


def test_very_many_cells_are_sampled(calibrated, monkeypatch):
    log_odds, Y = calibrated
    whole = fit_fusion([log_odds], Y, np.random.default_rng(0))
    monkeypatch.setattr(fusion_module, "_MAX_CELLS", 3000)
    part = fit_fusion([log_odds], Y, np.random.default_rng(0))
    assert part.slopes[0] == pytest.approx(whole.slopes[0], rel=0.15)
    assert part.slopes[0] != whole.slopes[0]
