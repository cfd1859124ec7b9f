"""Rows for a model that is there already, in another format than it was trained on."""

import unicodedata

import numpy as np
import pytest

from protolabel.exceptions import DatasetError
from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.inputs import PlainInputs, SparseInputs, TableInputs, fit_inputs
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


@pytest.mark.parametrize("comment", [[], ["# by dump_svmlight_file"]], ids=["xmlc", "libsvm"])
def test_a_blank_line_of_a_numbered_file_is_a_row_without_features(tmp_path, comment):
    lines = ["0 1:5", " ", "", "1 2:7", "0 ", " ", "", ""]
    path = write(tmp_path / "new.txt", *comment, *lines)
    names, inputs = ("label0", "label1"), SparseInputs(2, None, feature_base=1)
    rows = read_rows(path, inputs, names, FileOptions())
    assert rows.X.toarray().tolist() == [[5, 0], [0, 0], [0, 0], [0, 7], [0, 0], [0, 0]]
    labelled = read_rows(path, inputs, names, FileOptions(), wanted_labels=names)
    assert labelled.X.toarray().tolist() == [[5, 0], [0, 7], [0, 0]]
    note = "3 blank lines, without labels and features, were skipped"
    assert labelled.notes == (note,)
    assert note in read_labelled(path, FileOptions()).notes


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


@pytest.fixture
def tagged(tmp_path):
    """What a model takes that was trained on tags split at a bar, and its labels."""
    path = write(tmp_path / "train.csv", "size;tags", "1;A, x|B", "2;B", "3;A, x")
    data = read_labelled(path, FileOptions())
    inputs = fit_inputs(data.content, np.arange(3), tag_separator=data.tag_separator)
    return inputs, data.label_names


def test_tags_are_split_as_in_training(tagged, tmp_path):
    inputs, names = tagged
    single = write(tmp_path / "single.csv", "size;tags", "1;A, x", "2;B")
    rows = read_rows(single, inputs, names, FileOptions(), wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[1, 0], [0, 1]]
    assert rows.notes == ()
    # A model of a version that did not store the separator: no label is split.
    before = TableInputs(inputs.table)
    rows = read_rows(single, before, names, FileOptions(), wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[1, 0], [0, 1]]
    several = write(tmp_path / "several.csv", "size\ttags", "1\tB;A, x", "2\tB")
    rows = read_rows(several, before, names, FileOptions(), wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[1, 1], [0, 1]]


def test_what_the_user_says_stands_between_tags_comes_first(tagged, tmp_path):
    inputs, names = tagged
    path = write(tmp_path / "new.csv", "size\ttags", "1\tB;A, x", "2\tB")
    options = FileOptions(tag_separator=";")
    rows = read_rows(path, inputs, names, options, wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("cell", ["['B', 'A, x']", '["B","A, x"]'])
def test_tags_may_be_the_text_of_a_list(tagged, tmp_path, cell):
    inputs, names = tagged
    path = write(tmp_path / "new.csv", "size\ttags", f"1\t{quoted(cell)}", "2\t[]", "3\tnan")
    rows = read_rows(path, inputs, names, FileOptions(), wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[1, 1], [0, 0], [0, 0]]
    assert rows.notes == ("'nan', 1 times in the tags, were taken as no tag",)


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def test_a_label_of_the_model_is_a_tag_even_if_it_is_called_none(tmp_path):
    path = write(tmp_path / "new.csv", "size,tags", "1,none", "2,calm", "3,NA")
    inputs = PlainInputs(1, ("size",), needs_dense=True)
    names = ("calm", "none")
    rows = read_rows(path, inputs, names, FileOptions(), wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[0, 1], [1, 0], [0, 0]]


def test_tags_that_the_model_does_not_know_are_told(tagged, tmp_path):
    inputs, names = tagged
    path = write(tmp_path / "new.csv", "size\ttags", "1\tB|C", "2\tC|D|A, x", "3\tB;A, x")
    rows = read_rows(path, inputs, names, FileOptions(), wanted_labels=("B",))
    assert rows.Y.toarray().tolist() == [[1], [0], [0]]
    [note] = rows.notes
    assert note.startswith(
        "column 'tags' has 4 tags that the model does not know, as 'B;A, x', 'C', 'D'; they are "
        "left out."
    )


def test_tags_may_lack_the_labels_asked_for(tagged, tmp_path):
    inputs, names = tagged
    path = write(tmp_path / "new.csv", "size\ttags", "1\tB", "2\t")
    rows = read_rows(path, inputs, names, FileOptions(), wanted_labels=("A, x",))
    assert rows.Y.toarray().tolist() == [[0], [0]]


def test_lists_of_parquet_are_not_split_again(tagged, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    inputs, names = tagged
    path = tmp_path / "new.parquet"
    pq.write_table(pa.table({"size": [1.0, 2.0], "tags": [["A, x", "B"], ["B"]]}), path)
    rows = read_rows(path, inputs, names, FileOptions(), wanted_labels=names)
    assert rows.Y.toarray().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("lines", [["size,tags"], ["size,A,B"]])
def test_labels_of_no_rows_are_refused(lines, tmp_path):
    path = write(tmp_path / "new.csv", *lines)
    inputs = PlainInputs(1, ("size",), needs_dense=True)
    with pytest.raises(DatasetError, match="line 2: the table has a header but no rows"):
        read_rows(path, inputs, ("A", "B"), FileOptions(), wanted_labels=("A", "B"))


def test_an_infinite_number_is_refused_with_its_line(tmp_path):
    path = write(tmp_path / "new.csv", "size,other", "1,2", "1e999,2")
    with pytest.raises(DatasetError, match="line 3: '1e999' in column 'size' is not a finite"):
        read_rows(path, PlainInputs(1, ("size",), needs_dense=True), ("A",), FileOptions())


@pytest.mark.parametrize(
    ("trained_with", "cells"),
    [("1", ["1.0", "", "1"]), ("1.0", ["1", "nan", "1.0"]), ("true", ["True", "", "TRUE"])],
)
def test_a_word_spelt_in_another_way_is_the_same_word(trained_with, cells, tmp_path):
    path = write(tmp_path / "train.csv", "member,a", *(f"{trained_with},1", ",0") * 5)
    inputs = fit_inputs(read_labelled(path, FileOptions(n_labels=1)).content, np.arange(10))
    new = write(tmp_path / "new.csv", "member,other", *(f"{cell},x" for cell in cells))
    rows = read_rows(new, inputs, ("a",), FileOptions())
    assert (rows.X.tolist(), rows.notes) == ([[1.0], [0.0], [1.0]], ())


def test_decimal_commas_are_read_whatever_training_had(tmp_path):
    path = write(tmp_path / "train.csv", "size,width,a", "0.5,1,1", "2,3,0", "1.25,2,0")
    inputs = fit_inputs(read_labelled(path, FileOptions(n_labels=1)).content, np.arange(3))
    new = write(tmp_path / "new.csv", "width;size", "4;0,25", "5;")
    rows = read_rows(new, inputs, ("a",), FileOptions())
    assert rows.X.tolist() == [[0.25, 4], [1.25, 5]]
    assert rows.notes == ("the comma was read as a decimal point in: size",)
    mixed = write(tmp_path / "mixed.csv", "width;size", "4;0,25", "5;0.5")
    with pytest.raises(DatasetError, match=r"line 3: '0.5' in column 'size' has '.' where"):
        read_rows(mixed, inputs, ("a",), FileOptions())
    quoted = write(tmp_path / "quoted.csv", "width,size", '4,"0,25"')
    with pytest.raises(DatasetError, match="'0,25' in column 'size' is not a number"):
        read_rows(quoted, inputs, ("a",), FileOptions())


NUMBERED = PlainInputs(3, None, needs_dense=True)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("0,1,2", [1, 2, 3]),
        ("2,1,0", [1, 2, 3]),
        ("x,y,1", [1, 2, 3]),
        ("0,x,1,y,z", [2, 4, 5]),
        ("x,y,2020,0,1", [1, 2, 3]),
    ],
)
def test_numbered_labels_do_not_hide_numbered_columns(header, expected, tmp_path):
    cells = ",".join(str(number + 1) for number in range(header.count(",") + 1))
    path = write(tmp_path / "new.csv", header, cells)
    assert read_rows(path, NUMBERED, ("0", "1"), FileOptions()).X.tolist() == [expected]


@pytest.mark.parametrize(("header", "count"), [("0,1,2,3,4", 5), (",0,1,2,3", 5), ("0,1", 0)])
def test_numbered_columns_that_do_not_fit_are_refused(header, count, tmp_path):
    path = write(tmp_path / "new.csv", header, ",".join("1" * (header.count(",") + 1)))
    message = f"{count} columns are no labels, but the model has 3 features"
    with pytest.raises(DatasetError, match=message):
        read_rows(path, NUMBERED, ("0", "1"), FileOptions())


def test_numbered_labels_are_read_beside_named_columns_alone(tmp_path):
    names = ("0", "1")
    path = write(tmp_path / "test.csv", "x,0,y,1,z", "5,0,6,1,7")
    rows = read_rows(path, NUMBERED, names, FileOptions(), wanted_labels=names)
    assert (rows.X.tolist(), rows.Y.toarray().tolist()) == ([[5, 6, 7]], [[0, 1]])
    path = write(tmp_path / "years.csv", "x,y,2020,0,1", "5,6,7,0,1")
    rows = read_rows(path, NUMBERED, names, FileOptions(), wanted_labels=names)
    assert rows.X.tolist() == [[5, 6, 7]]
    path = write(tmp_path / "unclear.csv", "0,1,2,3,4", "0,1,5,6,7")
    with pytest.raises(DatasetError, match="so is column '2', which is none of them; give"):
        read_rows(path, NUMBERED, names, FileOptions(), wanted_labels=names)


def test_the_index_of_pandas_is_left_out_where_columns_have_no_names(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [1.0], "y": [2.0], "z": [3.0]}, index=["row"]).to_parquet(path)
    rows = read_rows(path, NUMBERED, ("0", "1"), FileOptions(), keep=("__index_level_0__",))
    assert rows.X.tolist() == [[1, 2, 3]]
    assert rows.kept == {"__index_level_0__": ["row"]}


@pytest.fixture
def of_numbers(tmp_path):
    """What a model takes that was trained on numbers and on yes and no."""
    path = write(tmp_path / "train.csv", "size;price;open;tags", "1,5;1500;1;A", "2,5;2500;0;B")
    data = read_labelled(path, FileOptions())
    return fit_inputs(data.content, np.arange(2)), data.label_names


def test_marks_of_thousands_are_refused_in_new_rows(of_numbers, tmp_path):
    path = write(tmp_path / "new.csv", "size;price;open", "1,5;1.500;1", "2,5;2.500;0")
    with pytest.raises(DatasetError, match=r"points in column 'price' may be marks of thousands"):
        read_rows(path, *of_numbers, FileOptions())


def test_yes_and_no_stand_for_one_and_zero_and_for_no_other_number(of_numbers, tmp_path):
    path = write(tmp_path / "new.csv", "size,price,open", "1,2,yes", "3,4,False", "5,6,7")
    assert read_rows(path, *of_numbers, FileOptions()).X[:, 2].tolist() == [1, 0, 7]
    path = write(tmp_path / "new.csv", "size,price,open", "1,2,1", "yes,4,0")
    with pytest.raises(DatasetError, match=r"line 3: 'yes' in column 'size' is not a number"):
        read_rows(path, *of_numbers, FileOptions())


def test_names_are_found_whatever_the_form_of_accents(tmp_path):
    path = write(tmp_path / "train.csv", "größe,tags", "1,A", "2,B")
    data = read_labelled(path, FileOptions())
    inputs = fit_inputs(data.content, np.arange(2))
    apart = unicodedata.normalize("NFD", "größe")
    path = write(tmp_path / "new.csv", apart, "3", "", "4")
    rows = read_rows(path, inputs, data.label_names, FileOptions(), keep=(apart,))
    assert rows.X.tolist() == [[3], [1], [4]]
    assert rows.kept == {apart: ["3", "", "4"]}
