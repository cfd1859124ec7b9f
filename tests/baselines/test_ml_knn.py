import math

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.baselines import _neighbours
from protolabel.baselines._neighbour_counts import count_tables, neighbour_counts
from protolabel.baselines._neighbours import nearest_neighbours
from protolabel.baselines.ml_knn import MLkNN
from protolabel.datasets import load_dataset
from reference import ml_knn as reference

GRID = [3, 5, 7, 9, 11, 13, 15, 17, 19, 21]


@pytest.fixture
def rows():
    """Rows on a coarse grid with many equal distances, duplicates and zero rows."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(60, 5)) / 2.0
    X[7] = X[30] = X[31]
    X[[2, 40]] = 0.0
    return X


@pytest.fixture
def labels():
    return (np.random.default_rng(4).random((60, 4)) < [0.5, 0.3, 0.1, 0.7]).astype(int)


def naive(stored, queries, k, *, own):
    return [
        reference.neighbours(stored, query, k, i if own else None)
        for i, query in enumerate(queries)
    ]


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("container", ["dense", "sparse product", "dense product of sparse"])
def test_neighbours_equal_those_of_loops(rows, own, container, monkeypatch):
    pairs = {"sparse product": 0, "dense product of sparse": math.inf}.get(container, 0)
    monkeypatch.setattr(_neighbours, "_CELLS_PER_PAIR", pairs)
    X = rows if container == "dense" else sp.csr_array(rows)
    found = nearest_neighbours(X, X, 6, queries_are_stored=own)
    assert found.tolist() == naive(rows, rows, 6, own=own)


def test_small_chunks_find_the_same_neighbours(rows, monkeypatch):
    for X in (rows, sp.csr_array(rows)):
        whole = nearest_neighbours(X, X, 6, queries_are_stored=True)
        with monkeypatch.context() as patch:
            patch.setattr(_neighbours, "_CHUNK_CELLS", 70)
            assert (nearest_neighbours(X, X, 6, queries_are_stored=True) == whole).all()


def test_neighbours_do_not_depend_on_the_other_queries():
    X = np.random.default_rng(0).normal(size=(300, 33)).round(1)
    for stored in (X, sp.csr_array(X * (X > 0.9))):
        whole = nearest_neighbours(stored, stored[:50], 9)
        for i in range(50):
            assert (nearest_neighbours(stored, stored[[i]], 9) == whole[i]).all()


def test_a_row_is_excluded_by_number_and_its_duplicates_are_not():
    X = np.array([[1.0, 2.0]] * 3 + [[9.0, 9.0]])
    for stored in (X, sp.csr_array(X)):
        found = nearest_neighbours(stored, stored, 2, queries_are_stored=True)
        assert found[:3].tolist() == [[1, 2], [0, 2], [0, 1]]


@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_scale_and_offset_of_the_features_do_not_matter(scale, offset):
    X = np.random.default_rng(1).normal(size=(80, 6))
    expected = naive(X, X, 5, own=True)
    found = nearest_neighbours((X + offset) * scale, (X + offset) * scale, 5,
                               queries_are_stored=True)  # fmt: skip
    assert found.tolist() == expected


def test_an_offset_beyond_single_precision_is_no_obstacle():
    X = np.random.default_rng(1).normal(size=(80, 6)) + 1e11
    found = nearest_neighbours(X, X, 5, queries_are_stored=True)
    assert found.tolist() == naive(X, X, 5, own=True)


def test_far_away_rows_do_not_disturb_the_search():
    X = np.random.default_rng(1).normal(size=(80, 6))
    expected = nearest_neighbours(X, X, 5)
    with_outlier = np.vstack([X, np.full((1, 6), 1e12)])
    assert (nearest_neighbours(with_outlier, X, 5) == expected).all()
    queries = np.vstack([X, np.full((1, 6), 1e20)])
    assert (nearest_neighbours(X, queries, 5)[:80] == expected).all()


def test_six_rows_by_hand():
    """Rows 0, 1, 2 and 10, 11, 12 on a line with k = 2; the label belongs to the first three.

    Each row's two neighbours are the rest of its own three. Hence P1 = 4/8, L1 = (1, 1, 4)/6
    and L0 = (4, 1, 1)/6.
    """
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    model = MLkNN(2, feature_scaling="none").fit(X, Y)
    assert np.allclose(model.model_.tables.log_odds, [np.log([1 / 4, 1, 4])] * 2)
    assert np.allclose(model.model_.tables.joint, [[1 / 12, 1 / 12, 4 / 12]] * 2)
    assert np.allclose(model.decision_function([[1.5]]), [[np.log(4), -np.log(4)]])
    assert np.allclose(model.predict_proba([[1.5]]), [[0.8, 0.2]])


def test_an_exact_tie_is_not_predicted():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    model = MLkNN(2, feature_scaling="none").fit(X, Y)
    # Between the groups the neighbours are rows 2 and 3, and a count of one decides nothing.
    assert model.decision_function([[6.0]]).tolist() == [[0.0, 0.0]]
    assert model.predict([[6.0]]).tolist() == [[0, 0]]


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("smoothing", [1.0, 0.5])
def test_scores_equal_those_of_loops(rows, labels, include_self, smoothing):
    log_odds, joint = reference.scores(
        rows[:45], labels[:45], rows[45:], 4, smoothing, include_self
    )
    model = MLkNN(
        4,
        smoothing=smoothing,
        feature_scaling="none",
        published_self_neighbour=include_self,
    ).fit(rows[:45], labels[:45])
    assert np.allclose(model.decision_function(rows[45:]), log_odds)
    predicted = model.predict(rows[45:])
    model.set_params(published_joint_score=True)
    assert np.allclose(model.decision_function(rows[45:]), joint)
    assert (model.predict(rows[45:]) == predicted).all()


def test_likelihoods_sum_to_one(rows, labels):
    model = MLkNN(5, feature_scaling="none").fit(rows, labels)
    priors = (1 + labels.sum(axis=0)) / (2 + len(labels))
    assert np.allclose(model.model_.tables.joint.sum(axis=1), priors)


def test_counts_of_growing_sizes_are_prefix_sums(labels):
    neighbours = np.random.default_rng(0).integers(0, 60, size=(20, 9))
    sizes = [1, 4, 9]
    for size, counts in zip(
        sizes, neighbour_counts(neighbours, sp.csr_array(labels), sizes), strict=True
    ):
        assert (counts == labels[neighbours[:, :size]].sum(axis=1)).all()


@pytest.mark.parametrize("joint", [False, True])
def test_the_grid_equals_separate_fits(rows, labels, joint):
    for X in (rows, sp.csr_array(rows)):
        estimator = MLkNN(published_joint_score=joint)
        grid = list(estimator.scores_for_grid(X[:45], labels[:45], X[45:], GRID[::-1]))
        assert [point.n_neighbors for point in grid] == GRID
        for point in grid:
            alone = MLkNN(point.n_neighbors, published_joint_score=joint).fit(X[:45], labels[:45])
            assert (point.scores == alone.decision_function(X[45:])).all()
            assert (point.predictions == alone.predict(X[45:])).all()
        assert not hasattr(estimator, "model_")


def test_the_grid_searches_neighbours_once(rows, labels, monkeypatch):
    calls = []

    def counted(*arguments, **options):
        calls.append(arguments)
        return nearest_neighbours(*arguments, **options)

    monkeypatch.setattr("protolabel.baselines.ml_knn.nearest_neighbours", counted)
    list(MLkNN().scores_for_grid(rows, labels, rows, GRID))
    assert len(calls) == 2  # training rows, new rows


def test_the_grid_shrinks_to_the_rows_there_are(rows, labels):
    points = list(MLkNN().scores_for_grid(rows[:6], labels[:6], rows[6:], [3, 21, 50]))
    assert (points[1].scores == points[2].scores).all()


def test_the_grid_refuses_one_class_per_row_and_no_value(rows, labels):
    with pytest.raises(ValueError, match=r"binary target.*multi-label targets"):
        MLkNN().scores_for_grid(rows, labels[:, 0], rows, GRID)
    with pytest.raises(ValueError, match="n_neighbors is empty"):
        MLkNN().scores_for_grid(rows, labels, rows, [])


@pytest.mark.parametrize(
    ("parameter", "value"), [("n_neighbors", 0), ("smoothing", 0.0), ("smoothing", -1.0)]
)
def test_wrong_parameters_are_refused_on_any_data(parameter, value):
    for Y in (np.eye(3, dtype=int), np.zeros((3, 2), dtype=int)):
        with pytest.raises(ValueError, match=f"{parameter} == {value}"):
            MLkNN(**{parameter: value}).fit(np.eye(3), Y)


def test_labels_with_one_side_are_never_or_always_predicted(rows, labels):
    Y = np.hstack([labels, np.zeros((60, 1), int), np.ones((60, 1), int)])
    for model in (MLkNN(3), MLkNN(3, published_joint_score=True)):
        scores = model.fit(rows, Y).decision_function(rows)
        assert (scores[:, 4] < scores[:, :4].min(axis=1)).all()
        assert (scores[:, 5] > scores[:, :4].max(axis=1)).all()
        assert (model.predict(rows)[:, 4:] == [0, 1]).all()


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_a_few_rows_are_enough(n_samples):
    X, Y = np.arange(6.0).reshape(3, 2)[:n_samples], np.eye(3, dtype=int)[:n_samples]
    for rows in (X, sp.csr_array(X)):
        assert np.isfinite(MLkNN().fit(rows, Y).decision_function(rows)).all()


def test_constant_features_leave_a_finite_score(labels):
    assert np.isfinite(
        MLkNN().fit(np.ones((60, 3)), labels).decision_function(np.ones((2, 3)))
    ).all()


def test_permuting_labels_permutes_the_scores(rows, labels):
    scores = MLkNN(5).fit(rows, labels).decision_function(rows)
    assert (MLkNN(5).fit(rows, labels[:, ::-1]).decision_function(rows) == scores[:, ::-1]).all()


def test_tables_of_equal_sides_are_exactly_zero():
    Y = sp.csr_array(np.array([[1], [0]] * 3))
    tables = count_tables(np.ones((6, 1), dtype=int), Y, 3, 1.0)
    assert (tables.log_odds == 0).all()


def test_real_text_gives_the_same_neighbours_dense_and_sparse(benchmark_data, monkeypatch):
    X = sp.csr_array(load_dataset("enron").X, dtype=float)
    by_dense = nearest_neighbours(X.toarray(), X[:200].toarray(), 21)
    assert (nearest_neighbours(X, X[:200], 21) == by_dense).all()
    monkeypatch.setattr(_neighbours, "_CELLS_PER_PAIR", 0)
    assert (nearest_neighbours(X, X[:200], 21) == by_dense).all()
