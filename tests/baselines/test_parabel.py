"""Parabel against a walk through its trees, against omikuji, and at its edges."""

import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from protolabel.baselines._label_tree import (
    LinearSettings,
    balanced_halves,
    grow_tree,
    label_centroids,
    linear_inputs,
)
from protolabel.baselines._omikuji import write_rows
from protolabel.baselines.parabel import Parabel
from protolabel.datasets import make_multilabel_like
from protolabel.metrics import evaluate
from reference import parabel as reference

SETTINGS = LinearSettings(loss_weight=1.0, weight_threshold=0.1)


@pytest.fixture
def many_labels():
    """A hundred rows of twelve labels in four groups, each label with its own feature."""
    rng = np.random.default_rng(5)
    Y = (rng.random((100, 12)) < 0.2).astype(int)
    Y[np.arange(100), rng.integers(12, size=100)] = 1
    X = sp.csr_array(np.hstack([Y * rng.random((100, 12)), rng.random((100, 3)) < 0.2]))
    return X, Y


def test_inputs_have_unit_rows_and_a_constant():
    inputs = linear_inputs(np.array([[3.0, 4.0], [0.0, 0.0]])).toarray()
    assert np.allclose(inputs, [[0.6, 0.8, 1.0], [0.0, 0.0, 1.0]])


def test_centroids_are_unit_sums_of_the_rows_of_a_label():
    rows = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    Y = sp.csr_array(np.array([[1, 1], [0, 1], [0, 0]]))
    expected = [[1.0, 0.0], [0.5**0.5, 0.5**0.5]]
    assert np.allclose(label_centroids(rows, Y).toarray(), expected)


@pytest.mark.parametrize("n_labels", [2, 3, 7, 20])
def test_halves_differ_by_at_most_one_label(n_labels):
    rng = np.random.default_rng(n_labels)
    centroids = sp.csr_array(rng.random((n_labels, 4)))
    assert balanced_halves(centroids, rng).sum() == n_labels // 2


def test_halves_keep_similar_labels_together():
    centroids = sp.csr_array(np.repeat(np.eye(2), 4, axis=0))
    for seed in range(5):
        half = balanced_halves(centroids, np.random.default_rng(seed))
        if len(set(half[:4])) == 1:
            assert len(set(half[4:])) == 1
            return
    pytest.fail("no start of five found the two groups")


def test_a_tree_splits_until_nodes_are_small_and_holds_each_label_once(many_labels):
    X, Y = many_labels
    tree = grow_tree(linear_inputs(X), sp.csr_array(Y), 4, 20, SETTINGS, np.random.default_rng(0))
    sizes = np.bincount(tree.leaves, minlength=len(tree.parents))
    assert sizes.sum() == 12
    assert set(sizes[sizes > 0]) == {3}
    assert (sizes[tree.parents[1:]] == 0).all()
    assert (tree.depths[1:] == tree.depths[tree.parents[1:]] + 1).all()


def test_depth_is_limited(many_labels):
    X, Y = many_labels
    tree = grow_tree(linear_inputs(X), sp.csr_array(Y), 2, 2, SETTINGS, np.random.default_rng(0))
    assert tree.depths.max() == 1


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_few_labels_are_one_leaf_of_pruned_linear_classifiers(many_labels):
    X, Y = many_labels
    tree = grow_tree(linear_inputs(X), sp.csr_array(Y), 100, 20, SETTINGS, np.random.default_rng(3))
    assert tree.parents.tolist() == [-1]
    seeds = np.random.default_rng(3)
    for label in range(12):
        svm = LinearSVC(
            dual=True,
            tol=0.1,
            max_iter=20,
            fit_intercept=False,
            random_state=int(seeds.integers(2**31 - 1)),
        )
        weights = svm.fit(linear_inputs(X), Y[:, label]).coef_.ravel()
        weights[np.abs(weights) <= 0.1] = 0
        assert np.allclose(tree.label_weights.toarray()[label], weights)


@pytest.mark.parametrize("min_branch_size", [2, 4, 100])
def test_scores_are_those_of_a_walk_through_the_trees(many_labels, min_branch_size):
    X, Y = many_labels
    model = Parabel(min_branch_size=min_branch_size, feature_scaling="none", random_state=0)
    model.fit(X, Y)
    found = model.predict_proba(X[:6])
    for row, values in enumerate(X[:6].toarray()):
        for label in range(12):
            expected = reference.forest_score(
                model.model_.trees, reference.unit_with_one(values), label
            )
            assert found[row, label] == pytest.approx(expected, rel=1e-9)
    assert (model.predict(X[:6]) == (found >= 0.5)).all()


def test_chunks_do_not_change_scores(many_labels, monkeypatch):
    X, Y = many_labels
    model = Parabel(min_branch_size=4, random_state=0).fit(X, Y)
    whole = model.decision_function(X)
    monkeypatch.setattr("protolabel.baselines.parabel._CHUNK_CELLS", 100)
    assert np.abs(model.decision_function(X) - whole).max() < 1e-12


def test_labels_outside_the_beam_are_ranked_last_and_not_predicted(many_labels):
    X, Y = many_labels
    model = Parabel(n_trees=1, min_branch_size=4, random_state=0).fit(X, Y)
    full = model.decision_function(X)
    model.beam_width = 1
    narrow = model.decision_function(X)
    reached = narrow == full
    assert (reached.sum(axis=1) == 3).all()
    assert np.isfinite(narrow).all()
    lost = np.where(reached, -np.inf, narrow).max(axis=1)
    assert (lost < np.where(reached, narrow, np.inf).min(axis=1)).all()
    assert (lost < 0).all()
    model.beam_width = 12
    assert (model.decision_function(X) == full).all()


def test_a_seed_gives_the_same_model(many_labels):
    X, Y = many_labels
    scores = [
        Parabel(min_branch_size=4, random_state=seed).fit(X, Y).decision_function(X)
        for seed in (0, 0, 1)
    ]
    assert (scores[0] == scores[1]).all()
    assert np.abs(scores[0] - scores[2]).max() > 0


def test_a_child_that_holds_every_row_costs_nothing():
    X = np.eye(4)
    Y = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 1]])
    tree = grow_tree(linear_inputs(X), sp.csr_array(Y), 2, 20, SETTINGS, np.random.default_rng(0))
    assert tree.sure_nodes[1:].any() or tree.sure_labels.any()
    assert np.isfinite(tree.log_scores(linear_inputs(X), None)).all()


def test_labels_of_one_side_are_left_out(many_labels):
    X, Y = many_labels
    wide = np.column_stack([Y, np.zeros(100, int), np.ones(100, int)])
    model = Parabel(random_state=0).fit(X, wide)
    scores = model.decision_function(X)
    assert (scores[:, 12] < scores[:, :12].min(axis=1)).all()
    assert (scores[:, 13] > scores[:, :12].max(axis=1)).all()
    probabilities = model.predict_proba(X)
    assert (probabilities[:, 12] == 0).all()
    assert (probabilities[:, 13] == 1).all()


@pytest.mark.parametrize("engine", ["own", "omikuji"])
@pytest.mark.parametrize("sparse", [False, True])
def test_degenerate_data_gives_finite_scores(engine, sparse):
    if engine == "omikuji":
        pytest.importorskip("omikuji")
    for X, Y in (
        (np.ones((1, 2)), np.array([[1, 0]])),
        (np.ones((2, 2)), np.array([[1, 0], [0, 1]])),
        (np.zeros((6, 3)), np.tile([[1], [0]], (3, 1))),
        (np.repeat([[1.0, 0.0], [0.0, 0.0]], 4, axis=0), np.repeat([[1, 0], [0, 1]], 4, axis=0)),
    ):
        rows = sp.csr_array(X) if sparse else X
        model = Parabel(engine=engine, random_state=0).fit(rows, Y)
        scores = model.decision_function(rows)
        assert scores.shape == Y.shape
        assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"engine": "rust"}, "engine='rust' is unknown; use one of"),
        ({"n_trees": 0}, "n_trees=0 was given; expected a whole number of at least 1"),
        ({"min_branch_size": 1}, "min_branch_size=1 was given"),
        ({"beam_width": 0}, "beam_width=0 was given"),
        ({"loss_weight": 0.0}, "loss_weight=0.0 was given"),
        ({"weight_threshold": -1}, "weight_threshold=-1 was given"),
    ],
)
def test_wrong_parameters_are_refused(many_labels, params, message):
    with pytest.raises(ValueError, match=message):
        Parabel(**params).fit(*many_labels)


def test_rows_are_written_without_trailing_spaces(tmp_path):
    X = np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    Y = sp.csr_array(np.array([[1, 1], [0, 1], [0, 0], [0, 0]]))
    write_rows(tmp_path / "rows.txt", X, Y)
    lines = (tmp_path / "rows.txt").read_text().splitlines()
    assert lines == ["4 2 2", "0,1 0:0.5", "1", " 1:2.0", ""]


@pytest.mark.parametrize(("name", "n_samples"), [("enron", 700), ("corel5k", 1500)])
def test_ranking_agrees_with_omikuji(name, n_samples):
    pytest.importorskip("omikuji")
    data = make_multilabel_like(name, n_samples=n_samples, random_state=0)
    Y = data.Y.toarray()
    cut = n_samples * 2 // 3
    results = {}
    for engine in ("own", "omikuji"):
        model = Parabel(engine=engine, random_state=0).fit(data.X[:cut], Y[:cut])
        scores = model.decision_function(data.X[cut:])
        results[engine] = evaluate(Y[cut:], model.predict(data.X[cut:]), scores)
    for metric in ("average_precision", "ranking_loss"):
        assert results["own"][metric] == pytest.approx(results["omikuji"][metric], abs=0.02)
    if name == "corel5k":
        assert (Y[:cut].sum(axis=0) > 0).sum() > 200


def test_omikuji_reads_rows_without_labels_or_features_and_logs_nothing_to_stdout(capfd):
    pytest.importorskip("omikuji")
    X = sp.csr_array(np.array([[1.0, 0], [0, 1], [0, 0], [1, 1], [0, 0]]))
    Y = np.array([[1, 0], [0, 1], [0, 1], [0, 0], [0, 0]])
    scores = Parabel(engine="omikuji", feature_scaling="none").fit(X, Y).decision_function(X)
    assert np.isfinite(scores).all()
    assert capfd.readouterr().out == ""


def test_an_omikuji_model_survives_pickling(many_labels):
    pytest.importorskip("omikuji")
    X, Y = many_labels
    model = Parabel(engine="omikuji").fit(X, Y)
    scores = model.decision_function(X)
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(X) == scores).all()
    assert all(content.dtype == np.uint8 for content in model.model_.file_contents)


def test_a_missing_omikuji_is_named_with_its_extra(many_labels, monkeypatch):
    monkeypatch.setitem(sys.modules, "omikuji", None)
    with pytest.raises(ImportError, match=r"protolabel\[peers\]"):
        Parabel(engine="omikuji").fit(*many_labels)
