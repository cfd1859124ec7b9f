"""Calibration: the maps, the pull on rare labels, and the effect on held-out rows."""

from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolabel.decision import CalibratedMultilabelClassifier, reliability_diagram
from protolabel.decision._scores import keep_off_the_ends
from protolabel.decision.calibration import BetaMap, fit_calibration, fit_map
from protolabel.metrics import expected_calibration_error, macro_auc, reliability_curve

METHODS = ["sigmoid", "isotonic", "beta"]


@parametrize_with_checks(
    [
        CalibratedMultilabelClassifier(LogisticRegression()),
        CalibratedMultilabelClassifier(KNeighborsClassifier(), method="isotonic"),
        CalibratedMultilabelClassifier(OneVsRestClassifier(LogisticRegression()), method="beta"),
    ]
)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


def draw(slope, intercept, n_samples=20_000, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, n_samples)
    return scores, rng.random(n_samples) < expit(slope * scores + intercept)


def test_the_sigmoid_map_finds_the_truth_it_was_drawn_from():
    found = fit_map(*draw(0.5, -1.0), "sigmoid")
    assert (found.slope, found.intercept) == pytest.approx((0.5, -1.0), abs=0.05)


def test_the_sigmoid_map_is_a_stationary_point_of_the_smoothed_log_loss():
    scores, truth = draw(2.0, 1.0, n_samples=60)
    found = fit_map(scores, truth, "sigmoid")
    n_positive = truth.sum()
    targets = np.where(truth, (n_positive + 1) / (n_positive + 2), 1 / (60 - n_positive + 2))
    residual = found(scores) - targets
    assert abs(residual.mean()) < 1e-4
    assert abs((residual * scores).mean()) < 1e-4


def test_the_scale_of_scores_does_not_matter():
    scores, truth = draw(1.0, 0.3, n_samples=500)
    for method in METHODS[:2]:
        small, large = fit_map(scores / 1e4, truth, method), fit_map(scores * 1e4, truth, method)
        assert_allclose(small(scores / 1e4), large(scores * 1e4), atol=2e-3)


@pytest.mark.parametrize("method", ["sigmoid", "beta"])
@pytest.mark.parametrize("far_out", [1e4, 1e9, 1e200, np.inf])
@pytest.mark.parametrize("sign", [-1, 1])
def test_one_score_far_out_leaves_the_map_of_the_others(far_out, sign, method):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=3000)
    truth = rng.random(3000) < expit(2 * scores - 1)
    expected = fit_map(scores, truth, method)
    # The one is in line with the map, whose weight in it would be that of all others.
    found = fit_map(np.append(scores, sign * far_out), np.append(truth, sign > 0), method)
    points = np.linspace(-2, 2, 9)
    assert_allclose(found(points), expected(points), atol=0.05)


@pytest.mark.parametrize(
    ("location", "spread"), [(-30, 20), (-20, 15), (-5, 3)], ids=["far", "rare", "usual"]
)
def test_the_beta_map_uses_the_few_scores_above_zero(location, spread):
    rng = np.random.default_rng(0)
    scores = rng.normal(location, spread, 20_000)
    odds = 0.3 * scores
    truth = rng.random(20_000) < expit(odds)
    least = np.mean(np.logaddexp(0, odds) - truth * odds)
    found = keep_off_the_ends(fit_map(scores, truth, "beta")(scores))
    loss = -np.mean(np.where(truth, np.log(found), np.log1p(-found)))
    assert loss < 1.25 * least


@pytest.mark.parametrize("share", [0.2, 0.02])
def test_scores_among_many_tiny_ones_are_not_far_out(share):
    rng = np.random.default_rng(0)
    is_large = rng.random(20_000) < share
    scores = rng.normal(size=20_000) * np.where(is_large, 2.0, 1e-3)
    truth = rng.random(20_000) < expit(3 * scores)
    found = fit_map(scores, truth, "sigmoid")
    assert (found.slope, found.intercept) == pytest.approx((3, 0), abs=0.5)


def test_the_isotonic_map_equals_scikit_learns():
    scores, truth = draw(1.0, 0.0, n_samples=300)
    scores = scores.round(1)
    new = np.linspace(-9, 9, 77)
    oracle = IsotonicRegression(out_of_bounds="clip").fit(scores, truth)
    assert_allclose(fit_map(scores, truth, "isotonic")(new), oracle.predict(new), atol=1e-12)


def test_the_beta_map_contains_the_identity_and_finds_it():
    scores = np.linspace(-5, 5, 11)
    assert_allclose(BetaMap(1.0, 1.0, 0.0)(scores), expit(scores))
    scores, truth = draw(1.0, 0.0)
    found = fit_map(scores, truth, "beta")
    grid = np.linspace(-3, 3, 31)
    assert_allclose(found(grid), expit(grid), atol=0.02)


def test_the_beta_map_bends_where_a_sigmoid_cannot():
    """Scores too sure on the positive side only."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, 40_000)
    true = BetaMap(1.0, 0.2, 0.0)(scores)
    truth = rng.random(scores.size) < true
    gaps = {
        method: np.abs(fit_map(scores, truth, method)(scores) - true).mean() for method in METHODS
    }
    assert gaps["beta"] < gaps["sigmoid"] / 2


@pytest.mark.parametrize("method", METHODS)
def test_every_map_rises_even_when_scores_point_the_wrong_way(method):
    scores, truth = draw(-1.0, 0.0, n_samples=200)
    grid = np.linspace(-10, 10, 200)
    assert (np.diff(fit_map(scores, truth, method)(grid)) >= -1e-12).all()


@pytest.mark.parametrize("method", METHODS)
def test_extreme_scores_stay_finite_and_off_the_ends(method):
    rng = np.random.default_rng(0)
    Y = (rng.random((50, 2)) < 0.5).astype(int)
    scores = np.where(Y == 1, 800.0, -800.0)
    calibration = fit_calibration(scores, Y, method=method, shrinkage=0.0)
    found = calibration.probabilities([[np.inf, -np.inf], [1e5, -1e5]])
    assert np.isfinite(logit(found)).all()
    assert (found[:, 0] > found[:, 1]).all()


@pytest.mark.parametrize("method", METHODS)
def test_rare_labels_lean_on_the_common_map(method):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 3))
    Y = (rng.random(scores.shape) < expit(scores)).astype(int)
    Y[:, 2] = 0
    Y[5, 2] = 1
    calibration = fit_calibration(scores, Y, method=method, shrinkage=20.0)
    n_rarer = np.minimum(Y.sum(axis=0), 400 - Y.sum(axis=0))
    assert_allclose(calibration.weights, n_rarer / (n_rarer + 20.0))
    expected = calibration.weights[2] * calibration.maps[2](scores[:, 2])
    expected = expected + (1 - calibration.weights[2]) * calibration.common(scores[:, 2])
    assert_allclose(calibration.probabilities(scores)[:, 2], expected, atol=1e-8)


def test_a_label_without_positives_has_the_common_map():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(100, 2))
    Y = (rng.random(scores.shape) < expit(scores)).astype(int)
    Y[:, 1] = 0
    calibration = fit_calibration(scores, Y, shrinkage=0.0)
    assert calibration.weights[1] == 0
    assert_allclose(calibration.probabilities(scores)[:, 1], calibration.common(scores[:, 1]))


@pytest.fixture(scope="module")
def overconfident():
    """Duplicated features make naive Bayes far too sure; rows to fit on and rows to judge by."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(1500, 4))
    X = np.repeat(base, 4, axis=1) + rng.normal(0, 0.3, size=(1500, 16))
    offsets = np.array([0.0, -1.0, -2.0, -3.5])
    Y = (rng.random(base.shape) < expit(base * 1.2 + offsets)).astype(int)
    return X[:800], Y[:800], X[800:], Y[800:]


@pytest.mark.parametrize("method", METHODS)
def test_calibration_lowers_the_error_on_new_rows_and_keeps_the_order(overconfident, method):
    X, Y, X_new, Y_new = overconfident
    plain = OneVsRestClassifier(GaussianNB()).fit(X, Y)
    before = plain.predict_proba(X_new)
    model = CalibratedMultilabelClassifier(
        OneVsRestClassifier(GaussianNB()), method=method, random_state=0
    ).fit(X, Y)
    after = model.predict_proba(X_new)
    for average in ("micro", "macro"):
        error_before = expected_calibration_error(Y_new, before, average=average)
        error_after = expected_calibration_error(Y_new, after, average=average)
        assert error_after < error_before / 2, average
    assert macro_auc(Y_new, after) == pytest.approx(macro_auc(Y_new, before), abs=0.01)
    assert_array_equal(model.predict(X_new), (after > 0.5).astype(int))


def test_shrinkage_helps_labels_with_a_handful_of_positives():
    """Log-loss of rare labels on new rows, over several draws."""
    losses = {0.0: [], 20.0: []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        scores = rng.normal(-3, 1.5, size=(2000, 12))
        Y = (rng.random(scores.shape) < expit(scores - 1.5)).astype(int)
        fit_rows, new = slice(0, 120), slice(120, None)
        for shrinkage, found in losses.items():
            calibration = fit_calibration(
                scores[fit_rows], Y[fit_rows], method="isotonic", shrinkage=shrinkage
            )
            p = calibration.probabilities(scores[new])
            found.append(-np.where(Y[new] == 1, np.log(p), np.log1p(-p)).mean())
    assert np.mean(losses[20.0]) < np.mean(losses[0.0])


def test_margins_of_a_support_vector_machine_become_probabilities(overconfident):
    X, Y, X_new, Y_new = overconfident
    model = CalibratedMultilabelClassifier(
        OneVsRestClassifier(LinearSVC(random_state=0)), random_state=0
    )
    probabilities = model.fit(X, Y).predict_proba(X_new)
    assert expected_calibration_error(Y_new, probabilities) < 0.05


def test_a_fit_that_is_refused_leaves_the_wrapper_as_it_was(overconfident):
    X, Y = overconfident[:2]
    model = CalibratedMultilabelClassifier(OneVsRestClassifier(GaussianNB()), random_state=0)
    before = model.fit(X, Y).predict_proba(X)
    with pytest.raises(ValueError, match="n_splits is 1"):
        model.set_params(cv=1).fit(X[:, :1], Y)
    assert_array_equal(model.predict_proba(X), before)


def test_a_one_dimensional_target_gets_probabilities_that_sum_to_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.array(["a", "b", "c"])[X.argmax(axis=1)]
    model = CalibratedMultilabelClassifier(LogisticRegression(), random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.predict(X) == y).mean() > 0.8


def test_the_diagram_is_well_formed_and_states_the_error():
    rng = np.random.default_rng(0)
    probabilities = rng.random((300, 3))
    Y = (rng.random(probabilities.shape) < probabilities).astype(int)
    curve = reliability_curve(Y, probabilities, n_bins=10)
    drawing = reliability_diagram({"ours <b>": curve, "theirs": curve}, title="A & B")
    root = ElementTree.fromstring(drawing)
    svg = "{http://www.w3.org/2000/svg}"
    assert len(list(root.iter(svg + "circle"))) == 20
    assert len(list(root.iter(svg + "polyline"))) == 2
    texts = [element.text for element in root.iter(svg + "text")]
    assert f"ours <b> (calibration error {curve.error:.3f})" in texts
    first = next(root.iter(svg + "circle")).attrib
    assert float(first["cx"]) == pytest.approx(44 + 320 * curve.predicted[0], abs=0.06)
    assert float(first["cy"]) == pytest.approx(44 + 320 * (1 - curve.observed[0]), abs=0.06)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_calibration([[0.0]], [[1]], method="spline"), "method is 'spline', expected"),
        (lambda: fit_calibration([[0.0]], [[1]], shrinkage=-1), "shrinkage is -1, expected"),
        (
            lambda: fit_calibration([[0.0], [1.0]], [[0], [1]]).probabilities([[0.0, 1.0]]),
            "scores has 2 labels but the calibration was fitted on 1",
        ),
        (lambda: reliability_diagram({}), "got 0 curves, expected 1 to 6"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("method", METHODS)
def test_an_infinite_score_has_the_same_probability_in_any_company(method):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(60, 2))
    found = fit_calibration(scores, (scores > 0.3).astype(int), method=method)
    alone = found.probabilities([[np.inf, -np.inf]])
    beside = found.probabilities([[np.inf, -np.inf], [50.0, -50.0]])
    assert np.array_equal(alone[0], beside[0])
    assert (beside[0] >= beside[1]).tolist()[0]
