"""Global, per-label and cardinality-matched thresholds: exact on small data, shrunk when rare."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from decision.objective_metrics import OBJECTIVES
from protolabel.decision import objectives
from protolabel.decision.objectives import score_levels
from protolabel.decision.thresholds import (
    apply_thresholds,
    match_cardinality,
    tune_global,
    tune_per_label,
)
from protolabel.decision.tuning import tune_thresholds


def random_case(seed, n_samples=50, n_labels=5, decimals=2):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < rng.uniform(0.05, 0.5, n_labels)).astype(int)
    scores = rng.normal(size=Y.shape) + 1.5 * Y + rng.normal(size=n_labels)
    return scores.round(decimals), Y


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_levels_are_scored_as_their_predictions_would_be(objective):
    rng = np.random.default_rng(0)
    for seed in range(10):
        scores, Y = random_case(seed, decimals=1)
        levels = np.sort(rng.normal(size=(5, 9)).round(1), axis=1)
        values = score_levels(scores, sparse.csr_array(Y), levels, objective)
        for level, value in enumerate(values):
            predicted = (scores > levels[:, level]).astype(int)
            assert value == pytest.approx(OBJECTIVES[objective](Y, predicted), abs=1e-12)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_global_threshold_is_the_best_one_when_all_are_tried(objective):
    for seed in range(3):
        scores, Y = random_case(seed)
        rule = tune_global(scores, Y, objective=objective, n_candidates=2000)
        best = max(
            OBJECTIVES[objective](Y, (scores > threshold).astype(int))
            for threshold in np.unique(scores)
        )
        assert rule.value == pytest.approx(best, abs=1e-12)
        reached = OBJECTIVES[objective](Y, apply_thresholds(scores, rule.thresholds))
        assert reached == pytest.approx(rule.value)


def test_the_global_threshold_never_does_worse_than_zero():
    for seed in range(20):
        scores, Y = random_case(seed)
        rule = tune_global(scores, Y, n_candidates=4)
        assert rule.value >= OBJECTIVES["balanced"](Y, (scores > 0).astype(int)) - 1e-12


def best_per_label_by_enumeration(scores, Y, objective):
    cuts = [np.r_[np.unique(column) - 1e-9, column.max()] for column in scores.T]
    return max(
        OBJECTIVES[objective](Y, (scores > np.array(thresholds)).astype(int))
        for thresholds in itertools.product(*cuts)
    )


def test_free_label_thresholds_maximise_macro_f1_exactly():
    for seed in range(10):
        scores, Y = random_case(seed, n_samples=9, n_labels=2)
        rule = tune_per_label(scores, Y, objective="macro_f1", shrinkage=0.0)
        expected = best_per_label_by_enumeration(scores, Y, "macro_f1")
        assert rule.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("objective", ["accuracy", "micro_f1", "balanced"])
def test_no_single_label_threshold_can_improve_the_result(objective):
    for seed in range(3):
        scores, Y = random_case(seed, n_samples=30, n_labels=4)
        rule = tune_per_label(scores, Y, objective=objective, shrinkage=0.0, max_passes=50)
        for label in range(4):
            column = scores[:, label]
            for threshold in np.r_[np.unique(column) - 1e-9, column.max()]:
                trial = rule.thresholds.copy()
                trial[label] = threshold
                value = OBJECTIVES[objective](Y, (scores > trial).astype(int))
                assert value <= rule.value + 1e-9


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_free_label_thresholds_are_at_least_as_good_as_the_global_one(objective):
    for seed in range(6):
        scores, Y = random_case(seed)
        free = tune_per_label(scores, Y, objective=objective, shrinkage=0.0)
        assert free.value >= tune_global(scores, Y, objective=objective).value - 1e-12
        reached = OBJECTIVES[objective](Y, apply_thresholds(scores, free.thresholds))
        assert reached == pytest.approx(free.value)


def test_rare_labels_are_drawn_towards_the_global_threshold():
    scores, Y = random_case(0, n_samples=300)
    Y[:, 0] = 0
    Y[7, 0] = 1
    scores[7, 0] = -9.0  # one positive with an extreme score must not decide
    free = tune_per_label(scores, Y, objective="macro_f1", shrinkage=0.0)
    shrunk = tune_per_label(scores, Y, objective="macro_f1", shrinkage=100.0)
    common = tune_global(scores, Y, objective="macro_f1").thresholds
    n_positive = Y.sum(axis=0)
    weight = n_positive / (n_positive + 100.0)
    assert_allclose(shrunk.thresholds, weight * free.thresholds + (1 - weight) * common)
    assert abs(shrunk.thresholds[0] - common[0]) < abs(free.thresholds[0] - common[0]) / 50


def test_labels_without_positives_take_the_global_threshold():
    scores, Y = random_case(1)
    Y[:, 3] = 0
    rule = tune_per_label(scores, Y, shrinkage=0.0)
    assert rule.thresholds[3] == tune_global(scores, Y).thresholds[3]


def test_minus_infinite_scores_leave_every_threshold_finite():
    scores, Y = random_case(2)
    scores[:, 1] = -np.inf
    scores[3, 2] = np.inf
    for rule in (tune_global(scores, Y), tune_per_label(scores, Y), match_cardinality(scores, 1.0)):
        assert np.isfinite(rule.thresholds).all()


def test_the_matched_cardinality_is_reached_up_to_one_cell():
    scores, Y = random_case(3, decimals=9)
    rule = match_cardinality(scores, Y.sum() / len(Y))
    predicted = apply_thresholds(scores, rule.thresholds)
    assert predicted.sum() == Y.sum()
    assert rule.value == pytest.approx(predicted.sum() / len(Y))


def test_tied_scores_are_cut_together():
    rule = match_cardinality(np.array([[1.0, 1.0], [1.0, 0.0]]), 0.6)
    assert apply_thresholds([[1.0, 1.0], [1.0, 0.0]], rule.thresholds).sum() == 0
    everything = match_cardinality(np.ones((3, 2)), 2.0)
    assert apply_thresholds(np.ones((3, 2)), everything.thresholds).all()


def test_neighbouring_floats_are_still_separated():
    low = 1.0
    high = np.nextafter(low, 2.0)
    rule = match_cardinality(np.array([[low], [high]]), 0.5)
    assert_array_equal(apply_thresholds([[low], [high]], rule.thresholds), [[0], [1]])


def test_at_least_one_adds_the_label_closest_to_its_threshold():
    scores = np.array([[-1.0, -2.0, -3.0], [5.0, -1.0, -1.0]])
    thresholds = np.array([1.0, -1.9, 0.0])
    assert_array_equal(apply_thresholds(scores, thresholds), [[0, 0, 0], [1, 1, 0]])
    filled = apply_thresholds(scores, thresholds, at_least_one=True)
    assert_array_equal(filled, [[0, 1, 0], [1, 1, 0]])


def test_large_input_is_subsampled_with_a_seed():
    scores, Y = random_case(4, n_samples=400)
    for tune in (tune_global, tune_per_label):
        first, again = (
            tune(scores, Y, max_cells=500, rng=np.random.default_rng(3)) for _ in range(2)
        )
        assert_array_equal(first.thresholds, again.thresholds)
        assert first.value != tune(scores, Y).value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, Y: tune_global(s, Y, objective="f1"), "objective is 'f1', expected one of"),
        (lambda s, Y: tune_per_label(s, Y, shrinkage=-1), "expected shrinkage >= 0"),
        (lambda s, Y: match_cardinality(s, 6.0), "cardinality is 6.0, expected between 0 and 5"),
        (lambda s, Y: apply_thresholds(s, np.zeros((2, 50, 5))), r"thresholds has shape \(2, 50"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call(*random_case(0))


RULES = ("global", "per_label", "rowwise")


@pytest.mark.parametrize("rule", [*RULES, "cardinality"])
def test_every_rule_takes_labels_as_lists(rule):
    scores, Y = [[2.0, -1.0], [-1.5, 1.0], [1.0, -2.0]], [[1, 0], [0, 1], [1, 0]]
    assert tune_thresholds(rule, scores, Y).thresholds.shape == (2,)


@pytest.mark.parametrize("objective", ["balanced", "accuracy"])
def test_rows_are_counted_alike_in_any_parts(monkeypatch, objective):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 4))
    Y = (scores + rng.normal(size=(50, 4)) > 0.5).astype(int)
    whole = [tune_thresholds(rule, scores, Y, objective=objective) for rule in RULES]
    monkeypatch.setattr(objectives, "_MAX_COUNTS", 300)
    parts = [tune_thresholds(rule, scores, Y, objective=objective) for rule in RULES]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.thresholds, other.thresholds)
        assert one.value == pytest.approx(other.value)
