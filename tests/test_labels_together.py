"""Sets of labels in a whole fit: what thresholds are tuned on, groups, and what people are told."""

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel import PNMLClassifier, fitting
from protolabel.companions.fusion import fit_fusion
from protolabel.companions.set_prototypes import fit_set_prototypes
from protolabel.decision.tuning import tune_thresholds
from protolabel.inspection import explain
from protolabel.report import explanation_report, model_report
from quick_models import rows_in_quarters

QUICK = {"embedding_dim": 6, "max_epochs": 4, "n_trees": 12, "n_landmarks": 20, "random_state": 0}


@pytest.fixture
def watched(monkeypatch):
    """Learners and pooled log-odds of a fit, and the scores that its thresholds were tuned on."""
    seen = {}

    def pool(learners, Y, rng, groups=None):
        seen["fusion"] = fit_fusion(learners, Y, rng, groups)
        seen["log_odds"], seen["groups"] = seen["fusion"].combine(learners), groups
        return seen["fusion"]

    def tune(rule, scores, *args, **kwargs):
        seen["tuned_on"] = scores
        seen["rule"] = tune_thresholds(rule, scores, *args, **kwargs)
        return seen["rule"]

    monkeypatch.setattr(fitting, "fit_fusion", pool)
    monkeypatch.setattr(fitting, "tune_thresholds", tune)
    return seen


def changed_log_odds(seen, Y, groups=None):
    """Log-odds of training rows with what the sets of other rows change in them."""
    found = fit_set_prototypes(
        seen["log_odds"], sp.csr_array(Y), seen["fusion"].learned, np.random.default_rng(0), groups
    )
    assert found is not None
    return seen["log_odds"] + found[1]


def test_rowwise_thresholds_are_tuned_on_rows_judged_by_the_sets_of_others(watched):
    X, Y = rows_in_quarters()
    fitted = PNMLClassifier(**QUICK).fit(X, Y).model_
    assert fitted.fusion.set_prototypes is not None
    expected = changed_log_odds(watched, Y) - watched["fusion"].shifts
    np.testing.assert_allclose(watched["tuned_on"], expected)
    np.testing.assert_allclose(
        fitted.decision.thresholds, watched["rule"].decision.thresholds + fitted.fusion.shifts
    )


@pytest.mark.parametrize("rule", ["global", "cardinality", "prior_tilted", "per_label"])
def test_other_thresholds_are_tuned_on_the_same_in_order(rule, watched):
    X, Y = rows_in_quarters()
    fitted = PNMLClassifier(thresholds=rule, **QUICK).fit(X, Y).model_
    order = fitted.fusion.shifts - watched["fusion"].shifts
    np.testing.assert_allclose(watched["tuned_on"], changed_log_odds(watched, Y) + order)
    thresholds = watched["rule"].decision.thresholds
    np.testing.assert_array_equal(fitted.decision.thresholds, thresholds)


def test_rows_of_a_group_do_not_vouch_for_each_other(watched):
    X, Y = rows_in_quarters()
    groups = np.arange(160) // 8
    PNMLClassifier(**QUICK).fit(X, Y, groups=groups)
    np.testing.assert_array_equal(watched["groups"], groups)
    together = changed_log_odds(watched, Y, groups) - watched["fusion"].shifts
    alone = changed_log_odds(watched, Y) - watched["fusion"].shifts
    assert np.abs(together - alone).max() > 1e-3
    np.testing.assert_allclose(watched["tuned_on"], together)


def test_scores_of_new_rows_have_the_change_by_all_sets(watched):
    X, Y = rows_in_quarters()
    fitted = PNMLClassifier(**QUICK).fit(X, Y).model_
    scores = fitted.scores(X)
    by_themselves = scores - fitted.fusion.set_prototypes.change(
        fitted.fusion.one_by_one(
            [fitted.scorer.scores(fitted.scaler.transform(X))]
            + [companion.scores(fitted.scaler.transform(X)) for companion in fitted.companions]
        )
    )
    shares = 1 / (1 + np.exp(-scores)), 1 / (1 + np.exp(-by_themselves))
    # One quarter a row: with the sets, probabilities add up to one more nearly.
    errors = [np.abs(part[:, :4].sum(axis=1) - 1).mean() for part in shares]
    assert errors[0] < errors[1]


def test_a_compact_model_learns_from_labels_by_themselves(watched, monkeypatch):
    X, Y = rows_in_quarters()
    taught = []
    train = fitting.train_student

    def spy(data, settings, seed, callbacks, scores, judged):
        taught.append(scores)
        return train(data, settings, seed, callbacks, scores, judged)

    monkeypatch.setattr(fitting, "train_student", spy)
    PNMLClassifier(compact=True, **QUICK).fit(X, Y)
    np.testing.assert_array_equal(taught[0], watched["log_odds"])


def test_reports_name_the_sets_and_the_other_labels():
    X, Y = rows_in_quarters()
    model = PNMLClassifier(**QUICK).fit(X, Y)
    sets = model.model_.fusion.set_prototypes
    assert f"4, weight {sets.weight:.3f}" in model_report(model, X, Y)
    assert "other labels of the row" in explanation_report(explain(model, X[0]))
    plain = PNMLClassifier(**QUICK).fit(X, (X > 0).astype(int))
    assert plain.model_.fusion.set_prototypes is None
    assert "not used" in model_report(plain, X, (X > 0).astype(int))
