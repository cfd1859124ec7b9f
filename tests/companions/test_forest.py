import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from protolabel.companions import forest as forest_module
from protolabel.companions import leaf_votes
from protolabel.companions.forest import fit_forest
from protolabel.companions.trees import Trees


@pytest.fixture
def labelled_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    return X, sp.csr_array((X[:, :3] + 0.2 * rng.normal(size=(80, 3)) > 0).astype(int))


def probabilities(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def test_leaves_are_those_of_scikit_learn(labelled_rows):
    X, Y = labelled_rows
    grown = RandomForestRegressor(7, random_state=0).fit(X, Y.toarray())
    trees = Trees.of([estimator.tree_ for estimator in grown.estimators_])
    X_new = np.random.default_rng(1).normal(size=(30, 4))
    assert np.array_equal(trees.leaves(X_new) - trees.roots, grown.apply(X_new))
    assert np.array_equal(trees.leaves(sp.csr_array(X_new)), trees.leaves(X_new))


def test_thresholds_stand_off_values_on_a_grid():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.integers(0, 9, size=(200, 3)) / 10, np.full((200, 1), 0.7)], axis=1)
    X = 3.7 * X - 1.1
    targets = rng.integers(0, 2, size=(200, 2))
    grown = RandomForestRegressor(20, max_features=1, random_state=0).fit(X[:120], targets[:120])
    trees = Trees.of([estimator.tree_ for estimator in grown.estimators_])
    moved = trees.off_the_values(X)
    assert np.array_equal(moved.leaves(X), trees.leaves(X))
    assert abs(moved.threshold - trees.threshold).max() <= 2e-5
    shaken = [X + sign * 1e-6 for sign in (-1, 1)]
    assert all(np.array_equal(moved.leaves(other), trees.leaves(X)) for other in shaken)
    assert not all(np.array_equal(trees.leaves(other), trees.leaves(X)) for other in shaken)


def test_a_forest_takes_rows_in_single_precision_for_what_they_are():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, size=(200, 5)) / 10
    Y = sp.csr_array((X[:, :2] > 0.35).astype(int))
    scale = 2 / 0.3
    model, _ = fit_forest(scale * X, Y, np.random.default_rng(0), n_trees=50)
    single = scale * X.astype(np.float32).astype(np.float64)
    assert np.array_equal(model.scores(single), model.scores(scale * X))


@pytest.mark.parametrize("largest_shares", [0, 4])
def test_votes_equal_the_mean_over_the_trees_with_one_vote_for_the_prior(
    monkeypatch, labelled_rows, largest_shares
):
    monkeypatch.setattr(leaf_votes, "_LARGEST_SHARES", largest_shares)
    X, Y = labelled_rows
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    model, _ = fit_forest(X, Y, np.random.default_rng(0), n_trees=9)
    twin = RandomForestRegressor(9, max_features="sqrt", max_samples=80, random_state=seed).fit(
        X, Y.toarray()
    )
    X_new = np.random.default_rng(1).normal(size=(20, 4))
    expected = (9 * twin.predict(X_new) + model.prior) / 10
    assert np.allclose(probabilities(model.scores(X_new)), expected)


def test_training_rows_are_scored_only_by_trees_that_did_not_draw_them(labelled_rows):
    X, Y = labelled_rows
    labels = Y.toarray()
    model, scores = fit_forest(X, Y, np.random.default_rng(0), n_trees=6)
    leaves = model.trees.leaves(X)
    weights = model.leaf_rows.toarray()
    for row in (0, 5, 40):
        votes, n_voters = model.prior.copy(), 1
        for tree in range(6):
            nodes = slice(
                model.trees.roots[tree],
                model.trees.roots[tree + 1] if tree < 5 else len(model.trees.feature),
            )
            if weights[nodes, row].any():
                continue
            votes += weights[leaves[row, tree]] @ labels
            n_voters += 1
        assert np.allclose(probabilities(scores[row]), votes / n_voters)


@pytest.mark.parametrize("n_trees", [20, 40])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_row_alone_has_the_score_that_it_has_among_others(labelled_rows, is_sparse, n_trees):
    X, Y = labelled_rows
    X = sp.csr_array(X * (np.abs(X) > 0.5)) if is_sparse else X
    # One label has no row at all, and some rows have no label.
    Y = sp.csr_array(np.column_stack([Y.toarray(), np.zeros(X.shape[0], int)]))
    forest, _ = fit_forest(X, Y, np.random.default_rng(0), n_trees=n_trees)
    together = forest.scores(X)
    alone = np.concatenate([forest.scores(X[i : i + 1]) for i in range(X.shape[0])])
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-12)


def test_the_weights_of_a_leaf_add_up_to_one(labelled_rows):
    X, Y = labelled_rows
    model, _ = fit_forest(X, Y, np.random.default_rng(0), n_trees=20)
    totals = np.asarray(model.leaf_rows.sum(axis=1)).ravel()
    is_leaf = model.trees.feature < 0
    assert np.allclose(totals[is_leaf], 1.0)
    assert not totals[~is_leaf].any()


def test_many_labels_are_mixed_into_few_growth_targets(monkeypatch):
    monkeypatch.setattr(forest_module, "_MAX_GROWTH_TARGETS", 2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Y = sp.csr_array((X > 0).astype(int))
    model, scores = fit_forest(X, Y, rng, n_trees=40)
    assert scores.shape == (100, 3)
    assert ((model.scores(X) > 0) == (X > 0)).mean() > 0.8


@pytest.mark.parametrize("n_rows", [1, 2])
def test_very_few_rows_give_finite_scores(n_rows):
    X = np.arange(float(n_rows))[:, None]
    Y = sp.csr_array((X > 0).astype(int))
    model, scores = fit_forest(X, Y, np.random.default_rng(0), n_trees=5)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.scores(X)).all()


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("n_labels", [1, 3])
@pytest.mark.parametrize("most_rows", [40, 1000])
def test_trees_are_those_of_a_forest_of_scikit_learn(
    labelled_rows, monkeypatch, is_sparse, n_labels, most_rows
):
    X, Y = labelled_rows
    X, Y = (sp.csr_array(X * (X > 0)) if is_sparse else X), Y[:, :n_labels]
    monkeypatch.setattr(forest_module, "MAX_ROWS", most_rows)
    model, _ = fit_forest(X, Y, np.random.default_rng(0), n_trees=8)
    twin = RandomForestRegressor(
        8,
        max_features=forest_module._n_tried(X),
        min_samples_leaf=3 if is_sparse else 1,
        max_samples=min(most_rows, 80),
        random_state=int(np.random.default_rng(0).integers(2**31 - 1)),
    ).fit(X, Y.toarray().squeeze())
    expected = Trees.of([estimator.tree_ for estimator in twin.estimators_])
    for name in ("roots", "feature", "left", "right"):
        assert np.array_equal(getattr(model.trees, name), getattr(expected, name))
    np.testing.assert_allclose(model.trees.threshold, expected.threshold, rtol=1e-4, atol=1e-4)


def test_trees_grown_at_the_same_time_are_the_same_trees(labelled_rows, monkeypatch):
    X, Y = labelled_rows
    monkeypatch.setattr(forest_module, "_MIN_ROWS_OF_THREADS", len(X))
    started, threads = threading.Barrier(3, timeout=20), set()

    class Watched(DecisionTreeRegressor):
        def fit(self, *args, **kwargs):
            if len(threads) < 3:
                threads.add((os.getpid(), threading.current_thread()))
                started.wait()
            return super().fit(*args, **kwargs)

    one, scores = fit_forest(X, sp.csr_array(Y), np.random.default_rng(0), n_trees=7)
    monkeypatch.setattr(forest_module, "DecisionTreeRegressor", Watched)
    with parallel_config(backend="loky"):
        three, same = fit_forest(X, sp.csr_array(Y), np.random.default_rng(0), n_trees=7, n_jobs=3)
    assert {process for process, _ in threads} == {os.getpid()}
    assert len(threads) == 3
    assert np.array_equal(one.trees.threshold, three.trees.threshold)
    assert np.array_equal(scores, same)


@pytest.mark.parametrize(
    ("n_features", "of_sparse", "of_dense"),
    [(1, 1, 1), (3, 2, 1), (10, 6, 3), (1000, 62, 31), (1_000_000, 2000, 1000)],
)
def test_splits_of_sparse_rows_look_at_more_features(n_features, of_sparse, of_dense):
    sparse = sp.csr_array((1, n_features))
    assert forest_module._n_tried(sparse) == of_sparse
    assert forest_module._n_tried(np.broadcast_to(0.0, sparse.shape)) == of_dense


@pytest.mark.parametrize("n_entries", [1, 150, 10**6])
@pytest.mark.parametrize("largest_shares", [0, 4])
def test_rows_are_scored_alike_however_many_leaves_are_gathered_at_once(
    monkeypatch, n_entries, largest_shares
):
    monkeypatch.setattr(leaf_votes, "_LARGEST_SHARES", largest_shares)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    forest, _ = fit_forest(X, sp.csr_array((X > 0).astype(int)), rng, n_trees=20)
    expected = forest.scores(X)
    monkeypatch.setattr(leaf_votes, "_CHUNK_ENTRIES", n_entries)
    np.testing.assert_allclose(forest.scores(X), expected, rtol=1e-12)
    leaves = forest.leaves(X)
    parts = list(forest._parts(leaves))
    assert [row for part in parts for row in range(60)[part]] == list(range(60))
    gathered = forest._shares if largest_shares else forest.leaf_rows
    sizes = np.diff(gathered.indptr)[leaves].sum(axis=1)
    assert all(part.stop - part.start == 1 or sizes[part].sum() < 2 * n_entries for part in parts)
    assert list(forest._parts(leaves[:0])) == []
