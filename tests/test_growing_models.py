"""Models that learn on: labels added after training, and streams."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolabel import PNMLClassifier
from protolabel.datasets import load_dataset
from protolabel.persistence import export_onnx, load_model, save_model
from protolabel.pnml.streaming import StreamTrainer

QUICK = {"max_epochs": 5, "random_state": 0}
LIGHT = QUICK | {"effort": "fast"}
CONFIGURATIONS = {
    "single": LIGHT,
    "multiple": LIGHT | {"prototypes": "multiple"},
    "companions": QUICK | {"n_members": 2, "n_trees": 5, "n_landmarks": 30},
    "squared": LIGHT | {"squared_distance": True},
    "euclidean": LIGHT | {"metric": "euclidean"},
    "full rank": LIGHT | {"metric_rank": None, "embedding_dim": 8},
    "trained variance": LIGHT | {"cluster_variance": "trainable"},
    "one member": LIGHT | {"n_members": 1},
}


@pytest.fixture(scope="module")
def rows():
    """Rows of which the last two features decide labels that come later."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    return X, (X[:, :4] > 0.3).astype(int), (X[:, 4] > 0.8).astype(int)


@pytest.fixture(params=CONFIGURATIONS, scope="module")
def fitted(request, rows):
    X, Y, _ = rows
    return PNMLClassifier(**CONFIGURATIONS[request.param]).fit(X, Y)


@pytest.fixture
def light(rows):
    X, Y, _ = rows
    return PNMLClassifier(**LIGHT).fit(X, Y)


# Labels that come later


def test_the_scores_of_other_labels_stay_bit_for_bit(fitted, rows):
    X, _, later = rows
    model = pickle.loads(pickle.dumps(fitted))
    before = model.decision_function(X)
    one_row = model.decision_function(X[:1])
    model.add_label(X[later == 1][:10])
    once = model.decision_function(X)
    model.add_label(X[:5])
    assert np.array_equal(once[:, :4], before)
    assert np.array_equal(model.decision_function(X)[:, :5], once)
    assert np.array_equal(model.decision_function(X[:1])[:, :4], one_row)


def test_the_score_of_a_single_row_stays_bit_for_bit_beside_one_label_of_many_members():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    model = PNMLClassifier(
        "single", n_members=17, n_landmarks=0, n_trees=0, max_epochs=1, random_state=0
    ).fit(X, [{"a"} if row[0] > 0 else set() for row in X])
    before = [model.decision_function(X[i : i + 1])[0, 0] for i in range(30)]
    model.add_label(X[X[:, 1] > 1], name="b")
    assert [model.decision_function(X[i : i + 1])[0, 0] for i in range(30)] == before


def test_a_label_is_learned_from_ten_rows(fitted, rows):
    X, _, later = rows
    model = pickle.loads(pickle.dumps(fitted))
    positives = np.flatnonzero(later)
    model.add_label(X[positives[:10]])
    others = np.setdiff1d(np.arange(len(X)), positives[:10])
    assert roc_auc_score(later[others], model.decision_function(X[others])[:, 4]) > 0.75
    share = model.predict(X[others])[:, 4].mean()
    assert 0.02 < share < 0.7


def test_everything_about_labels_grows(fitted, rows):
    X, _, later = rows
    model = pickle.loads(pickle.dumps(fitted))
    n_members = model.model_.network.n_members
    assert model.add_label(X[later == 1][:10], name="later") is model
    assert model.label_names_.tolist() == [0, 1, 2, 3, "later"]
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert model.thresholds_.shape == (5,)
    assert model.n_prototypes_.shape == (n_members, 5, 2)
    assert model.n_prototypes_[:, 4].tolist() == [[1, 1]] * n_members
    newest = [found for found in model.prototypes_ if found.label == "later"]
    assert [found.member for found in newest] == list(range(n_members))
    embedded = model.transform(X[later == 1][:10]).reshape(10, n_members, -1)
    np.testing.assert_allclose(newest[0].positive[0], embedded[:, 0].mean(0))
    assert model.predict(X).shape == model.predict_proba(X).shape == (300, 5)


def test_a_grown_model_is_stored(fitted, rows, tmp_path):
    X, _, later = rows
    model = pickle.loads(pickle.dumps(fitted)).add_label(X[later == 1][:10], name="later")
    save_model(model, tmp_path / "grown")
    loaded = load_model(tmp_path / "grown")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.label_names_.tolist() == model.label_names_.tolist()
    loaded.add_label(X[:5])
    model.add_label(X[:5])
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("name", ["multiple", "companions"])
def test_a_grown_model_is_exported(rows, name, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, Y, later = rows
    X = X.astype(np.float32)
    model = PNMLClassifier(**CONFIGURATIONS[name]).fit(X, Y).add_label(X[later == 1][:10])
    export_onnx(model, tmp_path / "grown.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "grown.onnx")
    (found,) = session.run(["probabilities"], {"features": X})
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-6)


def test_sparse_rows_and_given_negatives_are_taken(rows):
    X, Y, later = rows
    X = X * (np.abs(X) > 0.5)
    model = PNMLClassifier(**LIGHT).fit(sp.csr_array(X), Y)
    positive, negative = np.flatnonzero(later)[:10], np.flatnonzero(later == 0)[:50]
    dense = pickle.loads(pickle.dumps(model)).add_label(X[positive], X_negative=X[negative])
    model.add_label(sp.csr_array(X[positive]), X_negative=sp.csr_array(X[negative]))
    np.testing.assert_allclose(dense.decision_function(X), model.decision_function(X), atol=1e-5)
    assert roc_auc_score(later, model.decision_function(X)[:, 4]) > 0.8


def test_label_sets_get_the_new_name(rows):
    X, Y, later = rows
    tags = [{name for name, y in zip("abcd", row, strict=True) if y} for row in Y]
    model = PNMLClassifier(**LIGHT).fit(X, tags).add_label(X[later == 1][:10], name="later")
    assert any("later" in labels for labels in model.predict_label_sets(X))


def test_one_positive_row_is_enough(light, rows):
    light.add_label(rows[0][:1])
    assert np.isfinite(light.decision_function(rows[0])).all()


def test_a_name_cannot_be_taken_twice(light, rows):
    with pytest.raises(ValueError, match="has a label 2 already"):
        light.add_label(rows[0][:5], name=2)
    assert light.decision_function(rows[0]).shape == (300, 4)


def test_labels_are_added_to_multi_label_models_with_a_shared_embedding_only(rows):
    X, Y, _ = rows
    with pytest.raises(ValueError, match="fitted to one class per row"):
        PNMLClassifier(**LIGHT).fit(X, Y[:, 0]).add_label(X[:5])
    with pytest.raises(ValueError, match="shared_embedding=True"):
        PNMLClassifier(**LIGHT, shared_embedding=False).fit(X, Y).add_label(X[:5])


def test_rows_of_a_new_label_need_the_features_of_the_model(light, rows):
    with pytest.raises(ValueError, match="5 features"):
        light.add_label(rows[0][:5, :5])


def test_a_fit_forgets_the_labels_that_were_added(light, rows):
    X, Y, _ = rows
    before = light.decision_function(X)
    light.add_label(X[:5]).fit(X, Y)
    assert np.array_equal(light.decision_function(X), before)


# Streams


def stream(model, X, Y, size=100, **first):
    for start in range(0, X.shape[0], size):
        options = first if start == 0 else {}
        model.partial_fit(X[start : start + size], Y[start : start + size], **options)
    return model


@parametrize_with_checks([PNMLClassifier(effort="fast", max_epochs=5, n_members=1)])
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)


def test_a_stream_comes_close_to_a_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 12))
    Y = (X @ rng.normal(size=(12, 6)) + rng.normal(size=(4000, 6)) > 1.5).astype(int)
    model, rest = PNMLClassifier(effort="fast", random_state=0), slice(3000, 4000)
    streamed = stream(clone(model), X[:3000], Y[:3000], size=250).decision_function(X[rest])
    fitted = model.fit(X[:3000], Y[:3000]).decision_function(X[rest])
    found, wanted = (average_precision_score(Y[rest], s) for s in (streamed, fitted))
    assert found > wanted - 0.05


@pytest.mark.slow
def test_a_stream_of_yeast_comes_close_to_a_fit(benchmark_data):
    data = load_dataset("yeast", benchmark_data)
    order = np.random.default_rng(0).permutation(len(data.X))
    X, Y = data.X[order], data.Y.toarray()[order]
    model, rest = PNMLClassifier(effort="fast", random_state=0), slice(1600, None)
    streamed = stream(clone(model), X[:1600], Y[:1600], size=100).decision_function(X[rest])
    fitted = model.fit(X[:1600], Y[:1600]).decision_function(X[rest])
    options = {"average": "samples"}
    found, wanted = (average_precision_score(Y[rest], s, **options) for s in (streamed, fitted))
    assert found > wanted - 0.05


def test_the_same_seed_gives_the_same_stream(rows):
    X, Y, _ = rows
    first, second = (stream(PNMLClassifier(**LIGHT), X, Y).decision_function(X) for _ in "ab")
    assert np.array_equal(first, second)


def test_a_stream_goes_on_after_pickling(rows):
    X, Y, _ = rows
    model = stream(PNMLClassifier(**LIGHT), X[:200], Y[:200])
    copied = pickle.loads(pickle.dumps(model))
    for one in (model, copied):
        one.partial_fit(X[200:], Y[200:])
    assert np.array_equal(model.decision_function(X), copied.decision_function(X))


def test_the_size_of_a_stream_does_not_grow(rows):
    X, Y, _ = rows
    model = stream(PNMLClassifier(**LIGHT), X[:100], Y[:100])
    size = len(pickle.dumps(model))
    for _ in range(10):
        model.partial_fit(X, Y)
    assert len(pickle.dumps(model)) < 1.01 * size
    assert len(model.history_) == 1


def test_streams_take_sparse_rows_label_sets_and_frames(rows):
    X, Y, _ = rows
    tags = [[name for name, y in zip("abcd", row, strict=True) if y] for row in Y]
    names = list("abcd")
    matrix = stream(PNMLClassifier(**LIGHT), sp.csr_array(X), Y).decision_function(X)
    sets = stream(PNMLClassifier(**LIGHT), sp.csr_array(X), tags, classes=names)
    frame = pd.DataFrame(Y, columns=names)
    frames = stream(PNMLClassifier(**LIGHT), sp.csr_array(X), frame)
    assert sets.label_names_.tolist() == frames.label_names_.tolist() == names
    assert np.array_equal(sets.decision_function(X), matrix)
    assert np.array_equal(frames.decision_function(X), matrix)


def test_a_label_may_appear_late_in_a_stream(rows):
    X, Y, later = rows
    Y = np.column_stack([Y, later])
    Y[:100, 4] = 0
    model = PNMLClassifier(**LIGHT).partial_fit(X[:100], Y[:100])
    assert not model.predict(X)[:, 4].any()
    for _ in range(20):
        model.partial_fit(X[100:], Y[100:])
    assert roc_auc_score(later, model.decision_function(X)[:, 4]) > 0.9


def test_classes_of_a_stream_may_be_missing_from_a_chunk(rows):
    X, _, _ = rows
    y = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 0] < -0.5, "low", "mid"))
    order = np.argsort(y != "high", kind="stable")
    model = stream(PNMLClassifier(**LIGHT), X[order], y[order], classes=["low", "mid", "high"])
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert model.predict_proba(X).shape == (300, 3)


def test_a_stored_stream_predicts_and_a_label_can_be_added(rows, tmp_path):
    X, Y, later = rows
    model = stream(PNMLClassifier(**LIGHT), X, Y)
    model.add_label(X[later == 1][:10])
    save_model(model, tmp_path / "stream")
    loaded = load_model(tmp_path / "stream")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    Y = np.column_stack([Y, later])
    for one in (model, loaded):
        one.partial_fit(X, Y)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("params", [{}, {"shared_embedding": False}], ids=["shared", "own"])
def test_a_stream_goes_on_from_a_fit(rows, params):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT | {"max_epochs": 20} | params).fit(X, Y)
    before = average_precision_score(Y, model.decision_function(X))
    for _ in range(5):
        model.partial_fit(X, Y)
    assert average_precision_score(Y, model.decision_function(X)) > before - 0.02


@pytest.mark.parametrize("started_by", ["fit", "partial_fit"])
def test_a_stream_takes_up_prototypes_that_were_held(rows, started_by):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT, prototype_update="epoch", prototype_interval=2)
    getattr(model, started_by)(X, Y).partial_fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_a_chunk_that_could_not_be_learned_leaves_no_trace(rows, monkeypatch, failure):
    X, Y, _ = rows
    undisturbed = stream(PNMLClassifier(**LIGHT, batch_size=16), X, Y)
    model = PNMLClassifier(**LIGHT, batch_size=16).partial_fit(X[:100], Y[:100])
    before = model.decision_function(X)
    steps = []

    def fail(trainer, *batch):
        steps.append(batch)
        if len(steps) == 3:
            raise failure
        return step(trainer, *batch)

    step = StreamTrainer._step
    with monkeypatch.context() as patched:
        patched.setattr(StreamTrainer, "_step", fail)
        with pytest.raises(failure):
            model.partial_fit(X[100:200], Y[100:200])
    assert np.array_equal(model.decision_function(X), before)
    for start in (100, 200):
        model.partial_fit(X[start : start + 100], Y[start : start + 100])
    assert np.array_equal(model.decision_function(X), undisturbed.decision_function(X))


def test_a_refused_chunk_leaves_the_names_as_they_were(rows):
    X, Y, _ = rows
    names = [f"x{column}" for column in range(X.shape[1])]
    model = PNMLClassifier(**LIGHT)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.partial_fit(pd.DataFrame(X, columns=names), Y[:50])
    assert not hasattr(model, "feature_names_in_")


def test_a_stream_says_what_it_gives_up_of_a_fit(rows):
    X, Y, _ = rows
    model = PNMLClassifier(**CONFIGURATIONS["companions"]).fit(X, Y)
    with pytest.warns(UserWarning, match="goes on without multiple prototypes, companions"):
        model.partial_fit(X, Y)
    assert not model.model_.companions
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", "b"] * 5, {}, "classes=None in the first call"),
        ([{"a"}] * 10, {}, "classes=None in the first call"),
        (["a", "b"] * 5, {"classes": ["a", "c"]}, "not among the classes"),
        ([{"a"}] * 10, {"classes": ["b"]}, "not among the 1 labels"),
        ([[1, 0]] * 10, {"classes": 3}, "2 columns but the stream has 3 labels"),
        ([[1, 0]] * 10, {"classes": ["a", "a"]}, "each once"),
    ],
)
def test_streams_say_what_they_cannot_do(y, options, message):
    X = np.random.default_rng(0).normal(size=(10, 3))
    with pytest.raises(ValueError, match=message):
        PNMLClassifier(**LIGHT).partial_fit(X, y, **options)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"prototypes": "multiple"}, "without multiple prototypes"),
        ({"prototype_update": "epoch", "correlation_penalty": 0.1}, "the correlation penalty"),
        ({"prototype_update": "epoch", "leave_one_out": True, "prototypes": "single"}, "leave"),
    ],
)
def test_streams_warn_of_what_they_give_up_once(rows, params, message):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT, **params)
    with pytest.warns(UserWarning, match=message):
        model.partial_fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, Y)
    assert (model.n_prototypes_ == 1).all()


def test_later_chunks_have_to_fit_the_first(rows):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT).partial_fit(X[:50], Y[:50], classes=4)
    with pytest.raises(ValueError, match="3 columns but the stream has 4 labels"):
        model.partial_fit(X, Y[:, :3])
    with pytest.raises(ValueError, match="not what the first call had"):
        model.partial_fit(X, Y, classes=5)
    with pytest.raises(ValueError, match="began with a multilabel one"):
        model.partial_fit(X, Y[:, 0])


@pytest.mark.parametrize("name", [["q"], {"q"}, ("q", ["r"]), float("nan"), pd.NA])
def test_what_cannot_be_a_name_is_refused(rows, name):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT).fit(X, Y)
    with pytest.raises(ValueError, match="cannot be the name of a label"):
        model.add_label(X[:3], name=name)
    with pytest.raises(ValueError, match="cannot be the name of a label"):
        PNMLClassifier(**LIGHT).partial_fit(X, Y[:, :2], classes=["a", name])
    assert model.label_names_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("classes", [{"a": 1, "b": 2}.keys(), ("a", "b"), iter(["a", "b"])])
def test_classes_may_be_any_collection(rows, classes):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT).partial_fit(X, Y[:, :2], classes=classes)
    assert model.label_names_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["no", "yes", "no"], ["no", "yes", "maybe"]),
        (["no", "yes", "no"], {"no", "yes", "maybe"}),
        (["no", "yes", "no"], {"no": 1, "yes": 2}),
        ([2, 0, 2], np.array([[0, 1, 2]])),
        ([2, 0, 2], pd.Index([0, 1, 2])),
        (np.array(["2020", "2021", "2020"], "datetime64[Y]"), np.array(["2020", "2021"], "M8[Y]")),
    ],
)
def test_classes_of_one_column_are_of_the_type_of_a_fit(y, classes):
    X = np.arange(6.0).reshape(3, 2)
    model = PNMLClassifier(**LIGHT).partial_fit(X, y, classes=classes)
    model.partial_fit(X, y, classes=classes)
    assert model.classes_.dtype.kind == np.asarray(y).dtype.kind
    assert set(np.asarray(y)) <= set(model.classes_)
    assert model.predict(X).dtype == model.classes_.dtype


def test_the_number_of_labels_may_be_of_any_whole_type(rows):
    X, Y, _ = rows
    for number in (2, np.int64(2), np.array(2)):
        model = PNMLClassifier(**LIGHT).partial_fit(X, Y[:, :2], classes=number)
        assert model.label_names_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="expected all classes that y may have"):
        PNMLClassifier(**LIGHT).partial_fit(X, Y[:, 0], classes=3)


def test_a_whole_number_of_numpy_is_a_name_like_another(rows):
    X, Y, _ = rows
    model = PNMLClassifier(**LIGHT).fit(X, Y).add_label(X[:3], name=np.int64(4))
    assert model.label_names_.dtype.kind == "i"
    frame = pd.DataFrame(model.predict(X), columns=list("abcde"))
    assert model.score(X, frame) == 1.0


@pytest.mark.parametrize("classes", [2.0, "ab"])
def test_classes_that_are_no_collection_are_refused(rows, classes):
    X, Y, _ = rows
    with pytest.raises(ValueError, match="expected all labels of the stream, or their number"):
        PNMLClassifier(**LIGHT).partial_fit(X, Y[:, :2], classes=classes)
