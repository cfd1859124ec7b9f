import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions import relevance
from protolabel.companions.kernel_choice import KernelChoice, best_of_grid
from protolabel.companions.relevance import _mean_of_known, column_weights, squared_slopes
from protolabel.companions.row_distances import (
    own_distances,
    row_kernel,
    unit_of_precision,
)


def rows_of(n_rows, n_idle, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2 + n_idle))
    return X, (X[:, :2] + 0.2 * rng.normal(size=(n_rows, 2)) > 0).astype(float)


FORMS = [(np.asarray, "squared"), (sp.csr_array, "squared"), (np.asarray, "absolute")]


def choice_for(X, targets, distance="squared"):
    distances = own_distances(X, distance=distance)
    unit = unit_of_precision(X, distances, distance)
    return best_of_grid(distances, targets, unit, distance=distance)


def naive_squared_slopes(X, kernel_of, coefficients, step=1e-5):
    """Slopes of the regression by differences, at every row."""
    total = np.zeros(X.shape[1])
    for x in X:
        for d in range(X.shape[1]):
            moved = np.zeros(X.shape[1])
            moved[d] = step
            change = (kernel_of(x + moved) - kernel_of(x - moved)) @ coefficients
            total[d] += np.square(change / (2 * step)).sum()
    return total


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_cells", [1, 4_000_000])
def test_slopes_equal_differences_of_the_regression(monkeypatch, as_rows, n_cells):
    monkeypatch.setattr(relevance, "_CHUNK_CELLS", n_cells)
    X, _ = rows_of(20, n_idle=1)
    X[np.abs(X) < 0.3] = 0.0
    coefficients = np.random.default_rng(1).normal(size=(20, 3))
    precision = 0.4
    naive = naive_squared_slopes(X, lambda x: row_kernel(x[None], X, precision), coefficients)
    kernel = row_kernel(X, X, precision)
    found = squared_slopes(as_rows(X), kernel, coefficients, np.random.default_rng(0))
    assert np.allclose((2 * precision) ** 2 * found, naive, rtol=1e-6)


def test_slopes_of_absolute_distances_equal_differences_of_the_regression():
    X, _ = rows_of(20, n_idle=1)
    coefficients = np.random.default_rng(1).normal(size=(20, 3))
    kernel = row_kernel(X, X, 0.4, distance="absolute")
    # On a row itself the kernel has a kink, whose two sides cancel.
    naive = naive_squared_slopes(
        X, lambda x: row_kernel(x[None], X, 0.4, distance="absolute"), coefficients
    )
    found = squared_slopes(X, kernel, coefficients, np.random.default_rng(0), "absolute")
    assert np.allclose(0.4**2 * found, naive, rtol=1e-6)


def test_mixtures_of_many_labels_have_the_slopes_of_all_of_them_on_the_mean():
    X, _ = rows_of(30, n_idle=0)
    coefficients = np.random.default_rng(1).normal(size=(30, 40)) * [*[3.0] * 5, *[0.5] * 35]
    kernel = row_kernel(X, X, 0.5)
    each = [
        squared_slopes(X, kernel, coefficients[:, [k]], np.random.default_rng(0)) for k in range(40)
    ]
    draws = [
        squared_slopes(X, kernel, coefficients, np.random.default_rng(seed)) for seed in range(400)
    ]
    assert np.allclose(np.mean(draws, axis=0) / relevance._MIXTURES, np.sum(each, axis=0), rtol=0.1)


def test_wide_tables_have_their_slopes_taken_at_fewer_places(monkeypatch):
    X, _ = rows_of(100, n_idle=8)
    kernel, coefficients = (
        row_kernel(X, X, 0.1),
        np.random.default_rng(1).normal(size=(100, 3)),
    )
    monkeypatch.setattr(relevance, "_FEWEST_POINTS", 5)
    monkeypatch.setattr(relevance, "_SLOPES", 50 * 10 * 3)
    rows = np.random.default_rng(0).permutation(100)
    for n_points in (50, 5):
        found = squared_slopes(X, kernel, coefficients, np.random.default_rng(0))
        says = kernel[rows[:n_points], :, None] * coefficients
        slopes = X[rows[:n_points], :, None] * says.sum(axis=1)[:, None]
        slopes -= np.einsum("pil,id->pdl", says, X)
        assert np.allclose(found, np.square(slopes).sum(axis=(0, 2)))
        monkeypatch.setattr(relevance, "_SLOPES", 1)


@pytest.mark.parametrize(("as_rows", "distance"), FORMS)
def test_columns_that_say_nothing_weigh_little(as_rows, distance):
    X, targets = rows_of(300, n_idle=10)
    choice = choice_for(X, targets, distance)
    found = column_weights(as_rows(X), targets, choice, np.random.default_rng(0))
    assert found.weights.max() == 1.0
    assert found.weights[:2].min() > 3 * found.weights[2:].max()


@pytest.mark.parametrize("distance", ["squared", "absolute"])
def test_every_row_has_weights_that_its_labels_had_no_part_in(distance):
    X, targets = rows_of(300, n_idle=10)
    choice = choice_for(X, targets, distance)
    found = column_weights(X, targets, choice, np.random.default_rng(0))
    assert sorted(np.concatenate([rows for rows, _ in found.by_others])) == list(range(300))
    for place, (rows, weights) in enumerate(found.by_others):
        changed = targets.copy()
        changed[rows[:3]] = 1 - changed[rows[:3]]
        again = column_weights(X, changed, choice, np.random.default_rng(0))
        assert np.array_equal(again.by_others[place][1], weights)
        assert not np.array_equal(again.by_others[1 - place][1], found.by_others[1 - place][1])


def test_columns_that_few_sparse_rows_have_keep_their_share_of_the_length():
    X, targets = rows_of(300, n_idle=10)
    rare = np.zeros((300, 3))
    rare[:4, 0] = rare[50:59, 1] = 2.0  # the third column is in no row at all
    X = np.hstack([X, rare])
    found = column_weights(
        sp.csr_array(X), targets, choice_for(X, targets), np.random.default_rng(0)
    )
    lengths = np.square(X[:, :12]).sum(axis=0)
    share = np.sqrt(np.square(found.weights[:12]) @ lengths / lengths.sum())
    assert np.allclose(found.weights[12:], share)
    assert found.weights[12:].min() > found.weights[2:12].max()


def test_rows_whose_columns_are_all_rare_have_no_weights():
    rng = np.random.default_rng(0)
    X = sp.random_array((120, 2000), density=0.002, rng=rng, format="csr")
    targets = rng.integers(2, size=(120, 2)).astype(float)
    assert column_weights(X, targets, KernelChoice(0.0, 1.0, 1.0), rng) is None


def test_a_column_that_one_half_knows_has_the_slope_of_that_half():
    unknown = np.nan
    slopes = [np.array([0.5, 0.5, unknown, unknown]), np.array([0.2, unknown, 0.8, unknown])]
    expected = [0.35, 0.5, 0.8, unknown]
    assert np.allclose(_mean_of_known(slopes), expected, equal_nan=True)


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_many_rows_have_weights_from_some_of_them(monkeypatch, as_rows):
    monkeypatch.setattr(relevance, "_ROWS_OF_A_HALF", 60)
    X, targets = rows_of(400, n_idle=10)
    found = column_weights(as_rows(X), targets, choice_for(X, targets), np.random.default_rng(0))
    said = np.concatenate([rows for rows, _ in found.by_others])
    assert len(said) == len(set(said)) == 120
    changed = targets.copy()
    changed[np.setdiff1d(np.arange(400), said)] = 0.0
    again = column_weights(as_rows(X), changed, choice_for(X, targets), np.random.default_rng(0))
    assert np.array_equal(again.weights, found.weights)


def test_weights_that_do_not_help_are_not_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    targets = (X @ rng.choice([-1.0, 1.0], size=(6, 3)) > 0).astype(float)
    assert column_weights(X, targets, choice_for(X, targets), rng) is None


def test_labels_that_follow_nothing_have_no_weights():
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(200, 30)), rng.integers(2, size=(200, 2)).astype(float)
    assert column_weights(X, targets, choice_for(X, targets), rng) is None


@pytest.mark.parametrize("n_rows", [1, 2, 99])
def test_few_rows_are_not_asked(n_rows):
    X, targets = rows_of(n_rows, n_idle=10)
    assert column_weights(X, targets, KernelChoice(0.0, 1.0, 1.0), np.random.default_rng(0)) is None


@pytest.mark.parametrize("distance", ["squared", "absolute"])
@pytest.mark.parametrize("constant", ["rows", "labels"])
def test_constant_rows_and_labels_have_no_weights(constant, distance):
    X, targets = rows_of(120, n_idle=3)
    if constant == "rows":
        X = np.ones_like(X)
    else:
        targets = np.zeros_like(targets)
    choice = KernelChoice(0.0, 1.0, 1.0, distance)
    assert column_weights(X, targets, choice, np.random.default_rng(0)) is None


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1e-25, 1e18])
def test_slopes_of_rows_of_any_size_are_finite_in_single_precision(as_rows, size):
    X, _ = rows_of(20, n_idle=1)
    X[np.abs(X) < 0.3] = 0.0
    coefficients = np.random.default_rng(1).normal(size=(20, 3))
    kernel = row_kernel(X, X, 0.4).astype(np.float32)
    plain, large = (
        squared_slopes(as_rows(rows), kernel, coefficients, np.random.default_rng(0))
        for rows in (X, size * X)
    )
    assert np.allclose(large / size**2, plain, rtol=1e-4)
