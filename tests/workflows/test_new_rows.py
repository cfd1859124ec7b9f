"""Rows for a model that is there already, in another format than it was trained on."""

import numpy as np
import pytest

from protolabel.exceptions import DatasetError
from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.inputs import SparseInputs, fit_inputs
from protolabel.workflows.labelled_data import read_labelled
from protolabel.workflows.new_rows import read_rows

ARFF = ["@relation r", "@attribute size numeric", "@attribute colour {red,blue}"]


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_an_arff_file_without_labels_is_read(tmp_path):
    path = write(tmp_path / "t.arff", *ARFF, "@attribute a {0,1}", "@data", "1,red,0", "?,blue,1")
    data = read_labelled(path, FileOptions(labels=("a",)))
    inputs = fit_inputs(data.content, np.arange(2))
    bare = write(tmp_path / "new.arff", *ARFF, "@data", "?,blue", "4,?")
    rows = read_rows(bare, inputs, ("a",), FileOptions())
    assert rows.Y is None
    assert rows.X.tolist() == [[1.0, 0.0, 1.0], [4.0, 0.0, 0.0]]
    labelled = read_rows(path, inputs, ("a",), FileOptions(), wanted_labels=("a",))
    assert labelled.Y.toarray().tolist() == [[0], [1]]


def test_a_numbered_file_counts_its_features_as_the_training_file_did(tmp_path):
    path = write(tmp_path / "new.txt", "0,2 1:5", "1 2:7")
    from_zero = SparseInputs(3, None, feature_base=0)
    rows = read_rows(path, from_zero, ("label0", "label1"), FileOptions())
    assert rows.X.toarray().tolist() == [[0, 5, 0], [0, 0, 7]]
    from_one = SparseInputs(3, None, feature_base=1)
    rows = read_rows(
        path, from_one, ("label0", "label1"), FileOptions(), wanted_labels=("label1", "label9")
    )
    assert rows.X.toarray().tolist() == [[5, 0, 0], [0, 7, 0]]
    assert rows.Y.toarray().tolist() == [[0, 0], [1, 0]]


def test_yeast_from_its_name_and_from_a_table_give_the_same_rows(tmp_path):
    data = read_labelled("yeast", FileOptions())
    inputs = fit_inputs(data.content, np.arange(2417))
    named = read_rows("yeast", inputs, data.label_names, FileOptions())
    path = tmp_path / "yeast.csv"
    header = ",".join(column.name for column in reversed(data.content))
    cells = named.X[:5, ::-1]
    np.savetxt(path, cells, delimiter=",", header=header, comments="", fmt="%.17g")
    assert np.array_equal(read_rows(path, inputs, (), FileOptions()).X, named.X[:5])


def test_columns_are_kept_from_tables_alone(tmp_path):
    data = read_labelled("yeast", FileOptions())
    inputs = fit_inputs(data.content, np.arange(10))
    with pytest.raises(DatasetError, match="yeast is no table, so its column 'id'"):
        read_rows("yeast", inputs, data.label_names, FileOptions(), keep=("id",))
    path = write(tmp_path / "t.csv", "x,a", "1,0")
    few = fit_inputs(read_labelled(path, FileOptions(n_labels=1)).content, np.arange(1))
    assert read_rows(path, few, ("a",), FileOptions(), keep=("a",)).kept == {"a": ["0"]}
    with pytest.raises(DatasetError, match="there is no column 'id'"):
        read_rows(path, few, ("a",), FileOptions(), keep=("id",))
