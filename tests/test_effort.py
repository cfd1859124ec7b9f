"""The learners beside the networks, and the levels of effort that decide on them."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel import PNMLClassifier, fitting
from protolabel.decision.tuning import tune_thresholds


def test_the_networks_are_pooled_with_companions_at_balanced_effort(labelled):
    X, Y = labelled
    model = PNMLClassifier(max_epochs=2, n_trees=10, random_state=0).fit(X, Y)
    fitted = model.model_
    assert [type(companion).__name__ for companion in fitted.companions] == [
        "KernelRidge",
        "Forest",
    ]
    scaled = fitted.scaler.transform(X)
    networks = PNMLClassifier(max_epochs=2, n_trees=0, n_landmarks=0, random_state=0).fit(X, Y)
    parts = [networks.decision_function(X), *(c.scores(scaled) for c in fitted.companions)]
    expected = sum(slope * part for slope, part in zip(fitted.fusion.slopes, parts, strict=True))
    expected += fitted.fusion.intercept + fitted.fusion.shifts
    assert np.allclose(model.decision_function(X), expected)


@pytest.fixture
def tuned_on(monkeypatch):
    """Scores that thresholds were tuned on, and the rules that were found."""
    seen = []

    def spy(rule, scores, *args, **kwargs):
        found = tune_thresholds(rule, scores, *args, **kwargs)
        seen.append((scores, found.decision))
        return found

    monkeypatch.setattr(fitting, "tune_thresholds", spy)
    return seen


def unequal_labels(n_samples=160):
    """Labels of very different shares, so that prior odds matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 4))
    noisy = X[:, [0, 1, 2, 0]] + rng.normal(size=(n_samples, 4))
    return X, (noisy > [-0.5, 0.5, 1.5, 2.0]).astype(int)


def test_rowwise_thresholds_are_tuned_before_prior_odds_are_taken_back(tuned_on):
    X, Y = unequal_labels()
    fitted = PNMLClassifier(max_epochs=2, n_trees=10, random_state=0).fit(X, Y).model_
    shifts = fitted.fusion.shifts
    assert np.ptp(shifts) > 0.1
    ((scores, decision),) = tuned_on
    np.testing.assert_allclose(fitted.decision.thresholds, decision.thresholds + shifts)
    # Calibrated before the shift: with it, the log-loss is smaller.
    before, after = (np.logaddexp(0, s) - Y * s for s in (scores, scores + shifts))
    assert after.mean() < before.mean()


@pytest.mark.parametrize("rule", ["global", "cardinality", "prior_tilted", "per_label"])
def test_other_thresholds_are_tuned_on_the_scores_as_they_are(rule, tuned_on):
    X, Y = unequal_labels()
    model = PNMLClassifier(max_epochs=2, n_trees=10, thresholds=rule, random_state=0).fit(X, Y)
    assert (model.model_.fusion.shifts != 0).all()
    ((_, decision),) = tuned_on
    np.testing.assert_array_equal(model.thresholds_, decision.thresholds)
    # A tilt along the priors may be none.
    if rule != "prior_tilted":
        alike = np.isclose(model.thresholds_, model.thresholds_[0]).all()
        assert alike == (rule in ("global", "cardinality"))


def test_thresholds_are_tuned_on_a_few_dozen_rows():
    X, Y = unequal_labels(40)
    model = PNMLClassifier(max_epochs=2, n_trees=10, random_state=0).fit(X, Y)
    assert (model.thresholds_ != 0).all()


def test_fixed_thresholds_are_log_odds_of_zero():
    X, Y = unequal_labels(160)
    model = PNMLClassifier(max_epochs=2, n_trees=10, thresholds="fixed", random_state=0).fit(X, Y)
    assert (model.model_.fusion.shifts != 0).all()
    assert (model.thresholds_ == 0).all()
    assert (model.predict(X) == (model.predict_proba(X) > 0.5)).all()


def test_a_new_label_has_the_median_of_the_thresholds_in_scores_of_the_networks():
    X, Y = unequal_labels()
    model = PNMLClassifier(max_epochs=2, n_trees=10, random_state=0).fit(X, Y)
    before, fusion = model.thresholds_.copy(), model.model_.fusion
    assert (fusion.shifts != 0).all()
    model.add_label(X[:9])
    alike = [
        fusion.slopes.sum() * model.thresholds_[-1] + fusion.intercept + shift
        for shift in fusion.shifts
    ]
    assert np.median(np.array(alike) - before) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_array_equal(model.thresholds_[:-1], before)


@pytest.mark.parametrize(
    ("effort", "n_members", "n_companions"), [("fast", 3, 0), ("balanced", 5, 2), ("best", 10, 2)]
)
def test_effort_sets_what_is_left_to_it(labelled, effort, n_members, n_companions):
    X, Y = labelled
    model = PNMLClassifier(effort=effort, max_epochs=1, random_state=0).fit(X, Y)
    assert model.model_.network.n_members == n_members
    assert len(model.model_.companions) == n_companions
    assert (model.n_prototypes_.max() > 1) == (effort != "fast")


def test_sparse_rows_have_prototype_trees_and_half_as_many_of_a_random_forest(labelled):
    X, Y = labelled
    sparse = sp.csr_array(np.maximum(X, 0))
    model = PNMLClassifier(max_epochs=1, n_trees=7, random_state=0).fit(sparse, Y)
    _, forest, prototype_forest = model.model_.companions
    assert len(forest.trees.roots) == 4
    assert len(prototype_forest.prototype_trees.roots) == 7


def test_what_is_set_goes_before_effort(labelled):
    X, Y = labelled
    model = PNMLClassifier(effort="best", n_members=2, n_trees=0, n_landmarks=5, max_epochs=1)
    fitted = model.fit(X, Y).model_
    assert fitted.network.n_members == 2
    assert [companion.landmarks.shape[0] for companion in fitted.companions] == [5]


def test_the_preset_of_the_paper_is_the_one_that_the_records_were_made_with():
    preset = PNMLClassifier.paper().get_params()
    assert (preset["metric_penalty"], preset["correlation_penalty"]) == (5e-3, 1e-4)
    assert (preset["learning_rate"], preset["max_epochs"]) == (1e-3, 40)


def test_the_paper_has_no_companions(labelled):
    assert PNMLClassifier.paper("single", max_epochs=1).fit(*labelled).model_.companions == ()


def test_very_many_labels_have_no_companions(labelled, monkeypatch):
    X, Y = labelled
    monkeypatch.setattr("protolabel.automatic._MAX_LABELS_OF_COMPANIONS", 2)
    assert PNMLClassifier(max_epochs=1, random_state=0).fit(X, Y).model_.companions == ()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"effort": "high"}, "effort='high' is unknown; use one of fast, balanced, best."),
        ({"n_trees": -1}, "n_trees=-1 cannot be used; expected a whole number from 0 on"),
        ({"n_trees": True}, "n_trees=True cannot be used; expected a whole number from 0 on"),
        ({"n_landmarks": 1.5}, "n_landmarks=1.5 cannot be used; expected a whole number"),
        ({"n_members": "many"}, "n_members='many' cannot be used; expected a whole number"),
        ({"cross_fit": "no"}, "cross_fit='no' cannot be used; expected True or False"),
    ],
)
def test_wrong_effort_is_named(labelled, params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        PNMLClassifier(**params).fit(*labelled)
