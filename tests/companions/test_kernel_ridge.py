import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from protolabel.companions import kernel_ridge, kernel_rows, relevance
from protolabel.companions.kernel_ridge import fit_kernel_ridge, log_odds
from protolabel.companions.relevance import ColumnWeights
from protolabel.preprocessing.features import FeatureScaler


@pytest.fixture
def labelled_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    Y = (np.column_stack([X[:, 0], X[:, 1] * X[:, 2], X[:, 3] ** 2 - 1]) > 0).astype(int)
    return X, Y


def rows_with_idle_columns(n_idle):
    """Two columns that decide two labels among others that are noise."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(160, 2 + n_idle))
    return X, (X[:, :2] + 0.2 * rng.normal(size=(160, 2)) > 0.5).astype(int)


@pytest.fixture(params=["absolute", "squared"])
def distance(request, monkeypatch):
    """Distances of dense rows, by the limit up to which they are absolute."""
    if request.param == "squared":
        monkeypatch.setattr(kernel_ridge, "_MAX_CELLS_OF_ABSOLUTE", 0)
    return request.param


def naive_kernel(X, landmarks, precision, distance):
    power = {"squared": 2, "absolute": 1}[distance]
    return np.array(
        [[np.exp(-precision * np.sum(abs(a - b) ** power)) for b in landmarks] for a in X]
    )


def naive_kernel_ridge(X, Y, X_new, model, precision=None):
    """Ridge regression in the space of the kernel with a free intercept, by one linear system.

    The intercept is free and the coefficients add up to zero: the conditions of the optimum.
    """
    n, ridge = len(X), model.ridge
    kernel_of = precision or model.precision, model.distance
    K = naive_kernel(X, X, *kernel_of)
    system = np.block([[K + ridge * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    solution = np.linalg.solve(system, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return naive_kernel(X_new, X, *kernel_of) @ solution[:n] + solution[n]


def naive_nystroem(X, Y, landmarks, model):
    """Least squares on the kernel with some rows, with a penalty on the length of the function."""
    kernel_of = model.precision, model.distance
    features = np.column_stack([naive_kernel(X, landmarks, *kernel_of), np.ones(len(X))])
    penalty = np.zeros((features.shape[1], features.shape[1]))
    penalty[:-1, :-1] = model.ridge * naive_kernel(landmarks, landmarks, *kernel_of)
    return features @ np.linalg.solve(features.T @ features + penalty, features.T @ Y)


def test_all_rows_as_landmarks_give_kernel_ridge_regression(labelled_rows, distance):
    X, Y = labelled_rows
    model, _ = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0))
    assert model.distance == distance
    X_new = np.random.default_rng(1).normal(size=(10, 4))
    expected = naive_kernel_ridge(X, Y, X_new, model)
    assert np.allclose(model.regression(X_new), expected, atol=1e-5)


@pytest.mark.usefixtures("distance")
def test_leave_one_out_scores_equal_fits_without_each_row(labelled_rows):
    X, Y = labelled_rows
    model, scores = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0))
    for row in (0, 17, 59):
        others = np.arange(60) != row
        expected = naive_kernel_ridge(X[others], Y[others], X[row : row + 1], model)
        assert np.allclose(scores[row], log_odds(expected, model.softness))


def test_sparse_rows_give_the_same_model_where_distances_are_squared(monkeypatch, labelled_rows):
    monkeypatch.setattr(kernel_ridge, "_MAX_CELLS_OF_ABSOLUTE", 0)
    X, Y = labelled_rows
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense, dense_scores = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0))
    sparse, sparse_scores = fit_kernel_ridge(
        sp.csr_array(X), sp.csr_array(Y), np.random.default_rng(0)
    )
    assert sparse.precision == pytest.approx(dense.precision)
    assert np.allclose(sparse_scores, dense_scores, atol=1e-6)
    assert np.allclose(sparse.scores(sp.csr_array(X)), dense.scores(X), atol=1e-6)


def test_a_row_that_shares_nothing_with_the_landmarks_has_a_value(labelled_rows):
    X, Y = labelled_rows
    wide = sp.csr_array(np.hstack([np.maximum(X, 0.0), np.zeros((60, 2))]))
    model, _ = fit_kernel_ridge(wide, sp.csr_array(Y), np.random.default_rng(0))
    unknown = sp.csr_array(np.array([[0.0, 0.0, 0.0, 0.0, 3.0, 0.0]]))
    for row in (unknown, sp.csr_array((1, 6))):
        expected = model.regression(sp.csr_array(sp.vstack([row, wide[[0]]])))[0]
        assert np.allclose(model.regression(row)[0], expected, rtol=1e-12)


def test_rows_beyond_the_limit_are_scored_by_a_model_that_never_saw_them(monkeypatch):
    monkeypatch.setattr(kernel_rows, "MAX_ROWS", 40)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Y = sp.csr_array((X > 0).astype(int))
    model, scores = fit_kernel_ridge(X, Y, np.random.default_rng(5), n_landmarks=20)
    used = np.sort(np.random.default_rng(5).permutation(100)[:40])
    others = np.setdiff1d(np.arange(100), used)
    assert np.allclose(scores[others], model.scores(X[others]))
    assert not np.allclose(scores[used], model.scores(X[used]))


@pytest.mark.usefixtures("distance")
def test_a_ridge_chosen_on_part_of_the_rows_serves_all(monkeypatch, labelled_rows):
    monkeypatch.setattr(kernel_rows, "ROWS_FOR_RIDGE", 30)
    X, Y = labelled_rows
    model, _ = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0))
    assert model.landmarks.shape == X.shape
    expected = naive_kernel_ridge(X, Y, X[:9] + 0.1, model)
    assert np.allclose(model.regression(X[:9] + 0.1), expected)


def test_distances_are_absolute_for_dense_rows_up_to_a_number_of_cells(monkeypatch, labelled_rows):
    X, Y = labelled_rows
    monkeypatch.setattr(kernel_rows, "ROWS_FOR_PRECISION", 50)
    for limit, n_landmarks, expected in (
        (60 * 4, 60, "absolute"),
        (60 * 4 - 1, 60, "squared"),
        (60 * 4 - 1, 59, "absolute"),
        (50 * 4, 10, "absolute"),
        (50 * 4 - 1, 10, "squared"),
    ):
        monkeypatch.setattr(kernel_ridge, "_MAX_CELLS_OF_ABSOLUTE", limit)
        rng = np.random.default_rng(0)
        model, _ = fit_kernel_ridge(X, sp.csr_array(Y), rng, n_landmarks=n_landmarks)
        assert model.distance == expected
    model, _ = fit_kernel_ridge(sp.csr_array(X), sp.csr_array(Y), np.random.default_rng(0))
    assert model.distance == "squared"


@pytest.mark.usefixtures("distance")
def test_rows_that_only_rounding_tells_apart_are_one_row():
    X = np.repeat(np.abs(np.random.default_rng(0).normal(size=(1, 5))) + 1, 200, axis=0)
    X[::2] = np.nextafter(X[::2], 10)
    Y = sp.csr_array(np.arange(200)[:, None] % 2)
    model, scores = fit_kernel_ridge(X, Y, np.random.default_rng(0))
    assert np.allclose(model.scores(X), 0.0, atol=0.01)
    assert np.isfinite(scores).all()


def test_steps_of_single_columns_are_followed_better_by_absolute_distances(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8))
    Y = ((X[:, :2] > 0.5) | (X[:, 2:4] < -1)).astype(int)
    aucs = []
    for limit in (2**20, 0):
        monkeypatch.setattr(kernel_ridge, "_MAX_CELLS_OF_ABSOLUTE", limit)
        model, _ = fit_kernel_ridge(X[:300], sp.csr_array(Y[:300]), np.random.default_rng(0))
        aucs.append(roc_auc_score(Y[300:], model.scores(X[300:])))
    assert aucs[0] > aucs[1] + 0.01


def test_fewer_landmarks_than_rows_are_rows_of_the_training_data():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model, _ = fit_kernel_ridge(
        X, sp.csr_array((X > 0).astype(int)), np.random.default_rng(0), n_landmarks=10
    )
    assert model.landmarks.shape == (10, 2)
    assert all((row == X).all(axis=1).any() for row in model.landmarks)


def test_the_link_is_odd_around_one_half_and_strictly_increasing():
    values = np.linspace(-3, 4, 400)
    odds = log_odds(values, 0.01)
    assert (np.diff(odds) > 0).all()
    assert np.allclose(log_odds(1 - values, 0.01), -odds)
    assert log_odds(np.array([0.9]), 0.01)[0] == pytest.approx(np.log(9), abs=0.01)


def test_the_link_of_a_label_is_as_soft_as_the_label_varies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(99, 3))
    Y = np.stack([np.arange(99) < 49, np.arange(99) < 1, np.zeros(99)], axis=1).astype(int)
    model, _ = fit_kernel_ridge(X, sp.csr_array(Y), rng)
    shares = np.array([0.495, 0.015, 0.005])
    np.testing.assert_allclose(model.softness, 0.2 * np.sqrt(shares * (1 - shares)))
    np.testing.assert_array_equal(
        model.scores(X[:5]), log_odds(model.regression(X[:5]), model.softness)
    )


def mean_distance_unit(X, distance):
    order = 1 if distance == "absolute" else 2
    distances = [np.linalg.norm(a - b, order) for i, a in enumerate(X) for b in X[:i]]
    mean = np.mean(distances)
    return 1 / mean if distance == "absolute" else 1 / (2 * mean**2)


@pytest.mark.usefixtures("distance")
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_columns_count_by_their_weights(as_rows):
    X, Y = rows_with_idle_columns(n_idle=12)
    model, _ = fit_kernel_ridge(as_rows(X), sp.csr_array(Y), np.random.default_rng(0))
    assert model.weights is not None
    assert np.array_equal(
        np.asarray(model.landmarks.todense() if sp.issparse(model.landmarks) else model.landmarks),
        X,
    )
    for row in (X[:1], X[3:6]):
        naive = naive_kernel(
            row * model.weights, X * model.weights, model.precision, model.distance
        )
        assert np.allclose(model.kernel(as_rows(row)), naive)
    weighted = X * model.weights
    expected = naive_kernel_ridge(weighted, Y, weighted[:5], model)
    assert np.allclose(model.regression(as_rows(X[:5])), expected, atol=1e-6)


def test_scores_of_a_row_are_by_weights_that_it_had_no_part_in(
    monkeypatch, labelled_rows, distance
):
    X, Y = labelled_rows
    halves = np.arange(0, 60, 2), np.arange(1, 60, 2)
    of_others = np.array([1.0, 0.5, 0.2, 0.7]), np.array([0.3, 1.0, 1.0, 0.1])
    found = ColumnWeights(
        np.array([1.0, 0.9, 0.8, 0.6]), tuple(zip(halves, of_others, strict=True))
    )
    monkeypatch.setattr(kernel_ridge, "column_weights", lambda *_: found)
    model, scores = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0))
    units = [mean_distance_unit(X * w, distance) for w in (found.weights, *of_others)]
    for row in (0, 1, 30):
        others = np.arange(60) != row
        weighted = X * of_others[row % 2]
        precision = model.precision / units[0] * units[1 + row % 2]
        expected = naive_kernel_ridge(
            weighted[others], Y[others], weighted[[row]], model, precision
        )
        assert np.allclose(scores[row], log_odds(expected, model.softness))
    monkeypatch.setattr(kernel_ridge, "_fits_its_own", lambda *_: False)
    _, of_many = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0))
    weighted, others = X * found.weights, np.arange(60) != 1
    expected = naive_kernel_ridge(weighted[others], Y[others], weighted[[1]], model)
    assert np.allclose(of_many[1], log_odds(expected, model.softness))


@pytest.mark.parametrize(
    ("n_with_a_say", "their_error", "fits"),
    [(100, 1.0, True), (51, 1.0, True), (40, 1.0, False), (40, 0.95, False), (40, 0.8, True)],
)
def test_weights_fit_their_own_rows_where_those_err_less_than_others(
    n_with_a_say, their_error, fits
):
    first, second = np.array_split(np.arange(n_with_a_say), 2)
    found = ColumnWeights(np.ones(2), ((first, np.ones(2)), (second, np.ones(2))))
    errors = np.ones((100, 3))
    errors[:n_with_a_say] = their_error
    assert kernel_ridge._fits_its_own(errors, found) is fits


def test_wide_rows_do_not_believe_in_weights_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(320, 400))
    Y = (X[:, :3] @ np.ones((3, 1)) + rng.normal(size=(320, 1)) > 1).astype(int)
    train = slice(0, 120)
    model, scores = fit_kernel_ridge(X[train], sp.csr_array(Y[train]), np.random.default_rng(1))
    honest = roc_auc_score(Y[120:], model.scores(X[120:]))
    assert roc_auc_score(Y[train], scores) < honest + 0.1


def test_rows_that_only_rounding_tells_apart_give_finite_scores():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.2, size=(150, 9)).astype(float)
    X = np.column_stack([1.7e9 + rng.uniform(0, 3e7, 150), counts])
    X = FeatureScaler("text").fit_transform(sp.csr_array(X))
    _, scores = fit_kernel_ridge(X, sp.csr_array((counts[:, :3] > 0).astype(int)), rng)
    assert np.isfinite(scores).all()


@pytest.mark.usefixtures("distance")
def test_fewer_landmarks_are_rows_of_the_data_also_with_weights():
    X, Y = rows_with_idle_columns(n_idle=12)
    model, scores = fit_kernel_ridge(X, sp.csr_array(Y), np.random.default_rng(0), n_landmarks=30)
    assert model.weights is not None
    assert all((row == X).all(axis=1).any() for row in model.landmarks)
    assert (((scores > 0) == Y).mean()) > 0.8
    expected = naive_nystroem(X * model.weights, Y, model.landmarks * model.weights, model)
    assert np.allclose(model.regression(X), expected, atol=1e-4)


def texts_with_rare_words(n_rows=1200, n_rare=6000):
    """Topics by one common word each, and a label by eight words of many that are all rare."""
    rng = np.random.default_rng(0)
    topics, label = rng.integers(5, size=n_rows), rng.integers(2, size=n_rows)
    common = rng.random((n_rows, 40)) < np.where(np.arange(40) < 5, 0.1, 0.3)
    common[np.arange(n_rows), topics] = True
    words = label[:, None] * n_rare // 2 + rng.integers(n_rare // 2, size=(n_rows, 8))
    rare = np.zeros((n_rows, n_rare))
    np.put_along_axis(rare, words, 1.0, axis=1)
    X = FeatureScaler("text").fit_transform(sp.csr_array(np.hstack([common, rare])))
    return X, np.column_stack([np.eye(5, dtype=int)[topics], label])


@pytest.mark.parametrize("fewest", [10, 0])
def test_a_label_by_words_that_few_rows_have_is_not_lost(monkeypatch, fewest):
    monkeypatch.setattr(relevance, "_ROWS_OF_A_HALF", 100)
    monkeypatch.setattr(relevance, "_FEWEST_ROWS_OF_A_COLUMN", fewest)
    X, Y = texts_with_rare_words()
    model, _ = fit_kernel_ridge(X[:1000], sp.csr_array(Y[:1000]), np.random.default_rng(0))
    assert model.weights is not None
    right = ((model.scores(X[1000:])[:, 5] > 0) == Y[1000:, 5]).mean()
    # Slopes along rare words, which the rows that were drawn hardly have, would lose it.
    assert right > 0.98 if fewest else right < 0.8


def test_without_weights_all_is_as_if_they_were_not_looked_for(monkeypatch, labelled_rows):
    X, Y = labelled_rows
    X, Y = np.vstack([X, X + 0.1]), np.vstack([Y, Y])
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    found, scores = fit_kernel_ridge(X, sp.csr_array(Y), rng)
    assert found.weights is None
    monkeypatch.setattr(kernel_ridge, "column_weights", lambda *_: None)
    _, without = fit_kernel_ridge(X, sp.csr_array(Y), other)
    assert np.array_equal(scores, without)
    assert rng.integers(2**60) == other.integers(2**60)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_very_few_rows_give_finite_scores(n_rows):
    X = np.arange(float(n_rows))[:, None]
    Y = sp.csr_array((X > 0).astype(int))
    model, scores = fit_kernel_ridge(X, Y, np.random.default_rng(0))
    assert np.isfinite(scores).all()
    assert np.isfinite(model.scores(X)).all()


def test_equal_rows_give_finite_scores():
    X = np.ones((20, 3))
    Y = sp.csr_array(np.arange(20)[:, None] % 2)
    model, scores = fit_kernel_ridge(X, Y, np.random.default_rng(0))
    assert np.isfinite(scores).all()
    assert np.allclose(model.scores(X), 0.0, atol=1e-6)
