"""The prior-tilted rule: equal to brute force, with the stated ties and subsample."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from decision.objective_metrics import OBJECTIVES
from protolabel.decision.thresholds import DELTAS, GAMMAS, log_prior_odds, tune_prior_tilted


def brute_force(scores, Y, objective, gammas=GAMMAS, deltas=DELTAS):
    """Predict at each grid point and keep the best in the order of the tie rule."""
    prior = np.log((Y.sum(axis=0) + 0.5) / (len(Y) - Y.sum(axis=0) + 0.5))
    best = None
    for gamma in gammas:
        for delta in sorted(deltas, key=lambda d: (abs(d), d)):
            thresholds = gamma * (prior - prior.mean()) + delta
            value = OBJECTIVES[objective](Y, (scores > thresholds).astype(int))
            if best is None or value > best[0] + 1e-12:
                best = (value, gamma, delta, thresholds)
    return best


def random_case(seed, n_samples=60, n_labels=7, decimals=None):
    rng = np.random.default_rng(seed)
    prior = rng.normal(-1.5, 1.0, n_labels)
    Y = (rng.random((n_samples, n_labels)) < 1 / (1 + np.exp(-prior))).astype(int)
    scores = prior + 1.5 * Y + rng.normal(0, 1.3, Y.shape)
    return (scores if decimals is None else scores.round(decimals)), Y


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_grid_search_equals_brute_force(objective):
    for seed in range(3):
        scores, Y = random_case(seed)
        rule = tune_prior_tilted(scores, Y, objective=objective)
        value, gamma, delta, thresholds = brute_force(scores, Y, objective)
        assert (rule.gamma, rule.delta) == (gamma, delta)
        assert rule.value == pytest.approx(value, abs=1e-12)
        assert_allclose(rule.thresholds, thresholds)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_scores_that_lie_exactly_on_a_threshold_are_not_predicted(objective):
    """Rounded scores meet grid points; gamma 0 keeps the comparison exact in brute force too."""
    for seed in range(6):
        scores, Y = random_case(seed, decimals=0)
        deltas = (-2.0, -1.0, 0.0, 1.0)
        rule = tune_prior_tilted(scores, Y, objective=objective, gammas=[0.0], deltas=deltas)
        value, gamma, delta, _ = brute_force(scores, Y, objective, [0.0], deltas)
        assert (rule.gamma, rule.delta) == (gamma, delta)
        assert rule.value == pytest.approx(value, abs=1e-12)


def test_the_reported_value_is_what_the_thresholds_reach():
    scores, Y = random_case(11)
    for objective, metric in OBJECTIVES.items():
        rule = tune_prior_tilted(scores, Y, objective=objective)
        assert rule.value == pytest.approx(metric(Y, (scores > rule.thresholds).astype(int)))


def test_zero_gamma_and_zero_delta_reproduce_one_half():
    scores, Y = random_case(3)
    rule = tune_prior_tilted(scores, Y, gammas=[0.0], deltas=[0.0])
    assert_array_equal(rule.thresholds, np.zeros(Y.shape[1]))
    assert_array_equal(scores > rule.thresholds, 1 / (1 + np.exp(-scores)) > 0.5)


def test_gamma_one_takes_the_prior_out_again():
    scores, Y = random_case(4)
    rule = tune_prior_tilted(scores, Y, gammas=[1.0], deltas=[0.0])
    prior = log_prior_odds(Y)
    assert_allclose(rule.thresholds, prior - prior.mean())


def test_ties_go_to_the_smallest_gamma_then_the_delta_closest_to_zero():
    Y = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    perfect = np.where(Y == 1, 10.0, -10.0)
    rule = tune_prior_tilted(perfect, Y, deltas=[-2.0, -0.4, 0.4, 1.0])
    assert (rule.gamma, rule.delta) == (0.0, -0.4)


def test_a_smaller_gamma_is_preferred_to_a_delta_closer_to_zero():
    """Both gamma 0 with delta -0.4 and gamma 0.5 with delta 0 are perfect here."""
    Y = np.column_stack([np.arange(20) < 18, np.arange(20) >= 16]).astype(int)
    scores = np.where(Y == 1, [3.0, -0.2], -2.5)
    for gammas, deltas in (([0.0], [-0.4]), ([0.5], [0.0])):
        assert tune_prior_tilted(scores, Y, gammas=gammas, deltas=deltas).value == 3.0
    rule = tune_prior_tilted(scores, Y, gammas=[0.0, 0.5], deltas=[-0.4, 0.0])
    assert (rule.gamma, rule.delta) == (0.0, -0.4)


def test_the_grid_has_the_published_points():
    assert len(GAMMAS) * len(DELTAS) == 286
    assert (GAMMAS[0], GAMMAS[1], GAMMAS[-1]) == (0.0, 0.1, 1.0)
    assert (DELTAS[0], DELTAS[1], DELTAS[-1]) == (-3.0, -2.8, 2.0)
    assert 0.0 in DELTAS


def test_rows_are_subsampled_above_the_cell_budget_but_priors_are_not():
    scores, Y = random_case(5, n_samples=400)
    rule = tune_prior_tilted(
        scores, Y, gammas=[1.0], deltas=[0.0], max_cells=700, rng=np.random.default_rng(2)
    )
    prior = log_prior_odds(Y)
    assert_allclose(rule.thresholds, prior - prior.mean())
    rows = np.sort(np.random.default_rng(2).choice(400, size=100, replace=False))
    predicted = (scores[rows] > rule.thresholds).astype(int)
    assert rule.value == pytest.approx(OBJECTIVES["balanced"](Y[rows], predicted))


def test_the_subsample_is_the_same_without_a_generator():
    scores, Y = random_case(6, n_samples=300)
    first, again = (tune_prior_tilted(scores, Y, max_cells=500) for _ in range(2))
    assert (first.gamma, first.delta, first.value) == (again.gamma, again.delta, again.value)


def test_sparse_labels_give_the_same_rule():
    scores, Y = random_case(7)
    dense, csr = tune_prior_tilted(scores, Y), tune_prior_tilted(scores, sparse.csr_matrix(Y))
    assert dense.value == csr.value
    assert_array_equal(dense.thresholds, csr.thresholds)


def test_a_label_switched_off_by_minus_infinity_is_never_predicted():
    scores, Y = random_case(8)
    scores[:, 2] = -np.inf
    rule = tune_prior_tilted(scores, Y)
    assert not (scores[:, 2] > rule.thresholds[2]).any()
    assert np.isfinite(rule.thresholds).all()


def test_labels_without_positives_and_rows_without_labels_are_allowed():
    scores, Y = random_case(9)
    Y[:, 0] = 0
    Y[:5] = 0
    rule = tune_prior_tilted(scores, Y)
    assert rule.value == pytest.approx(brute_force(scores, Y, "balanced")[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objective": "f1"}, "objective is 'f1', expected one of 'balanced', 'accuracy'"),
        ({"gammas": []}, r"gammas is \[\], expected at least one finite number"),
        ({"Y": np.ones((3, 2))}, r"Y has shape \(3, 2\) but scores has shape \(60, 7\)"),
        ({"Y": 2 * np.ones((60, 7))}, r"Y contains 2.0, expected only 0 and 1"),
        ({"scores": np.full((60, 7), np.nan)}, r"scores contains 420 NaN value\(s\)"),
        ({"scores": np.ones(7)}, r"scores has shape \(7,\), expected \(n_samples, n_labels\)"),
    ],
)
def test_bad_input_is_refused_with_a_reason(change, message):
    scores, Y = random_case(0)
    arguments = {"scores": scores, "Y": Y} | change
    with pytest.raises(ValueError, match=message):
        tune_prior_tilted(**arguments)
