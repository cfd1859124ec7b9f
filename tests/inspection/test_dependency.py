"""Dependency of labels, and the map of prototypes."""

import numpy as np
import pytest

from protolabel import PNMLClassifier
from protolabel.inspection.dependency import (
    label_correlation,
    prototype_similarity,
    rank_correlation,
)
from protolabel.inspection.prototype_map import map_prototypes


def test_the_correlation_of_labels_is_that_of_numpy():
    Y = (np.random.default_rng(0).random((60, 5)) < 0.4).astype(int)
    np.testing.assert_allclose(label_correlation(Y), np.corrcoef(Y.T), atol=1e-12)


def test_a_constant_label_has_no_correlation():
    matrix = label_correlation([[1, 0], [1, 1]])
    assert np.isnan(matrix[0]).all()
    assert matrix[1, 1] == 1


def test_labels_that_are_equal_have_equal_directions_and_opposite_ones_opposite(data):
    X, Y = data
    Y = np.column_stack([Y[:, 0], Y[:, 0], 1 - Y[:, 0], Y[:, 1]])
    model = PNMLClassifier(
        "single", n_members=2, max_epochs=3, n_landmarks=0, n_trees=0, random_state=0
    ).fit(X, Y)
    similarity = prototype_similarity(model.model_.network)
    assert similarity[0, 1] == pytest.approx(1, abs=1e-5)
    assert similarity[0, 2] == pytest.approx(-1, abs=1e-5)
    assert abs(similarity[0, 3]) < 0.9
    assert rank_correlation(label_correlation(Y), similarity) > 0.4


def test_separate_embeddings_are_refused(data):
    model = PNMLClassifier("single", shared_embedding=False, max_epochs=1, n_members=1)
    with pytest.raises(ValueError, match="cannot be compared"):
        prototype_similarity(model.fit(*data).model_.network)


def test_a_rank_correlation_needs_three_pairs():
    assert np.isnan(rank_correlation(np.eye(2), np.eye(2)))


def test_rows_nearest_to_a_prototype_are_counted_once(model, data):
    X, Y = data
    found = map_prototypes(model, X, Y, max_rows=60)
    assert len(found.rows) == len(found.places) == 60
    for label in found.labels:
        for side, size in (("positive", Y[:, label].sum()), ("negative", (1 - Y[:, label]).sum())):
            group = [p for p in found.prototypes if (p.label, p.side) == (label, side)]
            assert sum(p.n_members for p in group) == size
            assert {p.n_prototypes for p in group} == {len(group)}
            assert all(0 <= p.x <= 1 and 0 <= p.y <= 1 for p in group)


def test_the_map_depends_on_its_seed_alone(model, data):
    X, Y = data
    first, second = (map_prototypes(model, X, Y, max_rows=40) for _ in range(2))
    assert first.prototypes == second.prototypes


@pytest.mark.parametrize("n_samples", [3, 10, 49, 1000])
def test_labels_of_all_rows_or_none_have_no_correlation(n_samples):
    Y = np.zeros((n_samples, 4), dtype=int)
    Y[:, 1] = 1
    Y[:2, 2] = 1
    Y[:1, 3] = 1
    matrix = label_correlation(Y)
    assert np.isnan(matrix[:2]).all()
    assert np.isnan(matrix[:, :2]).all()
    np.testing.assert_allclose(matrix[2:, 2:], np.corrcoef(Y[:, 2:].T), atol=1e-12)


@pytest.mark.parametrize("n_rows", [20, 32, 40, 100])
def test_equal_labels_have_a_correlation_of_one_and_no_more(n_rows):
    rng = np.random.default_rng(0)
    for _ in range(50):
        Y = (rng.random((n_rows, 3)) < 0.4).astype(int)
        assert label_correlation(Y[:, [0, 1, 1]])[1, 2] == pytest.approx(1.0, abs=1e-12)
        assert np.nanmax(np.abs(label_correlation(Y[:, [0, 1, 1]]))) <= 1.0
