"""Thresholds with a handicap behind the best label of a row: equal to loops, with its edges."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from protolabel.decision.thresholds import DecisionRule, apply_thresholds


def naive_decisions(scores, rule):
    """Row by row and label by label, as the rule is told in words."""
    predicted = np.zeros(scores.shape, dtype=int)
    for i, row in enumerate(scores):
        excess = [score - threshold for score, threshold in zip(row, rule.thresholds, strict=True)]
        rivals = [e for e, h in zip(excess, rule.handicaps, strict=True) if h > 0]
        for k, handicap in enumerate(rule.handicaps):
            bar = 0.0
            if handicap > 0:
                bar = handicap * (1 - math.exp(rule.slope * (excess[k] - max(rivals))))
            predicted[i, k] = excess[k] > bar
    return predicted


@pytest.fixture
def scores():
    return np.random.default_rng(0).normal(scale=2.0, size=(200, 6))


@pytest.fixture
def rule():
    rng = np.random.default_rng(1)
    return DecisionRule(rng.normal(size=6), np.array([2.0, 1.0, 0.0, 0.5, 1.0, 3.0]), 0.7)


def test_decisions_equal_the_loops(scores, rule):
    expected = naive_decisions(scores, rule)
    assert_array_equal(rule.decide(scores), expected)
    assert (expected != apply_thresholds(scores, rule.thresholds)).any()


def test_a_score_above_its_bar_is_predicted_and_no_other(scores, rule):
    assert_array_equal(rule.decide(scores), scores > rule.bars(scores))


def test_bars_are_never_below_thresholds_nor_more_than_the_handicap_above(scores, rule):
    raised = rule.bars(scores) - rule.thresholds
    assert (raised >= 0).all()
    assert (raised <= rule.handicaps).all()


def test_the_best_label_of_a_row_needs_its_threshold_alone(scores, rule):
    rivals = rule.handicaps > 0
    excess = np.where(rivals, scores - rule.thresholds, -np.inf)
    rows, best = np.arange(len(scores)), excess.argmax(axis=1)
    assert_allclose(rule.bars(scores)[rows, best], rule.thresholds[best])


def test_a_row_has_a_label_exactly_where_thresholds_alone_give_one(scores, rule):
    plain = apply_thresholds(scores, rule.thresholds)
    assert_array_equal(rule.decide(scores).any(axis=1), plain.any(axis=1))


def test_without_handicaps_thresholds_decide(scores, rule):
    plain = DecisionRule.of(rule.thresholds)
    assert_array_equal(plain.decide(scores), apply_thresholds(scores, rule.thresholds))
    assert_array_equal(plain.bars(scores), np.broadcast_to(rule.thresholds, scores.shape))


def test_a_label_without_a_handicap_neither_leads_nor_is_behind():
    """A label that every row has would otherwise raise the bar of all others."""
    rule = DecisionRule(np.zeros(3), np.array([0.0, 2.0, 2.0]))
    assert rule.decide([[50.0, 1.0, -1.0]]).tolist() == [[1, 1, 0]]
    assert rule.decide([[0.1, 9.0, 1.0]]).tolist() == [[1, 1, 0]]


def test_scores_in_other_units_are_decided_alike(scores, rule):
    scaled = DecisionRule(10 * rule.thresholds, 10 * rule.handicaps, rule.slope / 10)
    assert_array_equal(scaled.decide(10 * scores), rule.decide(scores))


def test_scores_that_were_all_raised_are_decided_alike(scores, rule):
    shifts = np.linspace(-3, 5, len(rule.thresholds))
    raised = rule.shifted(shifts)
    assert (raised.decide(scores + shifts) == rule.decide(scores)).all()
    np.testing.assert_allclose(raised.bars(scores + shifts), rule.bars(scores) + shifts)
    assert (rule.shifted(2.0).decide(scores + 2.0) == rule.decide(scores)).all()


def test_infinite_scores_are_certain():
    rule = DecisionRule(np.zeros(3), np.ones(3))
    scores = np.array([[np.inf, np.inf, 1.1], [-np.inf, -np.inf, -np.inf], [np.inf, 0.9, -1.0]])
    assert rule.decide(scores).tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert np.isfinite(rule.bars(scores)).all()


def test_at_least_one_label_goes_to_rows_without_any():
    rule = DecisionRule(np.array([0.0, 1.0]), np.ones(2))
    assert rule.decide([[-2.0, 0.0]]).tolist() == [[0, 0]]
    assert rule.decide([[-2.0, 0.0]], at_least_one=True).tolist() == [[0, 1]]
    assert rule.decide([[-np.inf, -np.inf]], at_least_one=True).sum() >= 1


def test_one_label_has_no_rival():
    rule = DecisionRule(np.zeros(1), np.full(1, 3.0))
    assert rule.decide([[0.1], [-0.1]]).tolist() == [[1], [0]]


def test_a_new_label_has_the_handicap_of_the_others():
    grown = DecisionRule(np.zeros(2), np.array([0.0, 2.0])).with_label(-1.0)
    assert grown.thresholds.tolist() == [0.0, 0.0, -1.0]
    assert grown.handicaps.tolist() == [0.0, 2.0, 2.0]


def test_plain_labels_have_a_threshold_of_zero_alone(rule):
    is_plain = np.array([True, False, True, False, False, False])
    plain = rule.with_plain_labels(is_plain)
    assert (plain.thresholds[is_plain] == 0).all()
    assert (plain.handicaps[is_plain] == 0).all()
    assert_array_equal(plain.thresholds[~is_plain], rule.thresholds[~is_plain])


def test_scores_of_another_number_of_labels_are_refused(rule):
    with pytest.raises(ValueError, match="6"):
        rule.decide(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="NaN"):
        rule.decide(np.full((2, 6), np.nan))
