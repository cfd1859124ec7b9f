import datetime

import numpy as np
import pandas as pd
import pytest

from protolabel.row_groups import (
    drawn_rows,
    groups_at,
    groups_of_copies,
    n_groups,
    numbered_groups,
    shuffled_rows,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    "names",
    [
        ["b", "a", "b"],
        ["nan", "None", "nan"],
        [2.5, 1.0, 2.5],
        np.array([7, "a", 7], dtype=object),
        pd.Series([9, 3, 9], index=[4, 4, 4], dtype="Int64"),
        pd.Series(["y", "x", "y"], dtype="category"),
        [datetime.date(2020, 2, 2), datetime.date(2020, 1, 1), datetime.date(2020, 2, 2)],
    ],
)
def test_names_of_any_kind_become_numbers(names):
    found = numbered_groups(names, 3)
    assert found[0] == found[2] != found[1]
    assert sorted(set(found.tolist())) == [0, 1]


@pytest.mark.parametrize(
    "names",
    [
        [1.0, np.nan, 2.0],
        ["a", np.nan, "b"],
        ["a", None, "b"],
        pd.Series(["a", np.nan, "b"]),
        np.array(["a", None, "b"], dtype=object),
        pd.Series([1, None, 2], dtype="Int64"),
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[D]"),
    ],
)
def test_a_missing_group_is_refused_with_its_row(names):
    with pytest.raises(ValueError, match=r"missing in 1 row.*first in row 1"):
        numbered_groups(names, 3)


def test_groups_of_another_number_of_rows_are_refused():
    with pytest.raises(ValueError, match=r"shape \(2,\), expected \(3,\)"):
        numbered_groups([0, 1], 3)


def test_rows_for_themselves_count_as_many_groups():
    assert n_groups(None, 5) == 5
    assert n_groups(np.array([0, 1, 0]), 3) == 2
    assert groups_at(None, slice(2)) is None


def test_groups_of_some_rows_are_numbered_anew():
    assert groups_at(np.array([4, 2, 4, 0]), np.array([0, 2, 3])).tolist() == [1, 1, 0]


def test_shuffled_rows_keep_groups_together(rng):
    groups = rng.integers(10, size=60)
    order = shuffled_rows(60, groups, rng)
    assert sorted(order.tolist()) == list(range(60))
    assert (np.diff(groups[order]) != 0).sum() == len(np.unique(groups)) - 1


def test_rows_for_themselves_are_shuffled_as_by_numpy():
    order = shuffled_rows(20, None, np.random.default_rng(3))
    assert order.tolist() == np.random.default_rng(3).permutation(20).tolist()


def test_draws_take_groups_whole(rng):
    groups = np.repeat(np.arange(50), [1, 9] * 25)
    drawn = drawn_rows(250, 250, groups, rng)
    assert all(len(set(drawn[groups == group].tolist())) == 1 for group in range(50))
    assert 0 < (drawn == 0).mean() < 1
    one_of_each = drawn[np.unique(groups, return_index=True)[1]]
    assert one_of_each.sum() == 50


def test_fewer_draws_take_fewer_groups(rng):
    groups = np.repeat(np.arange(50), 4)
    assert drawn_rows(200, 40, groups, rng).sum() == 40


class TestCopies:
    def test_equal_rows_are_a_group(self, rng):
        X = rng.normal(size=(40, 3))
        rows = np.concatenate([np.arange(40), [3, 3, 17]])
        groups = groups_of_copies(X[rows])
        assert n_groups(groups, 43) == 40
        for row, copy in ((3, 40), (3, 41), (17, 42)):
            assert groups[row] == groups[copy]

    def test_wide_tables_are_looked_at_in_part(self, rng):
        X = np.zeros((30, 3500))
        X[:, [3, 6]] = rng.normal(size=(30, 2))
        assert n_groups(groups_of_copies(np.tile(X, (2, 1))), 60) == 30

    def test_rows_that_differ_in_one_cell_are_not(self, rng):
        X = np.repeat(rng.normal(size=(20, 3)), 2, axis=0)
        X[1::2, 2] += 1e-12
        assert groups_of_copies(X) is None

    def test_zeros_of_both_signs_are_equal(self, rng):
        X = np.column_stack([np.tile(rng.normal(size=(20, 2)), (2, 1)), np.zeros(40)])
        X[20:, 2] = -0.0
        assert n_groups(groups_of_copies(X), 40) == 20

    def test_few_copies_are_left_alone(self, rng):
        X = rng.normal(size=(100, 2))
        X[1] = X[0]
        assert groups_of_copies(X) is None

    def test_tables_of_codes_have_equal_rows_by_chance(self, rng):
        assert groups_of_copies(rng.integers(3, size=(200, 4)).astype(float)) is None

    def test_two_measured_columns_are_enough(self, rng):
        X = np.column_stack([rng.integers(3, size=(60, 4)), rng.normal(size=(60, 2))])
        assert n_groups(groups_of_copies(np.tile(X, (2, 1))), 120) == 60

    @pytest.mark.parametrize("n_others", [0, 1])
    def test_people_of_one_age_are_no_copies(self, n_others, rng):
        columns = [rng.integers(20, 80, size=300), *rng.integers(2, size=(n_others, 300))]
        assert groups_of_copies(np.column_stack(columns).astype(float)) is None

    def test_so_few_different_rows_cannot_be_left_out(self, rng):
        assert groups_of_copies(np.tile(rng.normal(size=(10, 3)), (30, 1))) is None

    @pytest.mark.parametrize("shape", [(1, 3), (5, 0), (2, 1)])
    def test_tables_of_hardly_any_size_have_none(self, shape, rng):
        assert groups_of_copies(rng.normal(size=shape)) is None
