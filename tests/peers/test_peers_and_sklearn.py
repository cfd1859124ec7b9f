"""Each peer against the plain use of the library it wraps."""

import builtins

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import MLPClassifier

from protolabel.peers import (
    ClassifierChainEnsemble,
    ExtraTreesPeer,
    LogisticRegressionPeer,
    MultilabelMLP,
    RandomForestPeer,
    XGBoostPeer,
)


def seed_of(random_state: int) -> int:
    """The seed that a peer hands to the library it wraps."""
    seed = np.random.RandomState(random_state).randint(2**31 - 1)
    return int(np.random.default_rng(seed).integers(1, 2**31 - 1))


@pytest.mark.parametrize(
    ("peer", "forest"),
    [(RandomForestPeer, RandomForestClassifier), (ExtraTreesPeer, ExtraTreesClassifier)],
)
def test_forest_gives_the_probabilities_of_the_classifying_forest(labelled, peer, forest):
    X, Y = labelled
    model = peer(20, random_state=0).fit(X, Y)
    plain = forest(20, min_samples_leaf=3, random_state=seed_of(0)).fit(X, Y)
    expected = np.column_stack([label[:, 1] for label in plain.predict_proba(X)])
    assert_allclose(model.predict_proba(X), expected, atol=1e-6)


def test_logistic_regression_is_fitted_to_each_label(labelled):
    X, Y = labelled
    scores = LogisticRegressionPeer(0.5, feature_scaling="none").fit(X, Y).decision_function(X)
    for label in range(3):
        plain = LogisticRegression(C=0.5, max_iter=1000).fit(X, Y[:, label])
        assert_allclose(scores[:, label], plain.decision_function(X), atol=1e-9)


def test_a_single_chain_on_all_rows_is_the_chain_of_scikit_learn(labelled):
    X, Y = labelled
    Y = np.column_stack([Y, Y[:, 0] ^ Y[:, 1]])
    model = ClassifierChainEnsemble(1, bootstrap=False, feature_scaling="none", random_state=0)
    model.fit(X, Y)
    order = model.model_[0].order
    plain = ClassifierChain(LogisticRegression(max_iter=1000), order=order).fit(X, Y)
    assert sorted(order) == [0, 1, 2, 3]
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_chains_differ_in_order_and_are_averaged(labelled):
    X, Y = labelled
    model = ClassifierChainEnsemble(5, feature_scaling="none", random_state=0).fit(X, Y)
    assert len({tuple(chain.order) for chain in model.model_}) > 1
    mean = np.mean([chain.probabilities(X) for chain in model.model_], axis=0)
    assert_allclose(model.predict_proba(X), mean, atol=1e-8)


def test_a_chain_whose_sample_lost_a_label_says_that_it_is_rare(labelled):
    X, Y = labelled
    Y = np.column_stack([Y, np.arange(200) == 0]).astype(int)
    model = ClassifierChainEnsemble(8, feature_scaling="none", random_state=0).fit(X, Y)
    constant = [
        chain.intercepts[chain.order == 3][0]
        for chain in model.model_
        if not chain.weights[chain.order == 3].any()
    ]
    assert 0 < len(constant) < 8
    assert_allclose(constant, np.log(0.5 / 200.5))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_network_gives_the_probabilities_of_the_plain_perceptron(labelled):
    X, Y = labelled
    settings = {"alpha": 0.1, "max_iter": 30, "random_state": seed_of(0)}
    plain = MLPClassifier(hidden_layer_sizes=(16,), **settings).fit(X, Y)
    model = MultilabelMLP(16, max_epochs=30, feature_scaling="none", random_state=0).fit(X, Y)
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-9)


def test_network_that_uses_up_its_passes_warns_of_nothing(labelled, recwarn):
    MultilabelMLP(max_epochs=2, random_state=0).fit(*labelled)
    assert not recwarn


def test_xgboost_gives_each_label_the_trees_it_gets_alone(labelled):
    pytest.importorskip("xgboost", reason="the extra peers is not installed")
    X, Y = labelled
    settings = {"n_rounds": 10, "subsample": 1.0, "random_state": 0}
    together = XGBoostPeer(**settings).fit(X, Y).decision_function(X)
    alone = XGBoostPeer(**settings).fit(X, Y[:, 1:2]).decision_function(X)
    assert_allclose(together[:, 1:2], alone, atol=1e-5)


def test_missing_xgboost_is_explained_with_the_extra(labelled, monkeypatch):
    real_import = builtins.__import__

    def without_xgboost(name, *args, **kwargs):
        if name == "xgboost":
            raise ImportError("No module named 'xgboost'")
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_xgboost)
    with pytest.raises(ImportError, match=r"pip install 'protolabel\[peers\]'"):
        XGBoostPeer().fit(*labelled)
