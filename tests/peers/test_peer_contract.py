"""What holds for every peer."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from protolabel.metrics import evaluate


def test_labels_that_follow_from_features_are_learned(make_peer, labelled):
    X, Y = labelled
    model = make_peer().fit(X[:150], Y[:150])
    scores = model.decision_function(X[150:])
    result = evaluate(Y[150:], model.predict(X[150:]), scores)
    assert result["micro_f1"] > 0.8
    assert result["ranking_loss"] < 0.15


def test_more_labels_than_a_byte_counts_keep_their_columns(make_peer, labelled):
    X, Y = labelled
    many = np.tile(Y, 44)
    assert many.shape[1] > 127
    model = make_peer().fit(X[:150], many[:150])
    result = evaluate(many[150:], model.predict(X[150:]), model.decision_function(X[150:]))
    assert result["macro_f1"] > 0.7


def test_scores_are_finite_log_odds_that_decide(make_peer, labelled):
    X, Y = labelled
    model = make_peer().fit(X, Y)
    scores = model.decision_function(X)
    assert scores.shape == Y.shape
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert_array_equal(model.predict(X), scores > 0)
    assert_allclose(model.predict_proba(X), expit(scores))
    assert len(np.unique(scores[:, 0])) > 10


def test_sparse_rows_give_the_scores_of_dense_rows(make_peer, labelled):
    X, Y = labelled
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = make_peer().fit(X, Y)
    sparse = make_peer().fit(sp.csr_array(X), sp.csr_array(Y))
    expected = dense.decision_function(X)
    assert_allclose(dense.decision_function(sp.csr_matrix(X)), expected, rtol=1e-6, atol=1e-6)
    assert_allclose(sparse.decision_function(sp.csr_array(X)), expected, rtol=1e-3, atol=1e-3)


def test_the_seed_decides_the_model(make_peer, labelled):
    X, Y = labelled
    first = make_peer(random_state=3).fit(X, Y).decision_function(X)
    assert_array_equal(first, make_peer(random_state=3).fit(X, Y).decision_function(X))


def test_other_seeds_give_other_models(make_peer, labelled):
    X, Y = labelled
    models = [make_peer(random_state=seed).fit(X, Y) for seed in (0, 1)]
    scores = [model.decision_function(X) for model in models]
    is_deterministic = type(models[0]).__name__ == "LogisticRegressionPeer"
    assert np.array_equal(*scores) == is_deterministic


def test_labels_with_one_side_are_never_or_always_predicted(make_peer, labelled):
    X, Y = labelled
    Y = np.hstack([np.zeros((200, 1), int), Y, np.ones((200, 1), int)])
    model = make_peer().fit(X, Y)
    predicted, scores = model.predict(X), model.decision_function(X)
    assert predicted[:, 0].sum() == 0
    assert predicted[:, -1].all()
    assert (scores[:, 0] < scores[:, 1:].min(axis=1)).all()
    assert (scores[:, -1] > scores[:, :-1].max(axis=1)).all()
    assert_array_equal(model.predict_proba(X)[:, [0, -1]], np.tile([0.0, 1.0], (200, 1)))


def test_labels_with_one_side_do_not_change_the_others(make_peer, labelled):
    X, Y = labelled
    padded = np.hstack([np.zeros((200, 1), int), Y])
    assert_array_equal(
        make_peer().fit(X, padded).decision_function(X)[:, 1:],
        make_peer().fit(X, Y).decision_function(X),
    )


def test_only_labels_with_one_side_need_no_training(make_peer):
    X = np.arange(12.0).reshape(6, 2)
    model = make_peer().fit(X, np.tile([0, 1], (6, 1)))
    assert_array_equal(model.predict(X), np.tile([0, 1], (6, 1)))


def test_one_row_is_enough(make_peer):
    model = make_peer().fit([[1.0, 2.0]], [[1, 0, 1]])
    assert_array_equal(model.predict([[5.0, 5.0]]), [[1, 0, 1]])


def test_a_single_label_keeps_its_column(make_peer, labelled):
    X, Y = labelled
    model = make_peer().fit(X, Y[:, :1])
    assert model.decision_function(X).shape == (200, 1)
    assert (model.predict(X) == Y[:, :1]).mean() > 0.85


def test_a_label_with_one_positive_row_is_scored(make_peer, labelled):
    X, Y = labelled
    Y = np.hstack([Y, np.eye(1, 200, 7, dtype=int).T])
    assert np.isfinite(make_peer().fit(X, Y).decision_function(X)).all()


def test_label_sets_keep_their_names(make_peer, labelled):
    X, Y = labelled
    names = np.array(["a", "b", "c"])
    model = make_peer().fit(X, [set(names[row == 1]) for row in Y])
    assert model.label_names_.tolist() == ["a", "b", "c"]
    assert model.predict_label_sets(X[:5]) == [set(names[row == 1]) for row in model.predict(X[:5])]


def test_single_precision_rows_are_accepted(make_peer, labelled):
    X, Y = labelled
    X = X.astype(np.float32)
    assert np.isfinite(make_peer(feature_scaling="auto").fit(X, Y).decision_function(X)).all()


def test_three_classes_per_row_are_told_apart(make_peer, labelled):
    X, _ = labelled
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = make_peer().fit(X, y)
    assert (model.predict(X) == y).mean() > 0.75
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_an_unknown_scaling_is_refused(make_peer, labelled):
    with pytest.raises(ValueError, match="feature_scaling='log' is unknown"):
        make_peer(feature_scaling="log").fit(*labelled)
