"""Label sets as the columns of frames and arrays of objects have them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from protolabel import PNMLClassifier
from protolabel.chunk_targets import encode_chunk
from protolabel.preprocessing.labels import encode_targets

LISTS = [["b", "a"], ["a"], []]
MATRIX = [[1, 1], [1, 0], [0, 0]]


def as_objects(rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


def columns_of_label_sets():
    sets, tuples = [set(row) for row in LISTS], [tuple(row) for row in LISTS]
    return {
        "series of lists": pd.Series(LISTS),
        "series of tuples": pd.Series(tuples),
        "series of sets": pd.Series(sets),
        "series of arrays": pd.Series([np.array(row, dtype=str) for row in LISTS]),
        "series with an index": pd.Series(LISTS, index=[7, 3, 5]),
        "polars": pl.Series(LISTS),
        "polars objects": pl.Series(sets, dtype=pl.Object),
        "array of lists": as_objects(LISTS),
        "array of tuples": as_objects(tuples),
        "array of sets": as_objects(sets),
        "list of arrays": [np.array(row, dtype=object) for row in LISTS],
    }


@pytest.mark.parametrize("form", list(columns_of_label_sets()))
def test_columns_of_label_sets_are_label_sets(form):
    column = columns_of_label_sets()[form]
    targets = encode_targets(column)
    assert targets.kind == "multilabel"
    assert targets.names.tolist() == ["a", "b"]
    assert targets.matrix.toarray().tolist() == MATRIX
    first = encode_chunk(column, None, classes=["a", "b"])
    assert first.matrix.toarray().tolist() == MATRIX
    assert encode_chunk(column[:1], first).matrix.toarray().tolist() == MATRIX[:1]


def test_columns_of_arrow_lists_are_label_sets():
    pa = pytest.importorskip("pyarrow")
    column = pd.Series(LISTS, dtype=pd.ArrowDtype(pa.list_(pa.string())))
    assert encode_targets(column).matrix.toarray().tolist() == MATRIX


def test_numbers_of_labels_in_a_series_are_label_sets():
    targets = encode_targets(pd.Series([[1, 2], [2, 3]]))
    assert targets.names.tolist() == [1, 2, 3]
    assert targets.matrix.toarray().tolist() == [[1, 1, 0], [0, 1, 1]]


def test_zeros_and_ones_in_a_series_are_a_matrix_as_in_a_list():
    rows = [[0, 1, 0], [1, 1, 0]]
    for form in (rows, pd.Series(rows), pl.Series(rows)):
        assert encode_targets(form).matrix.toarray().tolist() == rows


def test_a_series_of_texts_stays_one_class_per_row():
    for series in (pd.Series, pl.Series):
        targets = encode_targets(series(["rock", "calm", "jazz"]))
        assert targets.kind == "multiclass"
        assert targets.classes.tolist() == ["calm", "jazz", "rock"]


@pytest.mark.parametrize("missing", [None, float("nan"), "a"])
def test_a_row_that_is_no_label_set_is_named(missing):
    with pytest.raises(ValueError, match=r"Row 1 of y is .* but other rows are lists or sets"):
        encode_targets(pd.Series([["a"], missing, []]))


def test_a_series_without_any_label_says_so():
    with pytest.raises(ValueError, match="No row has any label"):
        encode_targets(pd.Series([[], []]))


def test_a_classifier_learns_the_same_from_a_series_of_lists():
    X = np.random.default_rng(0).normal(size=(60, 5))
    tags = [["a", "b"] if row[0] > 0 else ["b"] for row in X]
    model = PNMLClassifier(effort="fast", max_epochs=2, random_state=0)
    expected = model.fit(X, tags).decision_function(X)
    assert np.array_equal(model.fit(X, pd.Series(tags)).decision_function(X), expected)
    assert model.label_names_.tolist() == ["a", "b"]


@pytest.mark.parametrize("missing", [None, float("nan"), np.float64("nan"), pd.NA])
def test_a_missing_label_in_a_set_is_refused_with_its_row(missing):
    lists = [["a"], ["b"], ["a", missing]]
    sets, series = [set(row) for row in lists], pd.Series(lists)
    for y in (lists, sets, series, as_objects(sets)):
        with pytest.raises(ValueError, match=r"Row 2 of y has the label .*leave it out of the set"):
            encode_targets(y)
    with pytest.raises(ValueError, match="Row 2 of y has the label"):
        encode_chunk(sets, None, classes=["a", "b"])


def test_arrays_of_label_numbers_of_any_length_are_label_sets():
    rows = [np.array([0]), np.array([1, 2]), np.array([])]
    for y in (rows, tuple(rows), pd.Series(rows)):
        targets = encode_targets(y)
        assert targets.names.tolist() == [0, 1, 2]
        assert targets.matrix.toarray().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
