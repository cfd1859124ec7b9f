"""The rule for labels and rows: equal to brute force, independent of the scale of scores."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, logit

from decision.objective_metrics import OBJECTIVES
from protolabel.decision.calibration import fit_common_line
from protolabel.decision.rowwise import best_f1_thresholds
from protolabel.decision.thresholds import (
    HANDICAPS,
    ROW_DELTAS,
    ROW_GAMMAS,
    DecisionRule,
    tune_prior_tilted,
    tune_rowwise,
)
from protolabel.metrics import accuracy


def random_case(seed, n_samples=80, n_labels=6):
    rng = np.random.default_rng(seed)
    prior = rng.normal(-1.5, 1.0, n_labels)
    Y = (rng.random((n_samples, n_labels)) < 1 / (1 + np.exp(-prior))).astype(int)
    scores = prior + 1.5 * Y + rng.normal(0, 1.3, Y.shape)
    return scores, Y


def one_label_a_row(seed, n_samples=400, n_labels=8):
    """Rows differ in how far all of their scores lie: what one threshold for all cannot follow."""
    rng = np.random.default_rng(seed)
    true = rng.integers(n_labels, size=n_samples)
    Y = np.eye(n_labels, dtype=int)[true]
    scores = rng.normal(size=Y.shape) + 2.5 * Y + 1.5 * rng.normal(size=(n_samples, 1)) - 2
    return scores, Y


def naive_f1_threshold(log_odds):
    """The best of all cuts of one label, its expected hits and predictions summed in a loop."""
    p = expit(np.sort(log_odds)[::-1])
    best = max(2 * p[:n].sum() / (n + p.sum()) for n in range(1, len(p) + 1))
    return logit(max(best / 2, 1e-4))


def test_thresholds_of_the_best_expected_f1_equal_the_loop():
    log_odds = np.random.default_rng(0).normal(-2, 2, size=(60, 5))
    expected = [naive_f1_threshold(column) for column in log_odds.T]
    assert_allclose(best_f1_thresholds(log_odds), expected, atol=1e-5)


def test_the_best_cut_lies_at_half_of_its_f1():
    """Theory: labels above half of the largest F1 are those that the best cut predicts."""
    log_odds = np.random.default_rng(1).normal(-1, 2, size=(3000, 4))
    p = expit(log_odds)
    for label, threshold in enumerate(best_f1_thresholds(log_odds)):
        above = p[log_odds[:, label] > threshold, label]
        f1 = 2 * above.sum() / (len(above) + p[:, label].sum())
        assert f1 / 2 == pytest.approx(expit(threshold), abs=1e-3)


def test_certain_and_hopeless_labels_have_finite_thresholds():
    thresholds = best_f1_thresholds(np.array([[800.0, -800.0], [800.0, -800.0]]))
    assert thresholds[0] == 0
    assert np.isfinite(thresholds).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_reported_value_is_what_the_decisions_reach(objective):
    for seed in range(5):
        scores, Y = random_case(seed)
        rule = tune_rowwise(scores, Y, objective=objective)
        reached = OBJECTIVES[objective](Y, rule.decision.decide(scores))
        assert rule.value == pytest.approx(reached, abs=1e-9)


def naive_average(scores, Y, objective, grid):
    """Every rule of the grid applied and scored, then the weighted mean of their parameters."""
    level, tilted = (
        tune_rowwise(scores, Y, gammas=[gamma], handicaps=[0.0], deltas=[0.0])
        for gamma in (0.0, 1.0)
    )
    tilt, slope = tilted.thresholds - level.thresholds, level.slope

    def rule(gamma, handicap, delta):
        thresholds = level.thresholds + gamma * tilt + delta / slope
        return DecisionRule(thresholds, np.full(Y.shape[1], handicap / slope), slope)

    points = np.array(list(itertools.product(*grid)))
    values = [OBJECTIVES[objective](Y, rule(*point).decide(scores)) for point in points]
    weights = np.exp((np.array(values) - max(values)) * max(len(Y), 100) / 10)
    mean = weights @ points / weights.sum()
    reached = OBJECTIVES[objective](Y, rule(*mean).decide(scores))
    best = int(np.argmax(values))
    if reached >= values[best] - 10 / max(len(Y), 100):
        return mean, reached
    return points[best], values[best]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_average_over_the_grid_equals_the_loops(objective):
    grid = ((0.0, 0.3, 0.7), (0.0, 1.5), (-2.1, -1.1, -0.3, 0.2))
    for seed in range(4):
        scores, Y = one_label_a_row(seed, n_samples=60, n_labels=4)
        Y[::5] |= Y[3]
        rule = tune_rowwise(
            scores, Y, objective=objective, gammas=grid[0], handicaps=grid[1], deltas=grid[2]
        )
        (gamma, handicap, delta), value = naive_average(scores, Y, objective, grid)
        assert_allclose((rule.gamma, rule.handicap, rule.delta), (gamma, handicap, delta))
        assert rule.value == pytest.approx(value, abs=1e-9)


def test_the_tilt_lies_half_way_between_prior_and_f1_thresholds():
    scores, Y = random_case(3)
    line = fit_common_line(scores, sparse.csr_array(Y))
    prior = [np.log((n + 0.5) / (len(Y) - n + 0.5)) for n in Y.sum(axis=0)]
    of_f1 = [naive_f1_threshold(column) for column in (line.slope * scores + line.intercept).T]
    tilt = (np.array(prior) + of_f1) / 2
    level, tilted = (
        tune_rowwise(scores, Y, gammas=[gamma], handicaps=[0.0], deltas=[0.0]).thresholds
        for gamma in (0.0, 1.0)
    )
    found = line.slope * (tilted - level)
    assert_allclose(found - found.mean(), tilt - tilt.mean(), atol=1e-5)


def test_a_mean_of_far_apart_rules_gives_way_to_the_best_one():
    """A low and a high level are good, each for half of the rows, and none in between."""
    scores = np.repeat([[3.0, -3.0, -9.0], [3.0, -9.0, 5.0]], 60, axis=0)
    Y = np.repeat([[0, 1, 0], [0, 0, 1]], 60, axis=0)
    line = fit_common_line(scores, sparse.csr_array(Y))
    deltas = [line.slope * score + line.intercept for score in (-4.0, 4.0)]
    rule = tune_rowwise(
        scores, Y, gammas=[0.0], handicaps=[0.0], deltas=deltas, objective="accuracy"
    )
    assert rule.value == 0.5
    assert rule.delta == pytest.approx(deltas[0])


def test_rows_that_lie_high_or_low_as_a_whole_are_decided_better():
    scores, Y = one_label_a_row(0)
    rule, tilted = tune_rowwise(scores, Y), tune_prior_tilted(scores, Y)
    assert rule.handicap > 0
    assert rule.value > tilted.value + 0.2
    unseen, truth = one_label_a_row(1)
    gain = accuracy(truth, rule.decision.decide(unseen)) - accuracy(
        truth, tilted.decision.decide(unseen)
    )
    assert gain > 0.1


def test_scale_and_origin_of_the_scores_do_not_matter():
    scores, Y = random_case(3)
    rule, moved = tune_rowwise(scores, Y), tune_rowwise(0.01 * scores - 7, Y)
    expected = (rule.gamma, rule.handicap, rule.delta)
    assert_allclose((moved.gamma, moved.handicap, moved.delta), expected, atol=1e-3)
    assert_array_equal(rule.decision.decide(scores), moved.decision.decide(0.01 * scores - 7))


def test_rules_that_do_as_well_are_met_in_the_middle():
    Y = np.eye(3, dtype=int)[[0, 1, 2, 0, 1, 2]]
    rule = tune_rowwise(np.where(Y == 1, 5.0, -5.0), Y, deltas=[-0.5, 0.1, 0.4])
    assert rule.value == 3.0
    assert rule.delta == pytest.approx(0.0)
    assert rule.handicap == pytest.approx(np.mean(HANDICAPS))


def test_labels_that_no_row_or_every_row_has_are_no_rivals():
    scores, Y = one_label_a_row(0)
    constant = np.column_stack([np.full(len(Y), 8.0), scores, np.full(len(Y), -8.0)])
    labels = np.column_stack([np.ones(len(Y), int), Y, np.zeros(len(Y), int)])
    rule = tune_rowwise(constant, labels)
    assert (rule.handicaps[[0, -1]] == 0).all()
    assert (rule.handicaps[1:-1] > 0).all()
    predicted = rule.decision.decide(constant)
    assert predicted[:, 0].all()
    assert not predicted[:, -1].any()


@pytest.mark.parametrize("fill", [0.0, 3.0])
def test_scores_that_tell_nothing_give_a_rule_all_the_same(fill):
    Y = random_case(0)[1]
    rule = tune_rowwise(np.full(Y.shape, fill), Y)
    assert np.isfinite(rule.thresholds).all()
    assert rule.slope == 1.0


def test_scores_against_the_labels_give_a_finite_rule():
    scores, Y = random_case(0)
    rule = tune_rowwise(-scores, Y)
    assert np.isfinite(rule.thresholds).all()
    assert rule.slope > 0


def test_infinite_scores_one_row_and_one_label_are_allowed():
    Y = np.array([[1, 0], [0, 1], [1, 0]])
    rule = tune_rowwise(np.where(Y == 1, np.inf, -np.inf), Y)
    assert_array_equal(rule.decision.decide(np.where(Y == 1, np.inf, -np.inf)), Y)
    assert np.isfinite(tune_rowwise([[0.5, -0.5]], [[1, 0]]).thresholds).all()
    # A row without labels has an accuracy of 0.
    assert tune_rowwise([[1.0], [-1.0]], [[1], [0]]).value == 2.5
    assert tune_rowwise([[1.0], [-1.0]], [[0], [0]]).value == 0.0


def test_sparse_labels_and_repeated_subsets_give_the_same_rule():
    scores, Y = random_case(5, n_samples=300)
    dense, csr = tune_rowwise(scores, Y), tune_rowwise(scores, sparse.csr_matrix(Y))
    assert_array_equal(dense.thresholds, csr.thresholds)
    first, again = (tune_rowwise(scores, Y, max_cells=600) for _ in range(2))
    assert_array_equal(first.thresholds, again.thresholds)


def test_the_grids_are_those_of_the_documentation():
    assert (ROW_GAMMAS[0], ROW_GAMMAS[1], ROW_GAMMAS[-1]) == (0.0, 0.25, 1.0)
    assert HANDICAPS == (0.0, 1.0, 2.0, 3.0)
    assert (ROW_DELTAS[0], ROW_DELTAS[1], ROW_DELTAS[-1]) == (-4.0, -3.75, 2.0)


@pytest.mark.parametrize("grid", ["gammas", "handicaps", "deltas"])
def test_empty_and_infinite_grids_are_refused(grid):
    scores, Y = random_case(0)
    for values in ([], [np.inf]):
        with pytest.raises(ValueError, match=f"{grid} is"):
            tune_rowwise(scores, Y, **{grid: values})


def test_negative_handicaps_are_refused():
    scores, Y = random_case(0)
    with pytest.raises(ValueError, match="handicaps"):
        tune_rowwise(scores, Y, handicaps=[-1.0, 0.0])
