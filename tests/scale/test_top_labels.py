"""The best few labels of each row, without the scores of all."""

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.baselines.ml_knn import MLkNN


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 5))
    return X, (X @ rng.normal(size=(5, 7)) > 0.5).astype(int)


@pytest.fixture(scope="module")
def model(table):
    return PNMLClassifier(effort="fast", max_epochs=3, random_state=0).fit(*table)


@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("part_cells", [7, 100, 2**22])
def test_the_best_labels_are_those_of_the_sorted_scores(model, table, k, part_cells, monkeypatch):
    monkeypatch.setattr("protolabel.estimator._PART_CELLS", part_cells)
    X, _ = table
    scores = model.decision_function(X)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    labels, values = model.predict_top_k(X, k)
    assert np.array_equal(labels, expected)
    assert np.allclose(values, np.take_along_axis(scores, expected, axis=1), rtol=1e-9)


def test_names_take_the_place_of_columns(table):
    X, Y = table
    names = np.array(["ant", "bee", "cat", "dog", "eel", "fly", "gnu"])
    tags = [set(names[row == 1]) for row in Y]
    model = PNMLClassifier(effort="fast", max_epochs=3, random_state=0).fit(X, tags)
    columns, _ = model.predict_top_k(X, 2)
    named, _ = model.predict_top_k(X, 2, names=True)
    assert named.tolist() == model.label_names_[columns].tolist()


def test_classes_of_a_multiclass_target_are_ranked(table):
    X, Y = table
    model = PNMLClassifier(effort="fast", max_epochs=3, random_state=0).fit(X, Y[:, :3].argmax(1))
    first = model.predict_top_k(X, 1, names=True)[0].ravel()
    assert np.array_equal(first, model.predict(X))


def test_other_classifiers_have_it_too(table):
    X, Y = table
    method = MLkNN().fit(X, Y)
    expected = method.decision_function(X).argmax(axis=1)
    assert np.array_equal(method.predict_top_k(X, 1)[0].ravel(), expected)


@pytest.mark.parametrize("k", [0, 8])
def test_an_impossible_number_of_labels_is_refused(model, table, k):
    with pytest.raises(ValueError, match=f"k={k} cannot be used; expected 1 to the 7 labels"):
        model.predict_top_k(table[0], k)


def test_a_binary_target_has_no_best_labels(table):
    X, Y = table
    model = PNMLClassifier(effort="fast", max_epochs=2, random_state=0).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="fitted to a binary target"):
        model.predict_top_k(X, 1)
