"""The order of the labels in a row: constants by plain loops, and what they leave alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import expit

from protolabel.companions import label_order
from protolabel.companions.fusion import Fusion, fit_fusion
from protolabel.companions.label_order import order_shifts
from protolabel.metrics import ranking_loss


def crowd_and_loner(n_rows=2000, seed=0):
    """Labels 0 to 3 come together, label 4 alone; features say nothing about any of them."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n_rows, 6), dtype=int)
    together = rng.random(n_rows) < 0.6
    Y[together, :4] = rng.random((together.sum(), 4)) < 0.9
    Y[~together, 4] = 1
    log_odds = np.log(Y.mean(0) + 1e-3) - np.log(1 - Y.mean(0) + 1e-3)
    return log_odds + rng.normal(0, 0.3, Y.shape), Y


def shifts_of(log_odds, Y):
    return order_shifts(log_odds, sp.csr_array(Y), np.random.default_rng(0))


def literal_shifts(log_odds, Y):
    weights = [1.0 if not row.any() else 1 / np.sqrt(row.sum()) for row in Y]
    mean = sum(weights) / len(weights)

    def loss(shift, label):
        total = 10 * shift**2 / 2
        for weight, score, present in zip(weights, log_odds[:, label], Y[:, label], strict=True):
            total += weight / mean * (np.logaddexp(0, score + shift) - present * (score + shift))
        return total

    found = np.array(
        [minimize_scalar(loss, args=(k,), options={"xtol": 1e-10}).x for k in range(Y.shape[1])]
    )
    level = minimize_scalar(lambda c: (expit(log_odds + found + c).sum() - Y.sum()) ** 2).x
    return found + level


def test_constants_are_those_of_plain_loops():
    rng = np.random.default_rng(1)
    log_odds = rng.normal(-1, 2, (60, 5))
    Y = (rng.random((60, 5)) < expit(log_odds + np.array([0, 1, -1, 0, 2]))).astype(int)
    np.testing.assert_allclose(shifts_of(log_odds, Y), literal_shifts(log_odds, Y), atol=1e-4)


def test_labels_of_crowded_rows_give_way_to_those_that_come_alone():
    log_odds, Y = crowd_and_loner()
    shifts = shifts_of(log_odds, Y)
    assert shifts[4] > 0 > shifts[:4].max()
    unseen, truth = crowd_and_loner(seed=1)
    assert ranking_loss(truth, unseen + shifts) < ranking_loss(truth, unseen) - 0.01


def test_as_many_labels_are_expected_as_are_there():
    log_odds, Y = crowd_and_loner()
    assert expit(log_odds + shifts_of(log_odds, Y)).sum() == pytest.approx(Y.sum(), rel=1e-6)


def test_probabilities_hold_where_most_rows_have_no_label():
    rng = np.random.default_rng(0)
    Y = np.zeros((4000, 4), dtype=int)
    some = rng.random(4000) < 0.1
    Y[some] = rng.random((some.sum(), 4)) < [0.9, 0.5, 0.3, 0.05]
    shares = Y.mean(0)
    log_odds = np.tile(np.log(shares / (1 - shares)), (4000, 1))
    moved = expit(log_odds + shifts_of(log_odds, Y)).mean(0)
    np.testing.assert_allclose(moved / shares, 1, atol=0.2)


def test_few_rows_move_little():
    log_odds, Y = crowd_and_loner()
    many, few = shifts_of(log_odds, Y), shifts_of(log_odds[:6], Y[:6])
    assert np.ptp(few) < np.ptp(many) / 2


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_scores_of_any_size_give_finite_constants(scale):
    log_odds, Y = crowd_and_loner(50)
    assert np.isfinite(shifts_of(scale * log_odds, Y)).all()


@pytest.mark.parametrize("value", [0, 1])
def test_rows_without_labels_or_with_all_of_them(value):
    shifts = shifts_of(np.zeros((20, 3)), np.full((20, 3), value))
    assert np.isfinite(shifts).all()
    assert np.ptp(shifts) == pytest.approx(0.0, abs=1e-9)


def test_of_very_many_cells_some_rows_are_drawn(monkeypatch):
    log_odds, Y = crowd_and_loner()
    whole = shifts_of(log_odds, Y)
    monkeypatch.setattr(label_order, "_MAX_CELLS", 6 * 1000)
    drawn = shifts_of(log_odds, Y)
    assert (drawn != whole).all()
    np.testing.assert_allclose(drawn, whole, atol=0.2)


def test_a_fusion_in_order_has_the_same_scores_before_shifts():
    log_odds, Y = crowd_and_loner()
    rng, S = np.random.default_rng(0), sp.csr_array(Y)
    plain = fit_fusion([log_odds, log_odds], S, rng)
    ordered = plain.in_order([log_odds, log_odds], S, rng)
    scores = [log_odds, log_odds]
    np.testing.assert_array_equal(ordered.before_shifts(scores), plain.before_shifts(scores))
    moved = ordered.combine(scores) - plain.combine(scores)
    assert np.ptp(moved, axis=0).max() < 1e-9
    assert moved[0, 4] > moved[0, :4].max()


def test_labels_that_were_not_learned_stay_where_they_are():
    log_odds, Y = crowd_and_loner()
    assert not Y[:, 5].any()
    learned = np.arange(6) < 5
    ordered = Fusion(np.array([1.0]), 0.0, learned).in_order(
        [log_odds], sp.csr_array(Y), np.random.default_rng(0)
    )
    assert ordered.shifts[5] == 0
    assert (ordered.shifts[:5] != 0).all()
