"""The threshold wrapper: honest inner folds, every rule, any scikit-learn classifier."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolabel.decision import CalibratedMultilabelClassifier, ThresholdedClassifier
from protolabel.decision._cross_fitting import held_out_scores
from protolabel.decision.thresholds import (
    match_cardinality,
    tune_global,
    tune_per_label,
    tune_prior_tilted,
)
from protolabel.methods import make_method
from protolabel.metrics import evaluate, label_scores, make_scorer
from protolabel.preprocessing.labels import encode_targets
from protolabel.preprocessing.splits import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
)

LOGISTIC = OneVsRestClassifier(LogisticRegression(max_iter=500))


@parametrize_with_checks(
    [
        ThresholdedClassifier(LogisticRegression()),
        ThresholdedClassifier(OneVsRestClassifier(LogisticRegression()), rule="per_label"),
        ThresholdedClassifier(KNeighborsClassifier(), rule="global"),
    ]
)
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


@pytest.fixture
def rare_labels():
    """Rows with labels of very different frequency, noisy enough to need thresholds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    weights = rng.normal(size=(8, 10))
    offsets = np.linspace(0.5, -5.0, 10)
    probabilities = 1 / (1 + np.exp(-(X @ weights * 0.8 + offsets)))
    Y = (rng.random(probabilities.shape) < probabilities).astype(int)
    return X, Y[:, Y.sum(axis=0) >= 6]


def honest_evaluation(model, X, Y):
    results = []
    for train, test in MultilabelStratifiedKFold(3, random_state=1).split(X, Y):
        fitted = clone(model).fit(X[train], Y[train])
        scores = label_scores(fitted, X[test], n_labels=Y.shape[1])
        results.append(evaluate(Y[test], fitted.predict(X[test]), scores))
    return {name: np.mean([result[name] for result in results]) for name in results[0]}


def test_tuning_for_macro_f1_lifts_it_on_rows_never_seen(rare_labels):
    X, Y = rare_labels
    plain = honest_evaluation(LOGISTIC, X, Y)
    for rule in ("prior_tilted", "global", "per_label"):
        model = ThresholdedClassifier(
            LOGISTIC, rule=rule, objective="macro_f1", cv=3, random_state=0
        )
        tuned = honest_evaluation(model, X, Y)
        assert tuned["macro_f1"] > plain["macro_f1"] + 0.03, rule
        assert tuned["average_precision"] == pytest.approx(plain["average_precision"])


def test_tuning_for_micro_f1_does_not_lower_it(rare_labels):
    X, Y = rare_labels
    plain = honest_evaluation(LOGISTIC, X, Y)
    for rule in ("prior_tilted", "global", "per_label"):
        model = ThresholdedClassifier(
            LOGISTIC, rule=rule, objective="micro_f1", cv=3, random_state=0
        )
        assert honest_evaluation(model, X, Y)["micro_f1"] >= plain["micro_f1"], rule


@pytest.mark.parametrize(
    ("rule", "tune"),
    [
        ("prior_tilted", lambda s, Y: tune_prior_tilted(s, Y, objective="micro_f1")),
        ("global", lambda s, Y: tune_global(s, Y, objective="micro_f1")),
        ("per_label", lambda s, Y: tune_per_label(s, Y, objective="micro_f1", shrinkage=30.0)),
        ("cardinality", lambda s, Y: match_cardinality(s, Y.sum() / len(Y))),
    ],
)
def test_thresholds_are_those_of_the_rule_on_out_of_fold_scores(rare_labels, rule, tune):
    X, Y = rare_labels
    folds = MultilabelStratifiedKFold(3, random_state=5)
    model = ThresholdedClassifier(
        LOGISTIC, rule=rule, objective="micro_f1", shrinkage=30.0, cv=folds
    ).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in folds.split(X, sparse.csr_matrix(Y)):
        scores[test] = clone(LOGISTIC).fit(X[train], Y[train]).decision_function(X[test])
    assert_allclose(model.thresholds_, tune(scores, Y).thresholds)
    final = clone(LOGISTIC).fit(X, Y).decision_function(X)
    assert_array_equal(model.predict(X), (final > model.thresholds_).astype(int))


class RefusesKnownRows(ClassifierMixin, BaseEstimator):
    """Raises when asked about a row it was trained on; the first feature is the row's number."""

    def fit(self, X, y):
        self.known_ = set(X[:, 0].tolist())
        self.n_labels_ = y.shape[1]
        return self

    def decision_function(self, X):
        if self.known_ & set(X[:, 0].tolist()):
            raise AssertionError("scored a row it was trained on")
        return np.tile(X[:, :1], (1, self.n_labels_))


@pytest.mark.parametrize("cv", [4, MultilabelStratifiedShuffleSplit(2, random_state=0)])
def test_no_row_is_scored_by_a_model_that_saw_it(cv):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(80.0), rng.normal(size=80)])
    Y = (rng.random((80, 3)) < 0.4).astype(int)
    model = ThresholdedClassifier(RefusesKnownRows(), cv=cv, random_state=0)
    held_out = held_out_scores(model, X, Y, encode_targets(Y), None)
    assert_array_equal(held_out.scores[:, 0], held_out.rows)
    if cv == 4:
        assert_array_equal(np.sort(held_out.rows), np.arange(80))


def test_thresholds_do_not_come_from_scores_of_training_rows():
    """A forest knows its own rows by heart: thresholds tuned on them would be useless."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    Y = (X[:, :4] + rng.normal(0, 2, size=(300, 4)) > 1.5).astype(int)
    forest = RandomForestClassifier(30, random_state=0)
    model = ThresholdedClassifier(forest, rule="global", objective="micro_f1", random_state=0)
    reached = model.fit(X, Y).rule_.value
    on_training_rows = evaluate(Y, model.predict(X), model.predict_proba(X))["micro_f1"]
    assert reached < on_training_rows - 0.2


def test_the_fixed_rule_needs_no_inner_folds():
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = (X > 0).astype(int)
    model = ThresholdedClassifier(LOGISTIC, rule="fixed", threshold=0.7, cv="unused").fit(X, Y)
    assert model.rule_ is None
    expected = (model.estimator_.decision_function(X) > 0.7).astype(int)
    assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize(
    "estimator",
    [
        LOGISTIC,
        RandomForestClassifier(20, random_state=0),
        KNeighborsClassifier(),
        MultiOutputClassifier(LogisticRegression(max_iter=500)),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_multi_label_classifier_can_be_wrapped(rare_labels, estimator):
    X, Y = rare_labels
    Y = Y[:, :4]
    model = ThresholdedClassifier(estimator, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.predict_proba(X).shape == Y.shape
    assert hasattr(model, "decision_function") == hasattr(estimator, "decision_function")


def test_sparse_features_and_labels_give_the_same_thresholds(rare_labels):
    X, Y = rare_labels
    dense = ThresholdedClassifier(LOGISTIC, random_state=0).fit(X, Y)
    model = ThresholdedClassifier(LOGISTIC, random_state=0)
    model.fit(sparse.csc_matrix(X), sparse.csr_array(Y))
    assert_allclose(model.thresholds_, dense.thresholds_)
    assert_array_equal(model.predict(sparse.csr_array(X)), dense.predict(X))


def test_label_sets_are_accepted(rare_labels):
    X, Y = rare_labels
    names = np.array([f"label {k}" for k in range(Y.shape[1])])
    model = ThresholdedClassifier(LOGISTIC, random_state=0)
    model.fit(X, [set(names[row == 1]) for row in Y])
    assert set(model.label_names_) == set(names)
    assert model.predict(X).shape == Y.shape


def test_names_of_labels_and_features_are_kept():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    Y = pandas.DataFrame({"sea": (X["a"] > 0).astype(int), "sky": (X["b"] > 0).astype(int)})
    model = ThresholdedClassifier(LOGISTIC, random_state=0).fit(X, Y)
    assert list(model.label_names_) == ["sea", "sky"]
    assert list(model.feature_names_in_) == ["a", "b"]


def test_at_least_one_label_is_given_on_request():
    X = np.random.default_rng(0).normal(size=(100, 3))
    Y = (X > 1.0).astype(int)
    model = ThresholdedClassifier(LOGISTIC, rule="fixed", threshold=5.0).fit(X, Y)
    assert (model.predict(X).sum(axis=1) == 0).any()
    model.set_params(at_least_one=True)
    assert (model.predict(X).sum(axis=1) > 0).all()


def test_the_same_seed_gives_the_same_thresholds(rare_labels):
    first, again = (
        ThresholdedClassifier(LOGISTIC, rule="per_label", random_state=3).fit(*rare_labels)
        for _ in range(2)
    )
    assert_array_equal(first.thresholds_, again.thresholds_)


def test_inner_folds_may_run_in_parallel(rare_labels):
    one = ThresholdedClassifier(LOGISTIC, random_state=3).fit(*rare_labels)
    with parallel_config(backend="threading"):
        two = ThresholdedClassifier(LOGISTIC, random_state=3, n_jobs=2).fit(*rare_labels)
    assert_array_equal(one.thresholds_, two.thresholds_)


def test_the_rule_can_be_searched_over(rare_labels):
    search = GridSearchCV(
        ThresholdedClassifier(LOGISTIC, objective="macro_f1", cv=3, random_state=0),
        {"rule": ["fixed", "prior_tilted"]},
        scoring=make_scorer("macro_f1"),
        cv=MultilabelStratifiedKFold(3, random_state=0),
    ).fit(*rare_labels)
    assert search.best_params_ == {"rule": "prior_tilted"}


def test_a_one_dimensional_target_is_predicted_as_the_estimator_does():
    X, y = make_classification(n_classes=3, n_informative=4, random_state=0)
    names = np.array(["low", "middle", "high"])[y]
    model = ThresholdedClassifier(LogisticRegression()).fit(X, names)
    assert_array_equal(model.predict(X), LogisticRegression().fit(X, names).predict(X))


def test_a_label_missing_from_an_inner_fold_is_explained():
    X = np.random.default_rng(0).normal(size=(40, 2))
    Y = np.column_stack([X[:, 0] > 0, np.arange(40) == 0]).astype(int)
    model = ThresholdedClassifier(MultiOutputClassifier(LogisticRegression()))
    with pytest.raises(ValueError, match=r"label\(s\) \[1\] have one class only; wrap it in"):
        model.fit(X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "best"}, "rule is 'best', expected one of 'rowwise', 'prior_tilted'"),
        ({"objective": "f1"}, "objective is 'f1', expected one of 'balanced'"),
    ],
)
def test_bad_parameters_are_refused_with_a_reason(change, message, rare_labels):
    with pytest.raises(ValueError, match=message):
        ThresholdedClassifier(LOGISTIC, **change).fit(*rare_labels)


@pytest.mark.parametrize("rule", ["rowwise", "prior_tilted", "per_label"])
def test_labels_that_no_row_has_or_all_have_keep_their_decision(rare_labels, rule):
    X, Y = rare_labels
    Y = np.column_stack([Y, np.zeros(len(Y), dtype=int), np.ones(len(Y), dtype=int)])
    model = ThresholdedClassifier(make_method("logistic-regression"), rule=rule, random_state=0)
    predicted = model.fit(X, Y).predict(10 * X)
    assert not predicted[:, -2].any()
    assert predicted[:, -1].all()


def test_a_label_alone_that_no_row_has_is_not_predicted():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = ThresholdedClassifier(RandomForestClassifier(5, random_state=0), random_state=0)
    for value in (0, 1):
        model.fit(X, np.full((30, 1), value))
        assert (model.predict(X) == value).all()
        np.testing.assert_allclose(model.predict_proba(X), value, atol=1e-6)


def test_what_another_table_left_is_forgotten():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=(40, 3))
    model = ThresholdedClassifier(OneVsRestClassifier(LogisticRegression()), random_state=0)
    model.fit(pd.DataFrame(X, columns=["a", "b"]), Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(model.fit(X, Y), "feature_names_in_")


def test_a_fit_that_is_refused_leaves_the_wrapper_as_it_was(rare_labels):
    X, Y = rare_labels
    model = ThresholdedClassifier(OneVsRestClassifier(LogisticRegression()), random_state=0)
    before = model.fit(X, Y).predict(X)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.fit(X[:, :1], Y[:-1])
    with pytest.raises(ValueError, match="n_splits is 1"):
        model.set_params(cv=1).fit(X[:, :1], Y)
    np.testing.assert_array_equal(model.predict(X), before)


WRAPPERS = {
    "thresholds": ThresholdedClassifier,
    "probabilities": CalibratedMultilabelClassifier,
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_folds_are_those_of_any_splitter_or_list(rare_labels, wrap):
    X, Y = rare_labels
    one_label = Y[:, 0]
    for y, estimator in ((Y, LOGISTIC), (one_label, LogisticRegression())):
        listed = wrap(estimator, cv=list(KFold(3).split(X))).fit(X, y).predict(X)
        assert_array_equal(listed, wrap(estimator, cv=KFold(3)).fit(X, y).predict(X))
        default = wrap(estimator, random_state=0).fit(X, y).predict(X)
        assert_array_equal(default, wrap(estimator, cv=None, random_state=0).fit(X, y).predict(X))
    stratified = wrap(LogisticRegression(), cv=StratifiedKFold(3)).fit(X, one_label)
    assert stratified.predict(X).shape == one_label.shape


class InTwo:
    """A splitter that wants a matrix of labels."""

    def split(self, X, y, groups=None):
        assert y.shape == (len(X), 1)
        yield np.arange(0, len(X), 2), np.arange(1, len(X), 2)

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1


def test_a_splitter_gets_a_column_for_a_single_label(rare_labels):
    X, Y = rare_labels
    for cv in (InTwo(), StratifiedKFold(3)):
        model = ThresholdedClassifier(LogisticRegression(), cv=cv).fit(X, Y[:, :1])
        assert model.predict(X).shape == (len(X), 1)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize(
    "estimator",
    [MultiOutputClassifier(LogisticRegression()), ClassifierChain(LogisticRegression())],
)
def test_one_column_stays_a_column_where_nothing_else_is_taken(rare_labels, wrap, estimator):
    X, Y = rare_labels
    model = wrap(estimator, cv=3, random_state=0).fit(X, Y[:, :1])
    assert model.predict(X).shape == (len(X), 1)


class Noting(ClassifierMixin, BaseEstimator):
    """Scores by the first feature, and notes the second one of the rows it is fitted to."""

    def __init__(self, notes=None):
        self.notes = notes

    def __sklearn_clone__(self):
        return Noting(self.notes)

    def fit(self, X, y):
        self.notes.append(("fit", X[:, 1].astype(int)))
        self.classes_ = np.arange(np.shape(y)[1])
        return self

    def decision_function(self, X):
        self.notes.append(("score", X[:, 1].astype(int)))
        return np.repeat(X[:, :1], len(self.classes_), axis=1)

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("cv", [3, GroupKFold(3)], ids=["number", "splitter"])
def test_rows_of_a_group_are_never_on_both_sides(rare_labels, wrap, cv):
    X, Y = rare_labels
    notes = []
    groups = np.arange(len(X)) % 40
    table = np.column_stack([X[:, 0], groups])
    wrap(Noting(notes), cv=cv).fit(table, Y, groups=groups)
    _, *inner = notes
    assert len(inner) == 6
    for (_, trained), (kind, scored) in zip(inner[::2], inner[1::2], strict=True):
        assert kind == "score"
        assert not set(trained) & set(scored)
