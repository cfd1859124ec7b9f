import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions import row_distances
from protolabel.companions.row_distances import (
    _in_single_precision,
    distances_to,
    own_distances,
    own_kernel,
    row_kernel,
    unit_of_precision,
    weighted_rows,
)

POWERS = {"squared": 2, "absolute": 1}
FORMS = [(np.asarray, "squared"), (sp.csr_array, "squared"), (np.asarray, "absolute")]


@pytest.mark.parametrize("distance", POWERS)
def test_the_kernel_equals_the_double_loop(distance):
    rng = np.random.default_rng(0)
    X, L = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    naive = [[np.exp(-0.7 * sum(abs(a - b) ** POWERS[distance])) for b in L] for a in X]
    assert np.allclose(row_kernel(X, L, 0.7, distance=distance), naive)


@pytest.mark.parametrize(("as_rows", "distance"), FORMS)
def test_distances_of_all_pairs_equal_the_double_loop_in_any_parts(monkeypatch, as_rows, distance):
    X = np.random.default_rng(0).normal(size=(7, 3))
    X[np.abs(X) < 0.4] = 0.0
    naive = [[sum(abs(a - b) ** POWERS[distance]) for b in X] for a in X]
    for n_cells in (1, 21, 1000):
        monkeypatch.setattr(row_distances, "_CHUNK_CELLS", n_cells)
        assert np.allclose(own_distances(as_rows(X), distance=distance), naive)


@pytest.mark.parametrize(("as_rows", "distance"), [*FORMS, (sp.csr_array, "absolute")])
def test_weighted_distances_equal_those_of_weighted_rows(as_rows, distance):
    rng = np.random.default_rng(0)
    X, L, weights = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), np.array([1.0, 0.0, 0.3])
    X[np.abs(X) < 0.4] = 0.0
    # Absolute differences are taken to dense landmarks, but rows may be sparse.
    landmarks = L if distance == "absolute" else as_rows(L)
    found = distances_to(landmarks, distance, weights)(as_rows(X))
    naive = [[sum(abs(weights * (a - b)) ** POWERS[distance]) for b in L] for a in X]
    assert np.allclose(found, naive)
    again = weighted_rows(as_rows(X), weights)
    assert np.allclose(np.asarray(again.todense() if sp.issparse(again) else again), X * weights)


def test_the_unit_of_precisions_is_that_of_the_mean_distance():
    X = np.array([[0.0], [1.0], [3.0]])
    expected = {"squared": 1 / (2 * 2.0**2), "absolute": 1 / 2.0}
    for distance, unit in expected.items():
        own = own_distances(X, distance=distance)
        assert unit_of_precision(X, own, distance) == pytest.approx(unit)
        assert unit_of_precision(X[:1], own[:1, :1], distance) == 1.0
        assert unit_of_precision(np.zeros((4, 2)), np.zeros((4, 4)), distance) == 1.0


@pytest.mark.parametrize(("as_rows", "distance"), FORMS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
@pytest.mark.parametrize("length", [1.0, 100.0])
def test_the_kernel_of_all_pairs_is_the_upper_triangle(
    monkeypatch, as_rows, distance, dtype, tolerance, length
):
    X = np.random.default_rng(0).normal(size=(9, 4))
    X[np.abs(X) < 0.4] = 0.0
    X[3] = X[5]
    # Long rows, whose squares lose digits in single precision.
    X[:, 0] += length
    naive = [[np.exp(-0.7 * sum(abs(a - b) ** POWERS[distance])) for b in X] for a in X]
    by_arrays = []
    monkeypatch.setattr(
        row_distances,
        "_in_single_precision",
        lambda rows: by_arrays.append(1) or _in_single_precision(rows),
    )
    for n_cells in (1, 21, 1000):
        monkeypatch.setattr(row_distances, "_CHUNK_CELLS", n_cells)
        found = own_kernel(as_rows(X), 0.7, dtype, distance)
        assert found.dtype == dtype
        assert np.allclose(np.triu(found), np.triu(naive), atol=tolerance)
    is_short_and_sparse = as_rows is sp.csr_array and length == 1.0
    assert bool(by_arrays) == (is_short_and_sparse and dtype is np.float32)
