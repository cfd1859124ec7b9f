"""What a model makes of each kind of content, learned once and stored as JSON."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.exceptions import DatasetError, ModelFileError
from protolabel.preprocessing.table import Numbers, Words
from protolabel.workflows.inputs import (
    PlainInputs,
    SparseInputs,
    TextInputs,
    fit_inputs,
    inputs_from_json,
)
from protolabel.workflows.labelled_data import SparseRows

TEXTS = ("the sea is deep", "the sea is blue", "rock is loud", "rock is hard rock")


def stored(inputs):
    return inputs_from_json(json.loads(json.dumps(inputs.to_json())), Path("columns.json"))


@pytest.fixture
def sparse_rows():
    return SparseRows(sp.csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), ("a", "b", "c"), None)


def test_texts_are_weighted_as_the_vectoriser_of_the_readers_does():
    from protolabel.datasets.readers.text_tags import default_vectorizer

    inputs = fit_inputs(TEXTS, np.arange(4))
    assert isinstance(inputs, TextInputs)
    expected = default_vectorizer().fit(TEXTS)
    new = ("deep blue sea", "loud rock rock", "")
    assert inputs.feature_names == tuple(expected.get_feature_names_out())
    assert inputs.encode(new).toarray() == pytest.approx(expected.transform(new).toarray())
    again = stored(inputs)
    assert again == inputs
    assert np.array_equal(again.encode(new).toarray(), inputs.encode(new).toarray())


def test_words_of_rows_that_are_held_out_are_not_known():
    assert "rock" not in fit_inputs(TEXTS, np.array([0, 1])).feature_names
    with pytest.raises(DatasetError, match="cannot be turned into features"):
        fit_inputs(("a one", "b two"), np.arange(2))


def test_sparse_columns_are_found_by_name(sparse_rows):
    inputs = fit_inputs(sparse_rows, np.arange(2))
    assert stored(inputs) == inputs
    moved = SparseRows(sp.csr_array([[9.0, 2.0, 0.0, 1.0]]), ("new", "c", "b", "a"))
    assert inputs.encode(moved).toarray().tolist() == [[1.0, 0.0, 2.0]]
    table = [Numbers("c", np.array([np.nan])), Numbers("a", np.ones(1)), Numbers("b", np.ones(1))]
    assert inputs.encode(table).toarray().tolist() == [[1.0, 1.0, 0.0]]
    with pytest.raises(DatasetError, match="the rows lack 'b' of the 3 features"):
        inputs.encode(SparseRows(sp.csr_array([[1.0, 2.0]]), ("a", "c")))


def test_sparse_columns_without_names_are_found_by_number():
    inputs = SparseInputs(3, None, 1)
    assert stored(inputs) == inputs
    few = SparseRows(sp.csr_array([[1.0, 2.0]]), None)
    assert inputs.encode(few).toarray().tolist() == [[1.0, 2.0, 0.0]]
    with pytest.raises(DatasetError, match="the rows have 4 features, the model was trained on 3"):
        inputs.encode(SparseRows(sp.csr_array(np.ones((1, 4))), None))


def test_a_table_is_stored_and_takes_named_sparse_rows(sparse_rows):
    columns = [Numbers("a", np.array([1.0, 3.0])), Numbers("c", np.array([np.nan, 4.0]))]
    inputs = fit_inputs(columns, np.arange(2))
    assert stored(inputs) == inputs
    assert inputs.encode(sparse_rows).tolist() == [[1.0, 2.0], [0.0, 0.0]]
    with pytest.raises(DatasetError, match="sparse without names"):
        inputs.encode(SparseRows(sparse_rows.matrix, None))


def test_the_separator_of_tags_is_stored_and_files_without_it_are_read():
    columns = [Numbers("a", np.array([1.0, 3.0]))]
    with_tags = fit_inputs(columns, np.arange(2), tag_separator="|")
    assert stored(with_tags).tag_separator == "|"
    without = fit_inputs(columns, np.arange(2))
    assert "tag_separator" not in without.to_json()
    assert stored(without).tag_separator is None
    damaged = with_tags.to_json() | {"tag_separator": 3}
    with pytest.raises(ModelFileError, match="tag_separator is 3; expected a string"):
        inputs_from_json(damaged, Path("columns.json"))


def test_a_model_saved_alone_gets_dense_rows_where_it_centres_them(sparse_rows):
    columns = [Numbers("x", np.ones(2)), Numbers("y", np.zeros(2))]
    assert isinstance(PlainInputs(2, None, False).encode(columns), np.ndarray)
    assert sp.issparse(PlainInputs(3, None, False).encode(sparse_rows))
    assert isinstance(PlainInputs(3, None, True).encode(sparse_rows), np.ndarray)
    with pytest.raises(DatasetError, match="holds words"):
        PlainInputs(1, None, True).encode([Words("x", np.zeros(1, int), ("a",))])


def test_content_of_another_kind_is_refused(sparse_rows):
    texts = fit_inputs(TEXTS, np.arange(4))
    with pytest.raises(DatasetError, match="the model was trained on texts"):
        texts.encode(sparse_rows)
    with pytest.raises(DatasetError, match="the file holds texts"):
        SparseInputs(3, None).encode(TEXTS)
