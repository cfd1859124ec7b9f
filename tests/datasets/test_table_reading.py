"""A user's own CSV or TSV table, and raw text."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from datasets.table_files import numbered, read_quietly, write
from protolabel.datasets import (
    DatasetWarning,
    TableOptions,
    load_dataset,
    read_csv,
    read_dataset,
    sniff_format,
)
from protolabel.exceptions import DatasetError
from protolabel.workflows.table_file import open_table

MIXED = (
    "id,size,colour,in stock,comment,empty,tags\n"
    "1,0.5,red,yes,first of all,,a;b\n"
    '2,1.5,"light, blue",no,then this,,b ; c\n'
    "3,,red,yes,and that,,\n"
    "4,7e1,NA,no,the end,,a;b;c\n"
)


def test_mixed_columns_and_tags_give_a_usable_dataset(tmp_path: Path) -> None:
    dataset = read_quietly(write(tmp_path, MIXED), drop=["comment"])
    assert dataset.feature_names == ("size", "colour=red", "colour=light, blue", "in stock")
    np.testing.assert_array_equal(
        dataset.X, [[0.5, 1, 0, 1], [1.5, 0, 1, 0], [np.nan, 1, 0, 1], [70, 0, 0, 0]]
    )
    assert dataset.label_names == ("a", "b", "c")
    assert dataset.Y.toarray().tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]]


def test_each_column_encoded_or_dropped_has_its_message(tmp_path: Path) -> None:
    with pytest.warns(DatasetWarning) as caught:
        dataset = read_dataset(write(tmp_path, MIXED), drop=["comment"])
    messages = [str(warning.message) for warning in caught]
    assert messages == [f"mine: {note}" for note in dataset.provenance.notes]
    assert set(dataset.provenance.notes) == {
        "column 'tags' was taken as the tags",
        "tags were split at ';'",
        "column 'in stock' was encoded as 1 for yes and 0 for no",
        "column 'colour' was encoded as 2 columns of 0 and 1",
        "column 'id' was dropped: it numbers the rows",
        "column 'comment' was dropped: as asked",
        "column 'empty' was dropped: it holds no value",
        "column 'size' has 1 missing values, read as NaN; impute them before fitting",
    }


def test_free_text_is_dropped_with_the_reason(tmp_path: Path) -> None:
    rows = "".join(f"{i % 9},text number {i},a\n" for i in range(100))
    dataset = read_csv(write(tmp_path, "size,comment,tags\n" + rows))
    assert dataset.feature_names == ("size",)
    assert any(
        "'comment' was dropped" in note and "identifier or free text" in note
        for note in dataset.provenance.notes
    )


def test_a_few_numbers_beside_words_are_codes(tmp_path: Path) -> None:
    path = write(tmp_path, numbered([k % 6 for k in range(60)], row=7, cell="other"))
    assert "price=other" in read_quietly(path, labels=["dear"]).feature_names


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_names_of_columns_may_hold_line_breaks(tmp_path: Path, mark: str) -> None:
    rows = [['"price\n(EUR)"', "size", "dear"], ["1", '"2"', "0"], ["3", "5", "1"]]
    text = "\n".join(mark.join(row) for row in rows) + "\n"
    data = read_quietly(write(tmp_path, text), labels=["dear"])
    assert data.feature_names == ("price\n(EUR)", "size")
    assert data.X.tolist() == [[1, 2], [3, 5]]


def test_a_quote_that_is_never_closed_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,"b\n' + "1,2\n" * 300)
    with pytest.raises(DatasetError, match=r"mine\.csv, line"):
        read_dataset(path, labels=["a"])


def test_label_columns_may_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "size\tred\tblue\n0.5\t1\tfalse\n2\tno\tTRUE\n", "table.tsv")
    dataset = read_quietly(path, labels=["red", "blue"])
    assert dataset.label_names == ("red", "blue")
    assert dataset.Y.toarray().tolist() == [[1, 0], [0, 1]]
    assert dataset.X.tolist() == [[0.5], [2.0]]


def test_categories_beyond_the_first_block_are_found(tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{'early' if i < 2000 else 'late'},t{i % 3}\n" for i in range(2500))
    dataset = read_csv(write(tmp_path, "size,when,tags\n" + rows))
    assert dataset.n_samples == 2500
    assert dataset.feature_names == ("size", "when=early", "when=late")
    assert dataset.X[:, 1].sum() == 2000
    assert dataset.X[:, 2].sum() == 500


def test_the_first_value_decides_what_a_column_is_however_late_it_comes(tmp_path: Path) -> None:
    rows = "".join(
        f"{i % 9},{i if i >= 1000 else ''},{'red' if i == 2100 else 'NA'},{'yes' * (i > 1500)},,a\n"
        for i in range(2200)
    )
    dataset = read_csv(write(tmp_path, "size,number,word,truth,empty,tags\n" + rows))
    assert dataset.feature_names == ("size", "number", "word=red", "truth=yes")
    _, number, word, truth = dataset.X.T
    assert np.array_equal(np.isnan(number), np.arange(2200) < 1000)
    assert number[1000:].tolist() == list(range(1000, 2200))
    assert np.flatnonzero(word).tolist() == [2100]
    assert np.array_equal(truth == 1, np.arange(2200) > 1500)
    assert "column 'empty' was dropped: it holds no value" in dataset.provenance.notes


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {}, "line 1: cannot tell which columns are labels"),
        ("a,a,tags\n1,2,x\n", {}, "line 1: column 'a' occurs 2 times"),
        ("a,tags\n", {}, "line 2: the table has a header but no rows"),
        ("a,tags\n1\n", {}, "line 2: 1 cells for 2 columns"),
        ("a,tags\n1,x\n2,x,y\n", {}, "line 3: 3 cells for 2 columns"),
        ('a,tags\n1,"x\n', {}, "line 2: not a row of cells"),
        ("a,tags\n1,\n", {}, "line 1: column 'tags' holds no tag in any row"),
        ("tags\tb\nx\t\n", {}, "line 1: no column can serve as a feature"),
        ("a,b\n1,2\n", {"labels": ["b"]}, "line 2: '2' in label column 'b' is neither 0 nor 1"),
        ("a,b\n1,1\n", {"labels": ["c"]}, "line 1: there is no column 'c'"),
    ],
)
def test_a_bad_table_is_named_by_its_line(
    text: str, options: dict, message: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError) as caught:
        read_csv(write(tmp_path, text), options=TableOptions(**options))
    assert message in str(caught.value)


def test_texts_go_through_a_vectoriser(tmp_path: Path) -> None:
    path = write(tmp_path, "good good film\t0,2\tid1\nbad film\t1\tid2\n", "texts.tsv")
    names = write(tmp_path, "joy\nanger\nfilm\n", "labels.txt")
    assert sniff_format(path) == "text"
    from sklearn.feature_extraction.text import CountVectorizer

    dataset = read_quietly(path, labels=names, vectorizer=CountVectorizer())
    assert dataset.feature_names == ("bad", "film", "good")
    assert dataset.X.toarray().tolist() == [[0, 1, 2], [1, 1, 0]]
    assert dataset.Y.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    with pytest.raises(DatasetError, match="pass labels="):
        read_dataset(path)


def test_the_words_of_goemotions_come_from_its_training_part(benchmark_data: Path) -> None:
    dataset = load_dataset("goemotions", data_home=benchmark_data)
    train = dataset.X[dataset.split.train]
    assert (np.asarray((train > 0).sum(axis=0)).ravel() >= 2).all()
    assert dataset.split.validation.size == 5426


@pytest.mark.parametrize(
    ("yes", "blank"),
    [("yes", ""), ("1", ""), ("yes", "none"), ("True", "-"), ("1.0", ""), ("1.", "nan")],
)
def test_a_column_of_yes_or_nothing_tells_the_two_apart(tmp_path, yes, blank):
    path = tmp_path / "flags.csv"
    lines = [f"{yes if row % 2 else blank},{row},{row % 2}" for row in range(40)]
    path.write_text("\n".join(["member,x,gold", *lines]) + "\n")
    data = read_dataset(path, labels=["gold"])
    member = np.asarray(data.X[:, [0]]).ravel()
    assert data.feature_names[0] == f"member={yes}"
    assert np.array_equal(member, np.arange(40) % 2)


def test_a_flag_that_is_spelt_in_two_ways_is_one_feature(tmp_path):
    cells = ["1", "1.0", "", "true", "True", "yes"]
    rows = [f"{cells[row % 3]},{cells[3 + row % 3]},{row % 2}" for row in range(6)]
    path = write(tmp_path, "\n".join(["member,kind,gold", *rows]) + "\n")
    data = read_quietly(path, labels=["gold"], categorical=["kind"])
    assert data.feature_names == ("member=1", "kind=true", "kind=yes")
    assert data.X.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]] * 2


@pytest.mark.parametrize(
    ("header", "row", "names"),
    [
        ('"Size, cm";"Weight, kg";happy', "1;2;0", ["Size, cm", "Weight, kg"]),
        (
            "size;width, or, so;happy, sad;happy",
            "1,5;2,5;2;0",
            ["size", "width, or, so", "happy, sad"],
        ),
        ("a,b;c,happy", "1,2,0", ["a", "b;c"]),
    ],
)
def test_the_delimiter_is_what_parts_header_and_rows_alike(tmp_path, header, row, names):
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n{row}\n{row[:-1]}1\n")
    data = read_dataset(path, labels=["happy"], categorical=names)
    assert [name.rpartition("=")[0] for name in data.feature_names] == names


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_blank_line_of_a_single_column_is_a_row_without_a_value(tmp_path, end):
    path = write(tmp_path, "tags\na\n\n\nb\n" + end)
    with open_table(path, "csv") as table:
        cells = [cell for block in table.blocks for cell in block.columns[0]]
    assert cells == ["a", "", "", "b"]
    several = write(tmp_path, "x,tags\n1,a\n\n2,b\n", "several.csv")
    assert read_quietly(several).Y.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("options", [{"labels": ()}, {"tags": ""}])
def test_labels_have_to_be_named(tmp_path, options):
    path = write(tmp_path, "x,a\n1,0\n2,1\n")
    with pytest.raises(DatasetError, match=r"no label column was named|there is no column ''"):
        read_csv(path, options=TableOptions(**options))


def test_columns_are_called_as_the_file_writes_them(tmp_path):
    apart = unicodedata.normalize("NFD", "größe")
    assert apart != "größe"
    path = write(tmp_path, f"x,{apart}\n1.5,0\n2.5,1\n")
    assert read_csv(path, options=TableOptions(labels=(apart,))).label_names == (apart,)


def test_lines_that_end_with_a_carriage_return_alone_are_named(tmp_path):
    (tmp_path / "mine.csv").write_bytes(b"x,tags\r1,a\r2,b\r")
    with pytest.raises(DatasetError, match="carriage return alone; save the file"):
        read_csv(tmp_path / "mine.csv")
