"""Every public estimator passes scikit-learn's own checks, with no expected failure."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolabel import PNMLClassifier
from protolabel.methods import METHODS, find_method, make_method

# Fewer epochs, trees and rounds than the defaults, where only the contract is in question.
QUICK = {
    "pnml-compact": {"max_epochs": 10, "n_trees": 20},
    "pnml-best": {"max_epochs": 10, "n_trees": 20, "n_members": 3},
    "pnml-i": {"max_epochs": 10},
    "pnml-d": {"max_epochs": 10},
    "br": {"max_iter": 80},
    "br-as-published": {"max_iter": 20},
    "random-forest": {"n_trees": 20},
    "extra-trees": {"n_trees": 20},
    "classifier-chains": {"n_chains": 3},
    "xgboost": {"n_rounds": 20},
}
# Its fits run in an environment of their own, see tests/peers.
IN_A_PROCESS_OF_ITS_OWN = {"boomer"}
# Their rankings repeat artefacts of the published table: decisions do not follow from them.
NOT_A_CLASSIFIER_FOR_USE = {"br-as-published", "ml-knn-as-published"}
NAMES = sorted(set(METHODS) - IN_A_PROCESS_OF_ITS_OWN)
CHECKED = [
    make_method(name, **QUICK.get(name, {}))
    for name in NAMES
    if name not in NOT_A_CLASSIFIER_FOR_USE and find_method(name).build is not PNMLClassifier
]


@parametrize_with_checks([PNMLClassifier(), *CHECKED])
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_what_is_searched_is_a_parameter_of_the_method(name):
    found = find_method(name)
    parameters = set(found.build().get_params())
    assert set(found.space) <= parameters
    assert set(found.coarse_space) <= parameters
    assert set(found.coarse_space) <= set(found.space)


@pytest.fixture(params=NAMES)
def method(request):
    return make_method(request.param, random_state=0, **QUICK.get(request.param, {}))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.5)
    Y = (X[:, :3] + 0.1 * rng.normal(size=(60, 3)) > 0.1).astype(int)
    return X, np.column_stack([Y, np.zeros(60, dtype=int), np.ones(60, dtype=int)])


def test_labels_with_one_side_are_never_or_always_predicted(method, rows):
    X, Y = rows
    model = method.fit(X, Y)
    predicted, scores = model.predict(X), model.decision_function(X)
    assert not predicted[:, 3].any()
    assert predicted[:, 4].all()
    assert np.isfinite(scores).all()
    probabilities = model.predict_proba(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


def test_sparse_rows_are_taken_and_give_finite_scores(method, rows):
    X, Y = rows
    model = method.fit(sp.csr_array(X), sp.csr_array(Y))
    assert np.isfinite(model.decision_function(sp.csr_array(X))).all()


def untidy(X):
    """The same rows in halves of cells, backwards, with long column numbers, not to be changed."""
    rows = sp.csr_array(np.flip(X, axis=1))
    rows.indices = X.shape[1] - 1 - np.repeat(rows.indices, 2).astype(np.int64)
    rows.data, rows.indptr = np.repeat(rows.data / 2, 2), 2 * rows.indptr.astype(np.int64)
    for array in (rows.data, rows.indices, rows.indptr):
        array.flags.writeable = False
    rows.has_canonical_format = rows.has_sorted_indices = False
    return rows


def test_stored_zeros_are_zeros(method, rows):
    X, Y = rows
    zeros = sp.csr_array(np.where(X == 0, 1.0, X))
    zeros.data[X.ravel() == 0] = 0.0
    assert zeros.nnz > np.count_nonzero(X)
    assert np.array_equal(zeros.toarray(), X)
    scores = method.fit(zeros, Y).decision_function(zeros)
    assert zeros.nnz > np.count_nonzero(X)
    expected = method.fit(sp.csr_array(X), Y).decision_function(sp.csr_array(X))
    assert np.array_equal(scores, expected)


def test_untidy_sparse_rows_are_read_right_and_left_alone(method, rows):
    X, Y = rows
    given = untidy(X)
    assert np.array_equal(given.toarray(), X)
    scores = method.fit(given, Y).decision_function(given)
    assert given.nnz == 2 * np.count_nonzero(X)
    assert given.indices.dtype == np.int64
    expected = method.fit(sp.csr_array(X), Y).decision_function(sp.csr_array(X))
    assert np.array_equal(scores, expected)


def test_one_label_and_one_column_are_enough(method, rows):
    X, Y = rows
    model = method.fit(X[:, :1], Y[:, :1])
    assert model.predict(X[:, :1]).shape == (60, 1)


def test_the_same_seed_gives_the_same_model(method, rows):
    X, Y = rows
    scores = method.fit(X, Y).decision_function(X)
    assert np.array_equal(scores, method.fit(X, Y).decision_function(X))


@pytest.mark.parametrize("make_fitted", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_may_come_in_another_form_than_they_were_fitted_in(method, rows, make_fitted):
    X, Y = rows
    model = method.fit(make_fitted(X), Y)
    dense, sparse = model.decision_function(X), model.decision_function(sp.csr_array(X))
    assert np.allclose(dense, sparse, atol=1e-5)


def test_a_fit_that_is_refused_leaves_the_model_as_it_was(method, rows):
    X, Y = rows
    names = [f"x{column}" for column in range(X.shape[1])]
    model = method.fit(pd.DataFrame(X, columns=names), Y)
    before = model.decision_function(pd.DataFrame(X, columns=names))
    for others, labels in ((X[:, :3], Y[:50]), (X[:, :3], Y + 2)):
        with pytest.raises(ValueError, match=r"inconsistent numbers|label matrix"):
            model.fit(others, labels)
    assert model.n_features_in_ == X.shape[1]
    assert model.feature_names_in_.tolist() == names
    after = model.decision_function(pd.DataFrame(X, columns=names))
    np.testing.assert_array_equal(after, before)


def test_a_first_fit_that_is_refused_leaves_nothing(method, rows):
    X, Y = rows
    with pytest.raises(ValueError, match="inconsistent numbers"):
        method.fit(X, Y[:50])
    assert not hasattr(method, "n_features_in_")
    with pytest.raises(NotFittedError):
        method.predict(X)
