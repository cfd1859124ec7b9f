"""Thresholds, early stopping and the other options around the network."""

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.fitting import MIN_ROWS_TO_TUNE_THRESHOLDS
from quick_models import quick, quick_paper


def test_thresholds_are_tuned_on_out_of_fold_scores(labelled):
    X, Y = labelled
    rare = Y * (np.random.default_rng(0).random(Y.shape) < 0.3)
    tuned = quick(max_epochs=10).fit(X, rare)
    fixed = quick(max_epochs=10, thresholds="fixed").fit(X, rare)
    assert np.array_equal(tuned.decision_function(X), fixed.decision_function(X))
    assert not np.allclose(tuned.thresholds_, 0)
    assert np.array_equal(fixed.thresholds_, np.zeros(3))
    assert np.array_equal(tuned.predict(X), tuned.decision_.decide(tuned.decision_function(X)))
    assert (tuned.decision_function(X) > tuned.thresholds_)[tuned.predict(X) == 1].all()


def test_labels_that_no_row_or_every_row_has_keep_their_constant_decision(labelled):
    X, Y = labelled
    labels = np.column_stack([np.zeros(len(Y), int), Y, np.ones(len(Y), int)])
    model = quick(max_epochs=10).fit(X, labels)
    assert (model.decision_.handicaps[[0, -1]] == 0).all()
    assert (model.thresholds_[[0, -1]] == 0).all()
    predicted = model.predict(X)
    assert not predicted[:, 0].any()
    assert predicted[:, -1].all()


@pytest.mark.parametrize("rule", ["prior_tilted", "global", "per_label", "cardinality"])
def test_every_threshold_rule_can_be_chosen(labelled, rule):
    X, Y = labelled
    model = quick(max_epochs=10, thresholds=rule).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.75
    assert not model.decision_.handicaps.any()
    if rule in ("global", "cardinality"):
        assert np.unique(model.thresholds_).size == 1


def test_at_least_one_label_is_given_where_asked(labelled):
    X, Y = labelled
    model = quick(thresholds="fixed").fit(X, Y)
    assert (model.predict(X).sum(1) == 0).any()
    assert (model.set_params(at_least_one=True).predict(X).sum(1) >= 1).all()


@pytest.mark.parametrize(
    "options", [{"cross_fit": False}, {"n_members": 1}, {"thresholds": "fixed"}]
)
def test_without_out_of_fold_scores_thresholds_stay_at_one_half(labelled, options):
    X, Y = labelled
    model = quick(**options).fit(X, Y)
    assert np.array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_few_rows_keep_thresholds_at_one_half(labelled):
    X, Y = labelled
    n = MIN_ROWS_TO_TUNE_THRESHOLDS - 1
    assert np.array_equal(quick().fit(X[:n], Y[:n]).thresholds_, np.zeros(3))


def test_early_stopping_keeps_the_best_epoch(labelled):
    X, Y = labelled
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 2, size=Y.shape)
    model = PNMLClassifier.paper(
        "single", early_stopping=True, n_iter_no_change=2, max_epochs=60, random_state=0
    ).fit(X, noise)
    losses = [record.validation_loss for record in model.history_]
    assert len(losses) < 60
    assert np.argmin(losses) == len(losses) - 3
    assert all(0 <= record.validation_accuracy <= 1 for record in model.history_)


def test_verbose_training_logs_every_epoch(labelled, caplog):
    X, Y = labelled
    with caplog.at_level("INFO", logger="protolabel"):
        quick_paper(verbose=True).fit(X, Y)
    assert [m.split(" loss")[0] for m in caplog.messages] == ["epoch 0", "epoch 1", "epoch 2"]


@pytest.mark.parametrize(
    "options",
    [
        {"prototype_update": "step", "prototypes": "multiple"},
        {"cluster_variance": "trainable", "prototypes": "multiple"},
        {"cluster_variance": "within", "prototypes": "multiple"},
        {"cluster_variance": 5.0, "prototypes": "multiple"},
        {"n_clustering": 3, "prototypes": "multiple"},
        {"positive_rate": 0.5, "negative_rate": 0.1, "prototypes": "multiple"},
        {"positive_rate": 0.5, "negative_rate": 0.1, "prototypes": "single"},
        {"support_size": 50, "prototypes": "multiple"},
        {"leave_one_out": True, "prototypes": "single"},
        {"squared_distance": True, "prototypes": "single"},
        {"squared_distance": True, "prototypes": "multiple"},
        {"correlation": "cosine", "correlation_penalty": 1e-2},
        {"mixing": "empirical", "prototypes": "multiple"},
        {"class_prior": "empirical"},
        {"hidden_dim": 8},
        {"embedding_dropout": 0.5, "input_dropout": 0.1},
        {"shared_embedding": False, "n_members": 3},
    ],
    ids=str,
)
def test_every_option_trains_and_beats_a_coin(labelled, options):
    X, Y = labelled
    model = PNMLClassifier.paper(**({"prototypes": "single"} | options), random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.75
