"""A loaded model is the saved one: parameters, names, predictions to the last bit."""

import json
import os
import stat
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from safetensors.numpy import load_file
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from persistence.conftest import labelled_rows, rows_with_idle_columns
from protolabel import PNMLClassifier
from protolabel.baselines.parabel import Parabel
from protolabel.persistence import load_model, save_model
from protolabel.persistence.pnml_state import network_specs
from protolabel.persistence.registry import STORABLES
from protolabel.pnml.callbacks import Callback
from protolabel.safefiles import bundle
from quick_models import rows_in_quarters

QUICK = {"embedding_dim": 4, "max_epochs": 2, "n_trees": 5, "n_landmarks": 10, "random_state": 0}
CONFIGURATIONS = {
    "recommended": partial(PNMLClassifier, **QUICK),
    "paper_single": partial(PNMLClassifier.paper, "single", **QUICK),
    "paper_multiple": partial(PNMLClassifier.paper, "multiple", **QUICK),
    "pnml_i": partial(PNMLClassifier, "multiple", shared_embedding=False, n_members=2, **QUICK),
    "pnml_d": partial(PNMLClassifier, metric="euclidean", **QUICK),
    "hidden_layer": partial(PNMLClassifier, hidden_dim=5, **QUICK),
    "trained_variance": partial(PNMLClassifier, cluster_variance="trainable", **QUICK),
    "squared_distance": partial(PNMLClassifier, "single", squared_distance=True, **QUICK),
    "early_stopping": partial(PNMLClassifier, early_stopping=True, **QUICK),
    "one_label_at_least": partial(PNMLClassifier, at_least_one=True, **QUICK),
    "networks_alone": partial(PNMLClassifier, **(QUICK | {"n_trees": 0, "n_landmarks": 0})),
    "landmarks_alone": partial(PNMLClassifier, **(QUICK | {"n_trees": 0})),
    "text_scaling": partial(PNMLClassifier, feature_scaling="text", **QUICK),
}


def assert_same_model(model, loaded, X):
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    for name in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(loaded, name)(X), getattr(model, name)(X))
    for name in ("classes_", "label_names_"):
        found, saved = getattr(loaded, name), getattr(model, name)
        assert found.dtype.kind == saved.dtype.kind
        assert found.tolist() == saved.tolist()
    assert loaded.n_features_in_ == model.n_features_in_


def round_trip(model, folder):
    save_model(model, folder)
    return load_model(folder)


def test_sets_of_labels_are_kept(tmp_path):
    X, Y = rows_in_quarters()
    model = PNMLClassifier(**QUICK).fit(X, Y)
    assert model.model_.fusion.set_prototypes is not None
    assert_same_model(model, round_trip(model, tmp_path / "model"), X)
    grown = model.add_label(X[:5], name="later")
    assert_same_model(grown, round_trip(grown, tmp_path / "grown"), X)


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_weights_of_columns_come_back(tmp_path, as_rows):
    X, Y = rows_with_idle_columns()
    X = as_rows(np.maximum(X, 0.0))
    model = PNMLClassifier(**QUICK).fit(X, Y)
    assert model.model_.companions[0].weights is not None
    assert_same_model(model, round_trip(model, tmp_path / "model"), X)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_every_configuration_of_pnml_comes_back_bit_for_bit(name, tmp_path):
    X, Y = labelled_rows(120)
    model = CONFIGURATIONS[name]().fit(X, Y)
    loaded = round_trip(model, tmp_path / "model")
    assert_same_model(model, loaded, X)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.thresholds_, model.thresholds_)
    np.testing.assert_array_equal(loaded.n_prototypes_, model.n_prototypes_)
    assert loaded.history_ == model.history_


@pytest.mark.parametrize("name", [name for name in STORABLES if name != "PNMLClassifier"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_every_baseline_comes_back_bit_for_bit(name, form, tmp_path):
    X, Y = labelled_rows(80)
    # One label that no row has and one that every row has are kept out of the fit.
    Y = np.column_stack([np.zeros(len(Y), int), Y, np.ones(len(Y), int)])
    X = np.maximum(X, 0)
    X = sp.csr_array(X) if form == "sparse" else X
    estimator = STORABLES[name].estimator()
    quick = {"random_state": 0} | ({"max_iter": 20} if name == "BinaryRelevanceMLP" else {})
    model = estimator(**quick).fit(X, Y)
    loaded = round_trip(model, tmp_path / "model")
    assert_same_model(model, loaded, X)
    for extra in STORABLES[name].extras:
        assert getattr(loaded, extra) == getattr(model, extra)


def test_label_trees_that_branch_come_back(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    Y = (X @ rng.normal(size=(4, 12)) > 0.5).astype(int)
    model = Parabel(min_branch_size=3, beam_width=2, random_state=0).fit(X, Y)
    assert_same_model(model, round_trip(model, tmp_path / "model"), X)


def test_the_trees_of_omikuji_are_not_saved(tmp_path):
    pytest.importorskip("omikuji")
    X, Y = labelled_rows()
    model = Parabel(engine="omikuji", random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="engine='own'"):
        save_model(model, tmp_path / "model")


@pytest.mark.filterwarnings("ignore:The objective fell")
@pytest.mark.parametrize("name", [name for name in STORABLES if name != "PNMLClassifier"])
def test_a_baseline_with_nothing_to_learn_comes_back(name, tmp_path):
    X, _ = labelled_rows(20)
    Y = np.column_stack([np.zeros(20, int), np.ones(20, int)])
    model = STORABLES[name].estimator()(random_state=0).fit(X, Y)
    assert_same_model(model, round_trip(model, tmp_path / "model"), X)


@pytest.mark.parametrize(
    "y",
    [
        [{"calm", "rock"}, {"rock"}, set()] * 20,
        [{1, 2}, {2}, {3}] * 20,
        [{"calm", 7}, {7}, {0.5}] * 20,
        ["no", "yes", "no"] * 20,
        ["low", "mid", "high"] * 20,
        [3, 5, 9] * 20,
        [1.0, 2.0, 1.0] * 20,
        [True, False, True] * 20,
        ["same"] * 60,
        pd.DataFrame({"a": [0, 1, 0] * 20, "größe": [1, 1, 0] * 20}),
        np.array(["a", "b", "a"] * 20, dtype=object),
    ],
    ids=[
        "set_prototypes",
        "numbered_sets",
        "mixed_sets",
        "binary",
        "classes",
        "numbers",
        "whole_floats",
        "booleans",
        "one_class",
        "frame",
        "objects",
    ],
)
def test_every_kind_of_target_comes_back(y, tmp_path):
    X, _ = labelled_rows(60)
    model = PNMLClassifier(n_members=2, **QUICK).fit(X, y)
    assert_same_model(model, round_trip(model, tmp_path / "model"), X)


def test_feature_names_come_back_and_are_checked(tmp_path):
    X, Y = labelled_rows()
    frame = pd.DataFrame(X, columns=["width", "depth", "größe"])
    model = PNMLClassifier(n_members=2, **QUICK).fit(frame, Y)
    loaded = round_trip(model, tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["width", "depth", "größe"]
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"width": "height"}))


def test_columns_of_codes_come_back(tmp_path):
    X, Y = labelled_rows()
    X[:, 2] = np.arange(len(X)) % 4
    model = PNMLClassifier(**QUICK).fit(X, Y)
    loaded = round_trip(model, tmp_path / "model")
    assert loaded.model_.scaler.columns_.code.tolist() == [0, 1, 2, 3]
    assert_same_model(model, loaded, X)


def test_sparse_text_comes_back(tmp_path):
    X = sp.random_array((80, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    Y = (X[:, :3] > 0).toarray().astype(int)
    model = PNMLClassifier(n_members=2, **QUICK).fit(X, Y)
    loaded = round_trip(model, tmp_path / "model")
    assert_same_model(model, loaded, X)
    assert loaded.model_.scaler.scaling_ == "text"


def test_a_loaded_model_can_be_cloned_and_fitted_again(tiny_model, saved_model):
    X, Y = labelled_rows()
    again = clone(load_model(saved_model)).fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), tiny_model.predict_proba(X))


def test_a_loaded_model_can_be_saved_again_with_the_same_bytes(saved_model, tmp_path):
    save_model(load_model(saved_model), tmp_path / "again")
    for name in ("manifest.json", "tensors.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (saved_model / name).read_bytes()


def test_live_objects_are_left_out_and_named(tmp_path):
    X, Y = labelled_rows()
    model = PNMLClassifier(
        n_members=1,
        callbacks=[Callback()],
        **(QUICK | {"random_state": np.random.RandomState(0)}),
    ).fit(X, Y)
    loaded = round_trip(model, tmp_path / "model")
    manifest = json.loads((tmp_path / "model" / "manifest.json").read_text())
    assert manifest["parameters_left_out"] == ["callbacks", "random_state"]
    assert loaded.callbacks is None
    assert loaded.random_state is None
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_numpy_numbers_as_parameters_are_stored_as_plain_numbers(tmp_path):
    X, Y = labelled_rows()
    model = PNMLClassifier(
        n_members=np.int64(2), learning_rate=np.float32(0.5), verbose=0, **QUICK
    ).fit(X, Y)
    loaded = round_trip(model, tmp_path / "model")
    assert (loaded.n_members, loaded.learning_rate, loaded.verbose) == (2, 0.5, False)


def test_metrics_are_kept_in_the_manifest(tiny_model, tmp_path):
    save_model(tiny_model, tmp_path / "model", metrics={"micro_f1": np.float64(0.75)})
    manifest = json.loads((tmp_path / "model" / "manifest.json").read_text())
    assert manifest["metrics"] == {"micro_f1": 0.75}
    load_model(tmp_path / "model")


@pytest.mark.parametrize("metrics", [{"f1": np.nan}, {"f1": "high"}, {1: 0.5}])
def test_metrics_that_are_no_numbers_are_refused(metrics, tiny_model, tmp_path):
    with pytest.raises(ValueError, match="finite number under a string"):
        save_model(tiny_model, tmp_path / "model", metrics=metrics)
    assert not (tmp_path / "model").exists()


def test_the_tensor_file_is_plain_safetensors(tiny_model, saved_model):
    tensors = load_file(saved_model / "tensors.safetensors")
    state = tiny_model.model_.network.state_dict()
    assert {name.removeprefix("network.") for name in tensors if "network" in name} == set(state)
    np.testing.assert_array_equal(tensors["thresholds"], tiny_model.thresholds_)


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(PNMLClassifier(), tmp_path / "model")


class Subclass(PNMLClassifier):
    pass


@pytest.mark.parametrize("model", [LogisticRegression(), Subclass(), object()])
def test_models_of_others_are_not_saved(model, tmp_path):
    with pytest.raises(TypeError, match="cannot be saved as a model file"):
        save_model(model, tmp_path / "model")


def test_an_attribute_that_would_be_lost_is_refused(tmp_path):
    X, Y = labelled_rows()
    model = PNMLClassifier(n_members=1, **QUICK).fit(X, Y)
    model.note_ = "mine"
    with pytest.raises(TypeError, match="note_"):
        save_model(model, tmp_path / "model")


@pytest.mark.parametrize("labels", [[{("a", 1)}, {("b", 2)}], [{"a", b"b"}, {"a"}]])
def test_labels_that_are_no_plain_names_are_refused(labels, tmp_path):
    X, _ = labelled_rows(40)
    model = PNMLClassifier(n_members=1, **QUICK).fit(X, labels * 20)
    with pytest.raises(TypeError, match="Rename the labels"):
        save_model(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("part", ["labels", "features", "classes"])
def test_names_that_are_no_text_are_refused_before_anything_is_written(part, tmp_path):
    X, Y = labelled_rows()
    names = np.array(["calm", os.fsdecode(b"caf\xe9"), "wide"], dtype=object)
    if part == "features":
        X = pd.DataFrame(X, columns=pd.Index(names, dtype=object))
    else:
        Y = [set(names[:2][row == 1]) for row in Y] if part == "labels" else names[Y[:, 0]]
    model = PNMLClassifier(n_members=1, **QUICK).fit(X, Y)
    with pytest.raises(ValueError, match=r"The name 'caf.*' cannot be stored: .* Rename it"):
        save_model(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_kept_without_force(tiny_model, saved_model, tmp_path):
    save_model(tiny_model, tmp_path / "model")
    with pytest.raises(FileExistsError, match="force=True"):
        save_model(tiny_model, tmp_path / "model")


def test_force_replaces_a_model_and_leaves_nothing_beside_it(tiny_model, tmp_path):
    save_model(tiny_model, tmp_path / "model")
    save_model(tiny_model, tmp_path / "model", metrics={"accuracy": 1.0}, force=True)
    assert json.loads((tmp_path / "model" / "manifest.json").read_text())["metrics"]
    assert os.listdir(tmp_path) == ["model"]


def test_force_does_not_delete_a_folder_with_files_of_others(tiny_model, tmp_path):
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"chapter\.tex"):
        save_model(tiny_model, folder, force=True)
    assert (folder / "chapter.tex").read_text() == "years of work"


def test_a_file_is_never_replaced(tiny_model, tmp_path):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(FileExistsError, match="not a folder"):
        save_model(tiny_model, tmp_path / "model", force=True)


def test_a_missing_parent_folder_is_named(tiny_model, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; create it"):
        save_model(tiny_model, tmp_path / "no" / "model")


def test_a_failing_save_leaves_nothing_behind(tmp_path):
    X, Y = labelled_rows()
    model = PNMLClassifier(n_members=1, **QUICK).fit(X, Y)
    model.model_.decision.thresholds[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        save_model(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_both_files_follow_the_umask(saved_model):
    modes = {stat.S_IMODE(path.stat().st_mode) for path in saved_model.iterdir()}
    assert len(modes) == 1


def test_a_link_to_a_model_is_followed(tiny_model, saved_model, tmp_path):
    (tmp_path / "latest").symlink_to(saved_model)
    X, _ = labelled_rows()
    loaded = load_model(str(tmp_path / "latest"))
    np.testing.assert_array_equal(loaded.predict(X), tiny_model.predict(X))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_announced_shapes_are_those_of_a_network(name):
    X, Y = labelled_rows(40)
    network = CONFIGURATIONS[name]().fit(X, Y).model_.network
    specs = network_specs(network.settings, 3, 2, network.n_members)
    state = {
        key: value
        for key, value in network.state_dict().items()
        if key not in ("positions", "log_weights")
    }
    assert {key: spec.shape for key, spec in specs.items()} == {
        key: tuple(value.shape) for key, value in state.items()
    }
    assert all((specs[k].dtype == "BOOL") == (v.dtype == torch.bool) for k, v in state.items())


@pytest.mark.parametrize("n_replaced", [1, 3])
def test_a_model_that_is_replaced_while_it_is_loaded_is_one_or_the_other(
    tmp_path, monkeypatch, n_replaced
):
    X, Y = rows_in_quarters()
    models = [
        PNMLClassifier(effort="fast", max_epochs=1, random_state=seed).fit(X, Y)
        for seed in range(n_replaced + 1)
    ]
    save_model(models[0], tmp_path / "m")
    left = models[1:]
    read = bundle._read_manifest

    def read_and_replace(folder):
        manifest = read(folder)
        if left:
            save_model(left.pop(0), folder, force=True)
        return manifest

    monkeypatch.setattr(bundle, "_read_manifest", read_and_replace)
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), models[-1].decision_function(X))
