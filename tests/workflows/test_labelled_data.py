"""Rows with labels of any format, features as they are in the file."""

import numpy as np
import pytest

from protolabel.exceptions import DatasetError
from protolabel.preprocessing.table import Numbers, Words
from protolabel.workflows.file_options import FileOptions, format_of
from protolabel.workflows.inputs import fit_inputs
from protolabel.workflows.labelled_data import SparseRows, dense_columns, read_labelled


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_numbers_words_and_gaps_stay_as_they_are(tmp_path):
    path = write(
        tmp_path / "t.csv", "size,colour,free,a,b", "1,red,x,0,1", ",blue,y,1,1", "3,,z,1,0"
    )
    data = read_labelled(path, FileOptions(labels=("a", "b"), drop=("free",)))
    size, colour = data.content
    assert isinstance(size, Numbers)
    assert np.array_equal(size.values, [1.0, np.nan, 3.0], equal_nan=True)
    assert isinstance(colour, Words)
    assert (colour.words, colour.codes.tolist()) == (("red", "blue"), [0, 1, -1])
    assert data.Y.toarray().tolist() == [[0, 1], [1, 1], [1, 0]]
    assert "column 'free' was dropped: as asked" in data.notes
    assert not any("before fitting" in note for note in data.notes)


def test_a_blank_between_yes_and_no_becomes_one_of_them(tmp_path):
    path = write(
        tmp_path / "t.csv", "size,live,a", "1,yes,0", ",,1", "3,yes,1", "6.5,no,0", "2,NA,0"
    )
    data = read_labelled(path, FileOptions(labels=("a",)))
    rows = fit_inputs(data.content, np.arange(4)).encode(data.content)
    assert rows.tolist() == [[1, 1], [3.5, 1], [3, 1], [6.5, 0], [2, 1]]
    assert data.notes[-2:] == (
        "missing numbers become the mean of the training rows in: size",
        "missing numbers become the more frequent value of the training rows in: live",
    )


def test_what_stood_between_tags_is_kept(tmp_path):
    path = write(tmp_path / "t.csv", "size;tags", "1;A, x|B", "2;B")
    data = read_labelled(path, FileOptions())
    assert (data.label_names, data.tag_separator) == (("A, x", "B"), "|")
    path = write(tmp_path / "u.csv", "size;tags", "1;A", "2;B")
    assert read_labelled(path, FileOptions()).tag_separator is None


def test_the_index_of_pandas_is_neither_a_feature_nor_a_label(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"size": [1.0, 2.0], "a": [0, 1], "b": [1, 1]}, index=[7, 5]).to_parquet(path)
    data = read_labelled(path, FileOptions(n_labels=2))
    assert data.label_names == ("a", "b")
    assert [column.name for column in data.content] == ["size"]
    with pytest.raises(DatasetError, match="has 3 columns; its last 3 cannot be labels"):
        read_labelled(path, FileOptions(n_labels=3))


def test_lists_of_parquet_have_no_separator_to_keep(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"size": [1.0, 2.0], "tags": [["A; x", "B"], ["B"]]}), path)
    data = read_labelled(path, FileOptions())
    assert (data.label_names, data.tag_separator) == (("A; x", "B"), None)


def test_a_column_of_too_many_words_is_left_out(tmp_path):
    rows = [f"{n % 9},word{n},{n % 2}" for n in range(70)]
    path = write(tmp_path / "t.csv", "size,title,a", *rows)
    data = read_labelled(path, FileOptions(n_labels=1))
    assert [column.name for column in data.content] == ["size"]
    assert any("'title' was dropped" in note for note in data.notes)
    path = write(tmp_path / "u.csv", "title,a", *(row.partition(",")[2] for row in rows))
    with pytest.raises(DatasetError, match="no column can serve as a feature"):
        read_labelled(path, FileOptions(n_labels=1))


def test_categorical_columns_are_words_even_where_they_look_like_numbers(tmp_path):
    path = write(tmp_path / "t.csv", "code;a", "7;0", "8;1", "7;1")
    [code] = read_labelled(path, FileOptions(n_labels=1, categorical=("code",))).content
    assert code.words == ("7", "8")


def test_sparse_files_keep_their_rows_sparse_and_remember_where_they_count_from(tmp_path):
    path = write(tmp_path / "t.txt", "0,1 1:0.5 3:2", "1 2:1")
    content = read_labelled(path, FileOptions()).content
    assert isinstance(content, SparseRows)
    assert (content.names, content.feature_base) == (None, 1)
    assert content.matrix.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    path = write(tmp_path / "u.txt", "0,1 0:0.5 3:2", "1 2:1")
    assert read_labelled(path, FileOptions()).content.feature_base == 0


def test_labels_of_a_dataset_are_chosen_by_name():
    data = read_labelled("yeast", FileOptions(labels=("Class3", "Class1")))
    assert data.label_names == ("Class3", "Class1")
    assert data.Y.shape == (2417, 2)
    assert len(data.content) == 103
    with pytest.raises(DatasetError, match="yeast has no label 'Klass1'; did you mean Class1"):
        read_labelled("yeast", FileOptions(labels=("Klass1",)))
    with pytest.raises(DatasetError, match="carries 14 labels, 3 were asked for"):
        read_labelled("yeast", FileOptions(n_labels=3))


def test_labels_that_are_not_asked_for_are_no_features(tmp_path):
    path = write(
        tmp_path / "t.arff",
        *("@relation 'x: -C 2'", "@attribute a {0,1}", "@attribute b {0,1}"),
        *("@attribute size numeric", "@data", "0,1,5", "1,1,?"),
    )
    data = read_labelled(path, FileOptions(labels=("b",)))
    assert data.label_names == ("b",)
    assert [column.name for column in data.content] == ["size"]
    with pytest.raises(DatasetError, match="'size' is 5; expected 0 or 1"):
        read_labelled(path, FileOptions(n_labels=1))


def test_a_name_that_occurs_twice_gets_a_number():
    columns = dense_columns(np.zeros((1, 3)), ["x", "x", "y"])
    assert [column.name for column in columns] == ["x", "x#2", "y"]


def test_a_source_is_a_file_or_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert format_of("yeast", FileOptions()) is None
    (tmp_path / "yeast").mkdir()
    assert format_of("yeast", FileOptions()) is None
    with pytest.raises(DatasetError, match="is a folder; give a data file"):
        format_of(tmp_path, FileOptions())
    with pytest.raises(DatasetError, match=r"none\.csv is not a file"):
        format_of("none.csv", FileOptions())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xls"}, "The format 'xls' is unknown"),
        ({"labels": ("a",), "n_labels": 2}, "labels and n_labels; use one"),
        ({"tags": "t", "n_labels": 2}, "n_labels and tags; use one"),
        ({"n_labels": 0}, "at least 1 is needed"),
        ({"encoding": "windows1252"}, "The encoding 'windows1252' is unknown; .* --encoding"),
        ({"encoding": "hex"}, "The encoding 'hex' is unknown"),
        ({"delimiter": "::"}, "expected one character"),
    ],
)
def test_options_that_contradict_themselves_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        FileOptions(**options)
