"""Choosing settings inside the training part."""

import sys
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from experiments.small_run import SMALL, make_unit
from protolabel import methods
from protolabel.experiments import tuning
from protolabel.experiments.budgeted_search import search_with_budget
from protolabel.experiments.compute import compute_unit
from protolabel.experiments.data import dataset_of, folds_of
from protolabel.experiments.grid_search import combinations_of, search_grid
from protolabel.experiments.inner_folds import InnerFolds, sum_of_metrics
from protolabel.experiments.tuning import search_space, tune_settings
from protolabel.experiments.unit import Unit, freeze_settings
from protolabel.metrics import evaluate, label_scores

SPACE = {"n_neighbors": tuple(range(1, 9)), "weights": ("uniform", "distance")}


class DenseLabels(KNeighborsClassifier):
    """scikit-learn's neighbours, which take no sparse labels."""

    def fit(self, X, Y):
        return super().fit(X, Y.toarray())


def grid_scores(estimator, grid, X, Y, X_new):
    for params in combinations_of(grid):
        model = KNeighborsClassifier(**params).fit(X, Y.toarray())
        yield params, label_scores(model, X_new, n_labels=Y.shape[1]), model.predict(X_new)


@pytest.fixture(autouse=True)
def neighbours(monkeypatch):
    method = methods.Method("knn", "kNN", DenseLabels, SPACE, shared_parameters=tuple(SPACE))
    monkeypatch.setattr(methods, "METHODS", methods.METHODS | {"knn": method})
    return method


@pytest.fixture
def data():
    dataset = dataset_of("yeast")
    rows = np.arange(150)
    return dataset.X[rows], dataset.Y[rows]


def knn_unit(kind, **changes):
    return Unit("yeast", "knn", kind, 0, 2, 0, **changes)


def test_the_criterion_is_the_sum_of_the_metrics_with_ranking_loss_against():
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, (20, 4)), rng.normal(size=(20, 4))
    found = evaluate(truth, scores > 0, scores)
    expected = sum(found[name] for name in found if name != "ranking_loss")
    assert sum_of_metrics(truth, scores > 0, scores) == pytest.approx(
        expected - found["ranking_loss"]
    )


def test_the_full_grid_picks_the_best_mean_over_the_inner_folds(data):
    unit = knn_unit("full-grid")
    params, search = tune_settings(unit, DenseLabels(), *data)
    inner = InnerFolds(DenseLabels(), *data, seed=0, tunes_thresholds=False)
    values = {
        (k, w): np.mean([inner.score({"n_neighbors": k, "weights": w}, f) for f in range(3)])
        for k in SPACE["n_neighbors"]
        for w in SPACE["weights"]
    }
    assert search.best_value == pytest.approx(max(values.values()))
    assert values[params["n_neighbors"], params["weights"]] == pytest.approx(search.best_value)
    assert (search.n_candidates, search.n_pruned) == (16, 0)
    assert search.space == {name: list(values) for name, values in SPACE.items()}


def test_a_method_that_scores_its_whole_grid_gets_the_same_choice(data, neighbours, monkeypatch):
    plain = tune_settings(knn_unit("full-grid"), DenseLabels(), *data)
    tuned = tune_settings(knn_unit("full-grid", thresholds="tuned"), DenseLabels(), *data)
    object.__setattr__(neighbours, "grid_scores", grid_scores)
    monkeypatch.setattr(InnerFolds, "score", None)
    assert tune_settings(knn_unit("full-grid"), DenseLabels(), *data) == plain
    assert tune_settings(knn_unit("full-grid", thresholds="tuned"), DenseLabels(), *data) == tuned
    assert tuned[1].best_value > plain[1].best_value


def test_a_grid_that_is_not_scored_in_full_is_refused(data, neighbours):
    def half(*arguments):
        return list(grid_scores(*arguments))[::2]

    object.__setattr__(neighbours, "grid_scores", half)
    with pytest.raises(ValueError, match="did not yield each of them"):
        tune_settings(knn_unit("full-grid"), DenseLabels(), *data)


def test_a_setting_is_not_searched_and_a_space_replaces_that_of_the_method():
    fixed = knn_unit("full-grid", settings=freeze_settings({"weights": "uniform"}))
    assert search_space(fixed) == {"n_neighbors": SPACE["n_neighbors"]}
    own = knn_unit("full-grid", space=freeze_settings({"n_neighbors": [2, 3]}))
    assert search_space(own) == {"n_neighbors": (2, 3)}
    coarse = replace(make_unit(), tuning="grid", settings=())
    assert search_space(coarse) == methods.METHODS["pnml-single"].coarse_space


def test_tuning_sees_no_test_row(monkeypatch):
    train, _ = folds_of(SMALL, 3, 0)[0]
    X = dataset_of(SMALL).X
    seen = []
    real = tuning.InnerFolds

    def spy(estimator, X, Y, **options):
        seen.append(X)
        return real(estimator, X, Y, **options)

    monkeypatch.setattr(tuning, "InnerFolds", spy)
    unit = Unit(SMALL, "knn", "4", 0, 3, 0)
    record = compute_unit(unit)
    assert record.is_ok, record.error
    assert len(seen) == 1
    assert np.array_equal(seen[0], X[train])
    assert record.params["n_neighbors"] in SPACE["n_neighbors"]
    assert record.configuration["params"]["n_neighbors"] == record.params["n_neighbors"]
    assert record.search.n_candidates <= 4
    assert record.times.tuning > 0


def test_a_budget_that_covers_the_grid_is_a_grid(data):
    full = tune_settings(knn_unit("full-grid"), DenseLabels(), *data)
    assert tune_settings(knn_unit("16"), DenseLabels(), *data) == full


class InterruptedSearchError(Exception):
    pass


class Countdown(InnerFolds):
    """Inner folds that stop the search after a number of fits, as a kill would."""

    def __init__(self, *arguments, left=10**6, **options):
        super().__init__(*arguments, **options)
        self.left, self.n_fits = left, 0

    def score(self, params, fold):
        if self.left == 0:
            raise InterruptedSearchError
        self.left -= 1
        self.n_fits += 1
        return super().score(params, fold)


def inner_of(data, **options):
    return Countdown(DenseLabels(), *data, seed=0, tunes_thresholds=False, **options)


def test_an_interrupted_search_goes_on_and_ends_with_the_same_choice(data, tmp_path):
    options = {"n_trials": 12, "seed": 3}
    undisturbed = inner_of(data)
    expected = search_with_budget(undisturbed, SPACE, **options, storage=tmp_path / "one.log")
    assert search_with_budget(inner_of(data), SPACE, **options) == expected

    storage, n_fits = tmp_path / "two.log", 0
    for left in (1, 4, 7, 5):
        inner = inner_of(data, left=left)
        with pytest.raises(InterruptedSearchError):
            search_with_budget(inner, SPACE, **options, storage=storage)
        n_fits += inner.n_fits
        with storage.open("ab") as file:
            file.write(b'{"op_code": 5, "wor')  # as a kill in the middle of a write leaves it
    inner = inner_of(data)
    assert search_with_budget(inner, SPACE, **options, storage=storage) == expected
    # Each interruption repeats at most the folds of the trial it hit.
    assert n_fits + inner.n_fits <= undisturbed.n_fits + 4 * 2

    again = inner_of(data)
    assert search_with_budget(again, SPACE, **options, storage=storage) == expected
    assert again.n_fits == 0


@pytest.mark.parametrize("hook", [None, grid_scores])
def test_an_interrupted_grid_goes_on_and_ends_with_the_same_choice(data, tmp_path, hook):
    undisturbed = inner_of(data)
    expected = search_grid(undisturbed, SPACE)
    storage, n_fits = tmp_path / "grid.jsonl", 0
    for left in (1, 20) if hook is None else ():
        inner = inner_of(data, left=left)
        with pytest.raises(InterruptedSearchError):
            search_grid(inner, SPACE, storage=storage)
        n_fits += inner.n_fits
        with storage.open("ab") as file:
            file.write(b'["0a1b')
    inner = inner_of(data)
    assert search_grid(inner, SPACE, hook=hook, storage=storage) == expected
    if hook is None:
        assert n_fits + inner.n_fits == undisturbed.n_fits
    again = inner_of(data, left=0)
    assert search_grid(again, SPACE, storage=storage) == expected


def test_hopeless_trials_are_given_up_early(data):
    inner = inner_of(data)
    params, search = search_with_budget(inner, SPACE, n_trials=15, seed=0)
    assert search.n_pruned > 0
    assert inner.n_fits < 15 * 3
    assert set(params) == set(SPACE)


def test_the_trials_of_a_unit_are_kept_in_the_folder_of_its_run(tmp_path):
    unit = Unit(SMALL, "knn", "3", 0, 3, 0)
    compute_unit(unit, studies=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{unit.key}.jsonl"]


def test_a_search_without_optuna_names_the_extra(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install protolabel\[tune\]"):
        tune_settings(knn_unit("5"), DenseLabels(), *data)


def test_tuned_thresholds_wrap_a_method_and_are_part_of_its_configuration(monkeypatch):
    def build(**params):
        return OneVsRestClassifier(LogisticRegression(**params))

    logistic = methods.Method("br", "BR", build)
    monkeypatch.setattr(methods, "METHODS", methods.METHODS | {"br": logistic})
    plain = compute_unit(Unit("yeast", "br", "none", 0, 3, 5))
    tuned = compute_unit(Unit("yeast", "br", "none", 0, 3, 5, thresholds="tuned"))
    assert plain.is_ok, plain.error
    assert tuned.is_ok, tuned.error
    assert tuned.metrics["macro_f1"] > plain.metrics["macro_f1"]
    assert tuned.metrics["ranking_loss"] == pytest.approx(plain.metrics["ranking_loss"])
    outer = tuned.configuration
    assert outer["class"].endswith("ThresholdedClassifier")
    assert outer["params"]["random_state"] == 5
    inner = outer["params"]["estimator"]["params"]["estimator"]
    assert inner["class"].endswith("LogisticRegression")
    assert inner["params"]["random_state"] == 5
    assert tuned.configuration_hash != plain.configuration_hash


@pytest.mark.parametrize("kind", ["grid", "2"])
def test_one_label_has_no_ranking_metrics_and_is_tuned_by_the_others(data, kind):
    if kind != "grid":
        pytest.importorskip("optuna")
    X, Y = data
    unit = knn_unit(kind, space=freeze_settings({"n_neighbors": [1, 5, 9]}))
    params, search = tune_settings(unit, OneLabelNeighbours(), X, Y[:, [0]])
    assert params["n_neighbors"] in (1, 5, 9)
    assert 0 < search.best_value <= 3


class OneLabelNeighbours(KNeighborsClassifier):
    """The same with a column of labels."""

    def fit(self, X, Y):
        return super().fit(X, Y.toarray().ravel())

    def predict(self, X):
        return super().predict(X)[:, None]


class Noting(KNeighborsClassifier):
    """Notes the groups that it is fitted with, beside the first feature of the rows."""

    noted: ClassVar[list[tuple]] = []

    def fit(self, X, Y, groups=None):
        Noting.noted.append((X[:, 0], groups))
        return super().fit(X, Y.toarray())


def test_candidates_are_told_the_groups_of_their_rows(data):
    X, Y = data
    groups = np.arange(len(X)) % 12
    X = np.column_stack([groups, X])
    Noting.noted.clear()
    inner = InnerFolds(Noting(), X, Y, seed=0, tunes_thresholds=False, groups=groups)
    for fold, (train, test) in enumerate(inner.folds):
        assert not set(groups[train]) & set(groups[test])
        inner.score({"n_neighbors": 3}, fold)
    assert len(Noting.noted) == 3
    for own, told in Noting.noted:
        np.testing.assert_array_equal(own, told)
