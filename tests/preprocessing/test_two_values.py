"""Columns of two values are found in rows, and in mean and variance alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.two_values import two_values_of_rows, two_values_of_scaler


def columns_of_many_kinds(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    flag = rng.random(n_rows)
    return {
        "rare flag": (flag < 0.03) * 1.0,
        "quarter flag": (np.arange(n_rows) % 4 == 0) * 1.0,
        "even flag": (np.arange(n_rows) % 2) * 1.0,
        "common flag": (flag < 0.9) * 1.0,
        "number": rng.normal(size=n_rows),
        "share": rng.random(n_rows),
        "count": rng.poisson(1.0, n_rows) * 1.0,
        "three": rng.integers(0, 3, n_rows) * 1.0,
        "halves": rng.integers(0, 3, n_rows) / 2,
        "constant": np.full(n_rows, 3.0),
    }


IS_FLAG = [name.endswith("flag") for name in columns_of_many_kinds()]


@pytest.mark.parametrize("n_rows", [7, 40, 400, 401, 402, 403])
@pytest.mark.parametrize("scaling", ["tabular", "standard"])
def test_flags_are_found_without_the_rows(scaling, n_rows):
    X = np.column_stack(list(columns_of_many_kinds(n_rows, seed=4).values()))
    expected = two_values_of_rows(X)
    found = two_values_of_scaler(FeatureScaler(scaling).fit(X))
    is_zero_one = (expected[0] == 0) & (expected[1] == 1)
    np.testing.assert_array_equal(found[:, is_zero_one], expected[:, is_zero_one])
    assert np.isnan(found[:, np.isnan(expected[0])]).all()


def test_other_pairs_are_found_by_the_tabular_rule():
    flags = (np.random.default_rng(1).random((200, 3)) < [0.1, 0.4, 0.8]) * 1.0
    X = np.column_stack([flags * [1.0, -2.0, 0.25] + [1.0, 1.0, 7.0], np.arange(200.0)])
    found = two_values_of_scaler(FeatureScaler("tabular").fit(X))
    np.testing.assert_allclose(found, [[1, -1, 7, np.nan], [2, 1, 7.25, np.nan]])


def test_rows_tell_the_two_values_of_each_column():
    columns = columns_of_many_kinds()
    X = np.column_stack(list(columns.values()))
    found = two_values_of_rows(X)
    assert (~np.isnan(found[0])).tolist() == IS_FLAG
    np.testing.assert_array_equal(found[:, :4], [[0] * 4, [1] * 4])


def test_zeros_that_are_not_stored_are_values():
    X = np.array([[0, 1, -1, 2, -1, 0], [0, 2, 1, 0, 0, 3], [5, 1, 0, 2, 1, 4.0]])
    X = np.vstack([X, [5, 2, -1, 2, -1, 0]])
    expected = two_values_of_rows(X)
    np.testing.assert_array_equal(two_values_of_rows(sp.csr_array(X)), expected)
    assert np.isnan(expected[0]).tolist() == [False, False, True, False, True, True]
