import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from protolabel.preprocessing.labels import encode_targets

MATRIX = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize(
    "form",
    [
        MATRIX,
        MATRIX.astype(bool),
        MATRIX.astype(np.float32),
        MATRIX.tolist(),
        sp.csr_matrix(MATRIX),
        sp.csc_array(MATRIX),
        sp.coo_array(MATRIX),
        pd.DataFrame(MATRIX, columns=["a", "b"]),
        pl.DataFrame(MATRIX, schema=["a", "b"]),
    ],
    ids=lambda form: type(form).__name__,
)
def test_every_form_of_a_label_matrix_is_the_same_target(form):
    targets = encode_targets(form)
    assert targets.kind == "multilabel"
    assert np.array_equal(targets.matrix.toarray(), MATRIX)


def test_names_come_from_the_frame():
    assert encode_targets(pd.DataFrame(MATRIX, columns=["x", "y"])).names.tolist() == ["x", "y"]
    assert encode_targets(pl.DataFrame(MATRIX, schema=["x", "y"])).names.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    "rows",
    [
        [{"b", "a"}, {"a"}, set()],
        [["b", "a"], ["a"], []],
        [("a", "b", "a"), ("a",), ()],
    ],
)
def test_label_sets_are_sorted_by_name(rows):
    targets = encode_targets(rows)
    assert targets.names.tolist() == ["a", "b"]
    assert targets.matrix.toarray().tolist() == [[1, 1], [1, 0], [0, 0]]


def test_sets_of_numbers_are_labels_not_a_matrix():
    targets = encode_targets([{0, 1}, {1}])
    assert targets.matrix.toarray().tolist() == [[1, 1], [0, 1]]


def test_stored_zeros_of_a_sparse_matrix_are_no_labels():
    Y = sp.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert encode_targets(Y).matrix.nnz == 1


def test_two_classes_are_one_label_named_by_the_second():
    targets = encode_targets(["no", "yes", "no"])
    assert targets.kind == "binary"
    assert targets.classes.tolist() == ["no", "yes"]
    assert targets.matrix.toarray().ravel().tolist() == [0, 1, 0]


def test_three_classes_are_three_labels():
    targets = encode_targets(np.array([2, 5, 9, 5]))
    assert targets.kind == "multiclass"
    assert targets.matrix.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]


def test_one_column_of_zeros_and_ones_is_one_label():
    assert encode_targets(np.array([[0], [1]])).kind == "multilabel"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[0, 2], [1, 0]]), r"Y contains the value 2; a label matrix may contain only 0"),
        (np.array([[0.5, 0], [1, 0]]), r"the value 0.5"),
        (np.array([[np.nan, 0], [1, 0]]), r"the value nan"),
        (np.array([[-1, 1], [1, -1]]), r"the value -1"),
        (np.array([["a", "b"], ["c", "d"]]), r"values of type <U1"),
        (sp.csr_array(np.array([[0, 3]])), r"the value 3"),
        (np.empty((3, 0)), r"Y has no columns"),
        (sp.csr_array((3, 0)), r"Y has no columns"),
        (np.zeros((2, 2, 2)), r"Y has 3 dimensions"),
        ([set(), set()], r"No row has any label"),
        (pd.DataFrame(MATRIX, columns=["a", "a"]), r"two columns of the same name"),
        (None, r"requires y to be passed, but the target y is None"),
        (np.array([0.1, 0.7, 0.3]), r"Unknown label type: continuous"),
        ([1.0, np.nan, 0.0], r"Input y contains NaN; every row needs a class"),
        ([1.0, np.inf, 0.0], r"Input y contains infinity; every row needs a class"),
    ],
)
def test_unusable_targets_get_a_clear_error(bad, message):
    with pytest.raises(ValueError, match=message):
        encode_targets(bad)


@pytest.mark.parametrize("missing", [None, np.nan, np.float64("nan"), pd.NA, pd.NaT])
def test_a_class_that_is_missing_is_refused_with_its_row(missing):
    values = ["rock", missing, "calm"]
    for y in (values, np.array(values, dtype=object), pd.Series(values), pd.Categorical(values)):
        with pytest.raises(ValueError, match=r"Row 1 of y is .* but every row needs a class"):
            encode_targets(y)


@pytest.mark.parametrize("dtype", ["boolean", "string", "category"])
def test_a_missing_class_of_a_nullable_series_is_refused_with_its_row(dtype):
    with pytest.raises(ValueError, match=r"Row 2 of y is .* but every row needs a class"):
        encode_targets(pd.Series([True, False, None], dtype=dtype))


@pytest.mark.parametrize("rows", [[[0], [1], [2]], [(0,), (1,), (2,)], [[0, 1], [1, 1], [1, 2]]])
def test_lists_of_label_numbers_that_look_like_a_matrix_are_refused(rows):
    for y in (rows, [np.array(row) for row in rows]):
        with pytest.raises(ValueError, match=r"the value 2; .* If row 2, \[.*2\], .* pass sets"):
            encode_targets(y)
    assert encode_targets([set(row) for row in rows]).names.tolist() == [0, 1, 2]


def test_lists_of_zeros_and_ones_stay_a_matrix():
    assert encode_targets([[0], [1], [1]]).matrix.toarray().tolist() == [[0], [1], [1]]
