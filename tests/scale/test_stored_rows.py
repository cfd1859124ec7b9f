"""Training and prediction on rows that stay on disk."""

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel import PNMLClassifier
from protolabel.baselines.ml_knn import MLkNN
from protolabel.datasets import open_rows


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 6)) + 2
    return X, (X[:, :3] + 0.3 * rng.normal(size=(240, 3)) > 2.2).astype(int)


def saved(folder, X):
    if sp.issparse(X):
        sp.save_npz(folder / "x.npz", X, compressed=False)
        return folder / "x.npz"
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def classifier(**overrides):
    return PNMLClassifier(
        **{"prototypes": "single", "max_epochs": 4, "n_trees": 20, "random_state": 0, **overrides}
    )


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"effort": "fast"}])
def test_a_fit_to_stored_rows_is_that_to_the_matrix(tmp_path, table, form, options):
    X, Y = table
    X = sp.csr_array(np.where(X > 2, X, 0)) if form == "sparse" else X
    source = open_rows(saved(tmp_path, X))
    expected = classifier(**options).fit(X, Y)
    found = classifier(**options).fit(source, Y)
    assert np.allclose(found.decision_function(X), expected.decision_function(X), atol=1e-5)
    assert np.allclose(found.decision_function(source), found.decision_function(X), atol=1e-12)
    assert np.array_equal(found.predict(source), found.predict(X))
    assert np.allclose(found.transform(source), found.transform(X), atol=1e-12)
    for of_source, of_matrix in zip(
        found.predict_top_k(source, 2), found.predict_top_k(X, 2), strict=True
    ):
        assert np.allclose(of_source, of_matrix, atol=1e-12)


def test_large_memory_maps_stay_on_disk(tmp_path, table, monkeypatch):
    X, Y = table
    mapped = np.load(saved(tmp_path, X), mmap_mode="r")
    small = classifier().fit(mapped, Y)
    monkeypatch.setattr("protolabel.estimator._MAX_MAPPED_BYTES", 0)
    monkeypatch.setattr(np.memmap, "__getitem__", None)  # reading through the map would fail
    large = classifier().fit(mapped, Y)
    assert np.allclose(large.decision_function(X), small.decision_function(X), atol=1e-5)


@pytest.mark.parametrize(("n_trees", "n_cells"), [(2, 120 * 3), (10, 120 * 10)])
def test_companions_and_thresholds_use_a_sample_of_large_tables(
    table, monkeypatch, n_trees, n_cells
):
    X, Y = table
    assert Y.shape[1] == 3
    whole = classifier(n_trees=n_trees).fit(X, Y)
    monkeypatch.setattr("protolabel.fitting._MAX_JUDGED_CELLS", n_cells)
    monkeypatch.setattr("protolabel.fitting.MIN_JUDGED_ROWS", 50)
    sampled = classifier(n_trees=n_trees).fit(X, Y)
    assert sampled.model_.companions[1].labels.shape[0] == 120
    assert whole.model_.companions[1].labels.shape[0] == 240
    agree = sampled.predict(X) == whole.predict(X)
    assert agree.mean() > 0.85


@pytest.mark.parametrize(
    "options", [{"prototypes": "multiple"}, {"prototype_update": "epoch"}], ids=str
)
def test_what_needs_all_rows_at_once_is_refused(tmp_path, table, options):
    X, Y = table
    with pytest.raises(ValueError, match="needs all rows at once, but X stays on disk"):
        classifier(**options).fit(open_rows(saved(tmp_path, X)), Y)


def test_automatic_prototypes_of_stored_rows_are_single(tmp_path, table):
    X, Y = table
    model = classifier(prototypes="auto", effort="fast").fit(open_rows(saved(tmp_path, X)), Y)
    assert model.model_.network.settings.prototypes == "single"


def test_stored_rows_are_checked(tmp_path, table):
    X, Y = table
    source = open_rows(saved(tmp_path, X))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().fit(source, Y[:10])
    model = classifier(effort="fast").fit(X[:, :4], Y)
    with pytest.raises(ValueError, match="X has 6 features, but PNMLClassifier is expecting 4"):
        model.predict(source)
    X = X.copy()
    X[17, 1] = np.inf
    np.save(tmp_path / "bad.npy", X)
    with pytest.raises(ValueError, match="NaN or infinity"):
        classifier().fit(open_rows(tmp_path / "bad.npy"), Y)


def test_other_methods_refuse_stored_rows(tmp_path, table):
    X, Y = table
    with pytest.raises((TypeError, ValueError)):
        MLkNN().fit(open_rows(saved(tmp_path, X)), Y)


def test_a_stream_refuses_stored_rows(tmp_path, table):
    X, Y = table
    with pytest.raises((TypeError, ValueError)):
        classifier(effort="fast").partial_fit(open_rows(saved(tmp_path, X)), Y)


def test_a_fit_with_checkpoints_recognises_stored_rows(tmp_path, table):
    X, Y = table
    source = open_rows(saved(tmp_path, X))
    first = classifier(effort="fast").fit(source, Y, checkpoint_dir=tmp_path / "kept")
    again = classifier(effort="fast").fit(source, Y, checkpoint_dir=tmp_path / "kept")
    assert np.array_equal(first.decision_function(X), again.decision_function(X))
