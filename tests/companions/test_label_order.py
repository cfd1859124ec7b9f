"""The order of the labels in a row: constants by plain loops, and what they leave alone."""

from dataclasses import replace

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
    """Labels 0 to 3 come together, 4 alone, others seldom; features say nothing about them."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, 10)) < 0.02).astype(int)
    together = rng.random(n_rows) < 0.6
    Y[together, :4] = rng.random((together.sum(), 4)) < 0.9
    Y[~together, 4] = 1
    shares = (Y.sum(0) + 0.5) / (n_rows + 1)
    log_odds = np.log(shares / (1 - shares))
    return log_odds + rng.normal(0, 0.3, Y.shape), Y


def shifts_of(log_odds, Y):
    return order_shifts(log_odds, sp.csr_array(Y))


def literal_shifts(log_odds, Y):
    weights = []
    for row in Y:
        fewer = min(row.sum(), len(row) - row.sum())
        weights.append(1.0 if fewer == 0 else 1 / np.sqrt(fewer))
    mean = sum(weights) / len(weights)

    def loss(shift, label):
        total = 10 * shift**2 / 2
        for weight, score, present in zip(weights, log_odds[:, label], Y[:, label], strict=True):
            total += weight / mean * (np.logaddexp(0, score + shift) - present * (score + shift))
        return total

    found = np.array(
        [minimize_scalar(loss, args=(k,), options={"xtol": 1e-10}).x for k in range(Y.shape[1])]
    )

    def loss_of_all(level):
        moved = log_odds + found + level
        return 10 * level**2 / 2 + np.sum(np.logaddexp(0, moved) - Y * moved)

    return found + minimize_scalar(loss_of_all, options={"xtol": 1e-10}).x


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


def test_rows_with_all_labels_but_one_count_as_much_as_rows_with_one():
    rng = np.random.default_rng(0)
    crowd = np.arange(1000) % 2 == 0
    Y = np.column_stack([*[crowd] * 10, ~crowd]).astype(int)
    shifts = shifts_of(rng.normal(0, 0.1, Y.shape), Y)
    np.testing.assert_allclose(shifts, 0, atol=0.1)


def test_nearly_as_many_labels_are_expected_as_are_there():
    log_odds, Y = crowd_and_loner()
    moved = expit(log_odds + 1 + shifts_of(log_odds + 1, Y)).sum()
    assert moved == pytest.approx(Y.sum(), rel=0.01)


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


def test_of_very_many_cells_rows_from_the_first_to_the_last_are_used(monkeypatch):
    log_odds, Y = crowd_and_loner()
    order = np.argsort(Y[:, 0])  # Rows without the first label come first.
    log_odds, Y = log_odds[order], Y[order]
    whole = shifts_of(log_odds, Y)
    monkeypatch.setattr(label_order, "_MAX_CELLS", 10 * 1000)
    some = shifts_of(log_odds, Y)
    assert (some != whole).all()
    np.testing.assert_allclose(some, whole, atol=0.25)


@pytest.fixture
def pooled():
    """Scores of two learners, labels, and the learners as one, with prior odds taken back."""
    scores, Y = crowd_and_loner()
    noise = np.random.default_rng(2).normal(0, 1, Y.shape)
    learners = [scores + 2 * Y, scores + 2 * Y + noise]
    S = sp.csr_array(Y)
    plain = fit_fusion(learners, S, np.random.default_rng(0))
    assert np.abs(plain.shifts).max() > 0.1
    return learners, S, plain


def test_a_fusion_in_order_adds_the_constants_of_its_own_log_odds(pooled):
    learners, Y, plain = pooled
    log_odds = plain.combine(learners)
    ordered = plain.in_order(log_odds, Y)
    moved = order_shifts(log_odds, Y)
    np.testing.assert_allclose(ordered.shifts, plain.shifts + moved)
    np.testing.assert_allclose(ordered.combine(learners), log_odds + moved)


@pytest.mark.parametrize("value", [0, 1])
def test_labels_of_no_row_or_of_every_row_neither_move_nor_count(pooled, value):
    learners, Y, plain = pooled
    more = sp.csr_array(np.column_stack([Y.toarray(), np.full((Y.shape[0], 50), value)]))
    unsure = np.zeros((Y.shape[0], 50))
    wide = replace(
        plain,
        learned=np.append(plain.learned, np.zeros(50, dtype=bool)),
        shifts=np.append(plain.shifts, np.zeros(50)),
    )
    log_odds = plain.combine(learners)
    ordered = wide.in_order(np.column_stack([log_odds, unsure]), more)
    np.testing.assert_allclose(ordered.shifts[:-50], plain.in_order(log_odds, Y).shifts)
    assert (ordered.shifts[-50:] == 0).all()


def test_a_fusion_that_learned_no_label_stays_as_it_is():
    fusion = Fusion(np.array([1.0]), 0.0, np.zeros(2, dtype=bool))
    assert fusion.in_order(np.zeros((3, 2)), sp.csr_array(np.zeros((3, 2), dtype=int))) is fusion
