import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.special import expit

from protolabel.companions import fusion as fusion_module
from protolabel.companions.fusion import Fusion, fit_fusion


@pytest.fixture
def calibrated():
    """Log-odds that are true probabilities, and labels drawn from them."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(scale=2.0, size=(4000, 3))
    return log_odds, sp.csr_array((rng.random((4000, 3)) < expit(log_odds)).astype(int))


def test_a_distorted_score_is_brought_back_to_log_odds(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([5 * log_odds + 3], Y, np.random.default_rng(0))
    assert fusion.slopes[0] == pytest.approx(0.2, rel=0.1)
    assert fusion.intercept == pytest.approx(-0.6, abs=0.1)


def test_learners_are_averaged_in_equal_parts_after_calibration(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([log_odds, 10 * log_odds], Y, np.random.default_rng(0))
    assert fusion.slopes[0] == pytest.approx(10 * fusion.slopes[1], rel=1e-3)
    combined = fusion.combine([log_odds, 10 * log_odds])
    assert np.allclose(combined, log_odds, atol=0.5)


def test_the_line_has_no_gradient_at_its_optimum(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([2 * log_odds - 1], Y, np.random.default_rng(0))
    scores, present = (2 * log_odds - 1).ravel(), Y.toarray().ravel()

    def loss(line):
        z = line[0] * scores + line[1]
        return np.mean(np.log1p(np.exp(z)) - present * z)

    gradient = approx_fprime([fusion.slopes[0], fusion.intercept], loss, 1e-6)
    assert np.abs(gradient).max() < 1e-3


def test_a_score_that_misleads_gets_no_weight(calibrated):
    log_odds, Y = calibrated
    fusion = fit_fusion([log_odds, -log_odds], Y, np.random.default_rng(0))
    assert fusion.slopes[1] == 0


def test_a_label_that_was_not_learned_keeps_its_first_score():
    fusion = Fusion(np.array([0.5, 0.5]), 1.0, np.array([True, False]))
    first, second = np.array([[2.0, -7.0]]), np.array([[4.0, 3.0]])
    assert fusion.combine([first, second]).tolist() == [[4.0, -7.0]]


def test_labels_without_two_sides_do_not_enter_the_calibration():
    Y = sp.csr_array(np.ones((10, 2), dtype=int))
    fusion = fit_fusion([np.zeros((10, 2))], Y, np.random.default_rng(0))
    assert fusion.slopes.tolist() == [1.0]
    assert not fusion.learned.any()


def test_very_many_cells_are_sampled(calibrated, monkeypatch):
    log_odds, Y = calibrated
    whole = fit_fusion([log_odds], Y, np.random.default_rng(0))
    monkeypatch.setattr(fusion_module, "_MAX_CELLS", 3000)
    part = fit_fusion([log_odds], Y, np.random.default_rng(0))
    assert part.slopes[0] == pytest.approx(whole.slopes[0], rel=0.15)
    assert part.slopes[0] != whole.slopes[0]


def test_the_first_learner_may_count_more_than_the_others():
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((400, 3)) < 0.4).astype(int))
    scores = [Y.toarray() * 2 - 1 + rng.normal(size=Y.shape) for _ in range(3)]
    equal = fit_fusion(scores, Y, np.random.default_rng(0))
    fusion = fit_fusion(scores, Y, np.random.default_rng(0), first_weight=2.0)
    np.testing.assert_allclose(fusion.slopes / equal.slopes, [1.5, 0.75, 0.75])
    single = [fit_fusion([one], Y, np.random.default_rng(0)).intercept for one in scores]
    assert fusion.intercept == pytest.approx((2 * single[0] + single[1] + single[2]) / 4)
