"""An exported model gives the probabilities of the library, for any number of rows."""

import json
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from protolabel import PNMLClassifier
from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.persistence import export_onnx
from quick_models import rows_in_quarters

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

TOLERANCE = 1e-6
QUICK = {"embedding_dim": 6, "max_epochs": 4, "n_trees": 12, "n_landmarks": 20, "random_state": 0}
ALONE = QUICK | {"n_trees": 0, "n_landmarks": 0}
CONFIGURATIONS = {
    "recommended": partial(PNMLClassifier, **QUICK),
    "compact": partial(PNMLClassifier, compact=True, **QUICK),
    "best_effort": partial(PNMLClassifier, effort="best", **QUICK),
    "networks_alone": partial(PNMLClassifier, **ALONE),
    "single": partial(PNMLClassifier, "single", **ALONE),
    "multiple": partial(PNMLClassifier, "multiple", concentration=1.0, **ALONE),
    "paper_single": partial(PNMLClassifier.paper, "single", embedding_dim=6, random_state=0),
    "paper_multiple": partial(
        PNMLClassifier.paper, "multiple", embedding_dim=6, max_epochs=10, random_state=0
    ),
    "kernel_alone": partial(PNMLClassifier, **(QUICK | {"n_trees": 0})),
    "forest_alone": partial(PNMLClassifier, **(QUICK | {"n_landmarks": 0})),
    "pnml_i": partial(PNMLClassifier, "multiple", shared_embedding=False, n_members=2, **QUICK),
    "pnml_d": partial(PNMLClassifier, metric="euclidean", **QUICK),
    "hidden_layer": partial(PNMLClassifier, hidden_dim=5, **QUICK),
    "trained_variance": partial(PNMLClassifier, "multiple", cluster_variance="trainable", **QUICK),
    "squared_single": partial(PNMLClassifier, "single", squared_distance=True, **QUICK),
    "squared_multiple": partial(PNMLClassifier, "multiple", squared_distance=True, **QUICK),
    "empirical_mixing": partial(PNMLClassifier, "multiple", mixing="empirical", **QUICK),
    "full_metric": partial(PNMLClassifier, metric_rank=None, **QUICK),
    "text_scaling": partial(PNMLClassifier, feature_scaling="text", **QUICK),
    "unit_scaling": partial(PNMLClassifier, feature_scaling="unit", **QUICK),
    "standard_scaling": partial(PNMLClassifier, feature_scaling="standard", **QUICK),
    "no_scaling": partial(PNMLClassifier, feature_scaling="none", **QUICK),
}


def rows(n_samples=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 5)).astype(np.float32)
    # The last feature is large and varies little: single precision would lose it.
    X[:, 4] += 1000
    # One more feature is a code, with a value that is too rare for a column of its own.
    X = np.column_stack([X, rng.integers(0, 4, size=n_samples)]).astype(np.float32)
    X[0, 5] = 7
    Y = (X[:, :3] + 0.3 * rng.normal(size=(n_samples, 3)) > 0.2).astype(int)
    # One label that is never, one that is always, and one that is hardly ever there.
    rare = np.zeros((n_samples, 1), int)
    rare[0] = 1
    return X, np.hstack([Y, 0 * rare, 0 * rare + 1, rare])


def exported(model, path):
    export_onnx(model, path)
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def outputs(session, X):
    return session.run(["probabilities", "log_odds"], {"features": X})


def assert_agrees(model, session, X):
    probabilities, log_odds = outputs(session, X)
    # The file computes in double precision, whatever the precision of its input.
    X = X.astype(np.float64)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=TOLERANCE)
    expected = model.decision_function(X).reshape(log_odds.shape)
    np.testing.assert_allclose(log_odds, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_configuration_gives_the_probabilities_of_the_library(name, tmp_path):
    X, Y = rows()
    model = CONFIGURATIONS[name]().fit(X.astype(np.float64), Y)
    session = exported(model, tmp_path / "model.onnx")
    unseen, _ = rows(1000, seed=1)
    for n_rows in (1, 2, 7, 1000):
        assert_agrees(model, session, unseen[:n_rows])
    assert [part.shape for part in outputs(session, unseen[:0])] == [(0, 6), (0, 6)]


@pytest.mark.parametrize("first_code", [16_777_217, 20_240_131, 10**9 + 1])
def test_codes_that_single_precision_has_not_are_told_apart(first_code, tmp_path):
    X, Y = rows()
    X = X.astype(np.float64)
    X[:, 5] = first_code + 1000 * (np.arange(len(X)) % 5)
    Y[:, 1] = np.arange(len(X)) % 5 < 2
    model = PNMLClassifier(effort="fast", max_epochs=20, random_state=0).fit(X, Y)
    assert len(model.model_.scaler.columns_.code) >= 5
    probabilities, _ = outputs(exported(model, tmp_path / "model.onnx"), X.astype(np.float32))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=0.01)


def test_sets_of_labels_are_exported_with_labels_that_came_later(tmp_path):
    X, Y = rows_in_quarters()
    model = PNMLClassifier(**QUICK).fit(X, np.column_stack([Y, np.ones(len(Y), dtype=int)]))
    assert model.model_.fusion.set_prototypes is not None
    grown = model.add_label(X[:5], name="later")
    for name, fitted in (("fitted", model), ("grown", grown)):
        session = exported(fitted, tmp_path / f"{name}.onnx")
        for size in (1.0, 100.0):
            assert_agrees(fitted, session, (size * X[:40]).astype(np.float32))
        assert outputs(session, X[:0].astype(np.float32))[0].shape[0] == 0


def test_a_row_of_zeros_is_scaled_to_zeros(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(feature_scaling="text", **QUICK).fit(X, Y)
    session = exported(model, tmp_path / "model.onnx")
    assert_agrees(model, session, np.zeros((3, 6), dtype=np.float32))


def test_a_model_fitted_to_sparse_text_takes_dense_rows(tmp_path):
    X = sp.random_array((120, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    Y = (X[:, :3] > 0).toarray().astype(int)
    model = PNMLClassifier(**QUICK).fit(X, Y)
    session = exported(model, tmp_path / "model.onnx")
    assert_agrees(model, session, X.toarray().astype(np.float32))


def test_prototype_trees_of_several_levels_and_of_none_are_exported(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(0.3, size=(400, 30)).astype(float))
    unseen = rng.poisson(0.3, size=(500, 30)).astype(np.float32)
    for name, Y in (("deep", (X[:, :4] > 0).toarray()), ("flat", np.ones((400, 2)))):
        model = PNMLClassifier(**(QUICK | {"n_landmarks": 0})).fit(X, Y.astype(int))
        forest = model.model_.companions[1]
        assert isinstance(forest, PrototypeForest)
        n_nodes = len(forest.prototype_trees.first_child)
        assert (n_nodes == 12) if name == "flat" else (n_nodes > 100)
        session = exported(model, tmp_path / f"{name}.onnx")
        for n_rows in (1, 3, 500):
            assert_agrees(model, session, unseen[:n_rows])
        assert outputs(session, unseen[:0])[0].shape == (0, Y.shape[1])


@pytest.mark.parametrize(
    "y",
    [["no", "yes", "no"] * 40, ["low", "mid", "high"] * 40, ["same"] * 120, [0, 1, 2, 3] * 30],
    ids=["binary", "classes", "one_class", "numbers"],
)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_one_dimensional_targets_give_probabilities_of_classes(y, tmp_path):
    X, _ = rows(120)
    model = PNMLClassifier(**QUICK).fit(X, y)
    session = exported(model, tmp_path / "model.onnx")
    assert_agrees(model, session, X)
    assert outputs(session, X)[0].shape == (120, len(set(y)))
    assert outputs(session, X[:0])[0].shape == (0, len(set(y)))


def test_decisions_follow_from_log_odds_and_the_thresholds_in_the_metadata(tmp_path):
    X, Y = rows(300)
    names = ["left", "up", "größe", "never", "always", "rare"]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = PNMLClassifier(**QUICK).fit(frame, pd.DataFrame(Y, columns=names))
    rule = replace(model.decision_, handicaps=np.array([1.0, 2.0, 1.0, 0.0, 0.0, 2.0]), slope=0.8)
    model.model_ = replace(model.model_, decision=rule)
    session = exported(model, tmp_path / "model.onnx")
    metadata = {
        key: json.loads(value) for key, value in session.get_modelmeta().custom_metadata_map.items()
    }
    assert metadata["label_names"] == names
    assert metadata["feature_names"] == list("abcdef")
    assert metadata["target_kind"] == "multilabel"
    assert metadata["at_least_one"] is False
    handicaps, slope = np.array(metadata["handicaps"]), metadata["slope"]
    excess = outputs(session, X)[1] - np.array(metadata["thresholds"])
    best = excess[:, handicaps > 0].max(axis=1, keepdims=True)
    needed = handicaps * (1 - np.exp(np.minimum(slope * (excess - best), 0)))
    scores = model.decision_function(frame)
    far = np.abs(scores - model.decision_.bars(scores)) > 1e-4
    np.testing.assert_array_equal((excess > needed)[far], model.predict(frame)[far] == 1)
    assert ((excess > 0) != (excess > needed)).any()


def test_rows_on_a_split_of_a_tree_go_the_same_way(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(feature_scaling="none", n_members=2, **(QUICK | {"n_landmarks": 0})).fit(
        X, Y
    )
    trees = model.model_.companions[0].trees
    inner = trees.feature >= 0
    at_split = np.repeat(X[:1], inner.sum(), axis=0)
    places = np.arange(len(at_split)), trees.feature[inner]
    at_split[places] = trees.threshold[inner].astype(np.float32)
    session = exported(model, tmp_path / "model.onnx")
    above, below = at_split.copy(), at_split.copy()
    above[places] = np.nextafter(at_split[places], np.float32(np.inf))
    below[places] = np.nextafter(at_split[places], np.float32(-np.inf))
    for batch in (at_split, above, below):
        assert_agrees(model, session, batch)


def test_the_link_of_the_regression_is_that_of_the_library(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(n_members=2, **(QUICK | {"n_trees": 0})).fit(X, Y)
    (companion,) = model.model_.companions
    assert isinstance(companion, KernelRidge)
    # Regression values from far below zero to far above one.
    companion.intercept[:] = np.linspace(-3, 4, 6)
    session = exported(model, tmp_path / "model.onnx")
    assert_agrees(model, session, X)


def test_columns_of_the_regression_have_their_weights(tmp_path):
    X, Y = rows()
    X = np.hstack([X, np.random.default_rng(2).normal(size=(len(X), 12))]).astype(np.float32)
    model = PNMLClassifier(n_members=2, **(QUICK | {"n_trees": 0})).fit(X, Y)
    (companion,) = model.model_.companions
    assert companion.weights is not None
    assert_agrees(model, exported(model, tmp_path / "model.onnx"), X)


def test_an_existing_file_is_kept_without_force(tmp_path):
    X, Y = rows()
    model = PNMLClassifier(n_members=1, **ALONE).fit(X, Y)
    export_onnx(model, tmp_path / "model.onnx")
    with pytest.raises(FileExistsError, match="force=True"):
        export_onnx(model, tmp_path / "model.onnx")
    export_onnx(model, tmp_path / "model.onnx", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_without_onnx_the_extra_is_named(tmp_path, monkeypatch):
    X, Y = rows()
    model = PNMLClassifier(n_members=1, **ALONE).fit(X, Y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"protolabel\[onnx\]"):
        export_onnx(model, tmp_path / "model.onnx")


def test_only_fitted_pnml_models_are_exported(tmp_path):
    with pytest.raises(TypeError, match="expected a PNMLClassifier"):
        export_onnx(LogisticRegression(), tmp_path / "model.onnx")
    with pytest.raises(NotFittedError):
        export_onnx(PNMLClassifier(), tmp_path / "model.onnx")
