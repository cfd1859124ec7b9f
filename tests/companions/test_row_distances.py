import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions import row_distances
from protolabel.companions.row_distances import (
    as_columns,
    distances_by_products,
    gaussian_kernel,
    own_distances,
    unit_of_precision,
    weighted_rows,
)


def test_the_kernel_equals_the_double_loop():
    rng = np.random.default_rng(0)
    X, L = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    naive = [[np.exp(-0.7 * sum((a - b) ** 2)) for b in L] for a in X]
    assert np.allclose(gaussian_kernel(X, L, 0.7), naive)


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_distances_of_all_pairs_equal_the_double_loop_in_any_parts(monkeypatch, as_rows):
    X = np.random.default_rng(0).normal(size=(7, 3))
    X[np.abs(X) < 0.4] = 0.0
    naive = [[sum((a - b) ** 2) for b in X] for a in X]
    for n_cells in (1, 21, 1000):
        monkeypatch.setattr(row_distances, "_CHUNK_CELLS", n_cells)
        assert np.allclose(own_distances(as_rows(X)), naive)


@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
def test_weighted_distances_equal_those_of_weighted_rows(as_rows):
    rng = np.random.default_rng(0)
    X, L, weights = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), np.array([1.0, 0.0, 0.3])
    X[np.abs(X) < 0.4] = 0.0
    found = distances_by_products(as_rows(X), *as_columns(as_rows(L), weights), weights)
    naive = [[sum((weights * (a - b)) ** 2) for b in L] for a in X]
    assert np.allclose(found, naive)
    again = weighted_rows(as_rows(X), weights)
    assert np.allclose(np.asarray(again.todense() if sp.issparse(again) else again), X * weights)


def test_the_unit_of_precisions_is_that_of_the_mean_distance():
    X = np.array([[0.0], [1.0], [3.0]])
    assert unit_of_precision(X, own_distances(X)) == pytest.approx(1 / (2 * 2.0**2))
    assert unit_of_precision(X[:1], own_distances(X[:1])) == 1.0
    zeros = np.zeros((4, 2))
    assert unit_of_precision(zeros, own_distances(zeros)) == 1.0
