"""A user's own CSV, TSV or Parquet table, and raw text."""

from __future__ import annotations

import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest

from protolabel.datasets import (
    DatasetWarning,
    MultiLabelDataset,
    TableOptions,
    load_dataset,
    read_csv,
    read_dataset,
    read_parquet,
    read_text,
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


def write(folder: Path, text: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read_quietly(*args: object, **kwargs: object) -> MultiLabelDataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DatasetWarning)
        return read_dataset(*args, **kwargs)


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


def numbered(cells: list[str], *, row: int, cell: str) -> str:
    rows = [f"{value},{value % 2}" for value in cells]
    rows[row] = f"{cell},1"
    return "price,dear\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("row", [0, 7, 29])
@pytest.mark.parametrize("cell", ["12 EUR", "#VALUE!", "oops"])
def test_a_cell_among_numbers_that_is_none_is_refused_wherever_it_stands(
    tmp_path: Path, row: int, cell: str
) -> None:
    path = write(tmp_path, numbered(list(range(30)), row=row, cell=cell))
    with pytest.raises(DatasetError, match=rf"line {row + 2}: '{cell}'.* not a number, and 29"):
        read_dataset(path, labels=["dear"])
    asked = read_quietly(path, labels=["dear"], categorical=["price"])
    assert f"price={cell}" in asked.feature_names


def test_marks_of_thousands_beside_decimal_commas_are_refused(tmp_path: Path) -> None:
    for sales in ("2.574", "1.000"):
        path = write(tmp_path, f"sales;y;dear\n{sales};42,20;1\n299;61,46;0\n")
        with pytest.raises(DatasetError, match=r"points in column 'sales' may be marks of thous"):
            read_dataset(path, labels=["dear"])
    for sales in ("0.574", "2.5", "1e3"):
        path = write(tmp_path, f"sales;y;dear\n{sales};42,20;1\n299;61,46;0\n")
        assert read_quietly(path, labels=["dear"]).X[0].tolist() == [float(sales), 42.2]
    path = write(tmp_path, "sales;y;dear\n2.574;42.20;1\n299;61.46;0\n")
    assert read_quietly(path, labels=["dear"]).X[0].tolist() == [2.574, 42.2]


def test_a_few_numbers_beside_words_are_codes(tmp_path: Path) -> None:
    path = write(tmp_path, numbered([k % 6 for k in range(60)], row=7, cell="other"))
    assert "price=other" in read_quietly(path, labels=["dear"]).feature_names


@pytest.mark.parametrize("cell", ["#N/A", "<NA>", "."])
def test_words_of_other_programs_for_no_value_leave_numbers_numbers(
    tmp_path: Path, cell: str
) -> None:
    path = write(tmp_path, numbered(list(range(30)), row=7, cell=cell))
    data = read_quietly(path, labels=["dear"])
    assert data.feature_names == ("price",)
    assert data.X.shape == (30, 1)


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


LISTS = {
    "python": ["['calm', 'happy; very']", "[]", '["it\'s"]', "['calm']"],
    "json": ['["calm","happy; very"]', "[]", '["it\'s"]', '["calm"]'],
    "numpy": ["['calm' 'happy; very']", "[]", '["it\'s"]', "[np.str_('calm')]"],
    "sets": ["{'happy; very', 'calm'}", "set()", '{"it\'s"}', "{'calm'}"],
    "tuples": ["('calm', 'happy; very')", "()", '("it\'s",)', "('calm',)"],
    "escaped": [r'["c\u0061lm", "happy; very"]', "nan", r"['it\'s']", r"['\x63alm', None]"],
}


@pytest.mark.parametrize("cells", LISTS.values(), ids=LISTS)
def test_cells_with_the_text_of_a_list_are_lists(tmp_path: Path, cells: list[str]) -> None:
    path = write(tmp_path, "size\ttags\n" + "".join(f"1.5\t{quoted(cell)}\n" for cell in cells))
    dataset = read_quietly(path)
    assert dataset.label_names == ("calm", "happy; very", "it's")
    assert dataset.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert "the cells of the tags were read as lists" in dataset.provenance.notes


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


def test_bare_words_and_numbers_in_brackets_are_lists_too(tmp_path: Path) -> None:
    assert read_quietly(
        write(tmp_path, 'x,tags\n1,"[calm, very happy]"\n2,[calm]\n')
    ).label_names == (
        "calm",
        "very happy",
    )
    assert read_quietly(write(tmp_path, 'x,tags\n1,"[3, 17]"\n2,[17]\n')).label_names == ("17", "3")


@pytest.mark.parametrize(
    "other", ["calm", "[['a']]", "[a;b]", '[{"a": 1}]', "['a", "[__import__('os')]", r"['\ud800']"]
)
def test_a_column_with_another_cell_holds_no_lists(tmp_path: Path, other: str) -> None:
    path = write(tmp_path, f"x\ttags\n1\t['a']\n2\t{quoted(other)}\n")
    assert "['a']" in read_quietly(path).label_names
    path = write(tmp_path, "x\ttags\n" + "1\t['a']\n" * 1000 + f"2\t{quoted(other)}\n")
    with pytest.raises(DatasetError, match=r"line 1002: .* is no list such as"):
        read_quietly(path)


def test_words_for_no_value_are_no_tags(tmp_path: Path) -> None:
    dataset = read_quietly(write(tmp_path, "x,tags\n1,a;b\n2,NA\n3,nan\n4,NA\n5,\n"))
    assert dataset.label_names == ("a", "b")
    assert dataset.Y.toarray().tolist() == [[1, 1], *[[0, 0]] * 4]
    note = "'NA', 'nan', 3 times in the tags, were taken as no tag"
    assert note in dataset.provenance.notes


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


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("n_rows", [10, 2500])
def test_a_column_that_counts_the_rows_is_dropped_whatever_its_name(
    tmp_path: Path, start: int, n_rows: int
) -> None:
    rows = "".join(f"{start + i},{i % 9},{start + i}.5,{i - 1},a\n" for i in range(n_rows))
    dataset = read_quietly(write(tmp_path, "patient,size,age,shifted,tags\n" + rows))
    assert "patient" not in dataset.feature_names
    assert dataset.feature_names[:2] == ("size", "age")
    assert "column 'patient' was dropped: it numbers the rows" in dataset.provenance.notes


@pytest.mark.parametrize("counts", [range(9), [*range(1500), 7], [*range(1500), ""], range(2, 30)])
def test_other_rising_numbers_are_features(tmp_path: Path, counts) -> None:
    path = write(tmp_path, "rank,tags\n" + "".join(f"{count},a\n" for count in counts))
    assert read_quietly(path).feature_names == ("rank",)


def test_an_identifier_that_begins_late_does_not_number_the_rows(tmp_path: Path) -> None:
    rows = "".join(f"1,{i if i >= 1000 else ''},a\n" for i in range(1500))
    assert read_csv(write(tmp_path, "size,id,tags\n" + rows)).feature_names == ("size", "id")


def test_a_separator_that_first_occurs_late_is_used(tmp_path: Path) -> None:
    path = write(tmp_path, "size,tags\n" + "1,calm\n2,happy\n" * 600 + "3,calm;happy\n")
    dataset = read_csv(path)
    assert dataset.label_names == ("calm", "happy")
    assert dataset.Y[[0, 1, 1200]].toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert "tags were split at ';'" in dataset.provenance.notes


def test_a_second_separator_that_occurs_late_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    rows = '1,"A, x"\n' * 1100 + '2,"A, x|B"\n'
    path = write(tmp_path, "size,tags\n" + rows)
    with pytest.raises(DatasetError) as caught:
        read_csv(path)
    assert str(caught.value) == (
        f"{path}, line 1102: 'A, x|B' in column 'tags' holds '|', but the tags before it were "
        "split at ','; say with tag_separator what stands between tags"
    )
    dataset = read_csv(path, options=TableOptions(tag_separator="|"))
    assert dataset.label_names == ("A, x", "B")


@pytest.mark.parametrize("cell", ["inf", "-Inf", "+Infinity", "∞", "1e999", "-1e999"])
@pytest.mark.parametrize("row", [3, 1200])
def test_an_infinite_number_is_named_with_the_remedy(cell: str, row: int, tmp_path: Path) -> None:
    rows = [f"{i}.5,a\n" for i in range(1500)]
    rows[row] = f"{cell},a\n"
    path = write(tmp_path, "size,tags\n" + "".join(rows))
    with pytest.raises(DatasetError) as caught:
        read_csv(path)
    assert str(caught.value) == (
        f"{path}, line {row + 2}: {cell!r} in column 'size' is not a finite number; correct the "
        "cell, or leave it empty if the value is unknown"
    )


def test_a_word_that_spells_an_infinite_number_stays_a_word(tmp_path: Path) -> None:
    dataset = read_csv(write(tmp_path, "form,tags\ninf,a\npast,a\n"))
    assert dataset.feature_names == ("form=inf", "form=past")


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


def test_a_word_among_numbers_is_named_with_the_remedy(tmp_path: Path) -> None:
    rows = "1,x\n" * 1000 + "oops,x\n"
    path = write(tmp_path, "size,tags\n" + rows)
    with pytest.raises(DatasetError, match=r"line 1002: 'oops' in column 'size' is not a number"):
        read_csv(path)
    dataset = read_csv(path, options=TableOptions(categorical=["size"]))
    assert dataset.feature_names == ("size=1", "size=oops")


def test_parquet_reads_numbers_words_truths_and_lists(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "size": [0.5, None, 3.0],
            "count": [1, 2, 3],
            "colour": ["red", "blue", "red"],
            "ok": [True, False, True],
            "tags": [["a"], [], ["a", "b;c"]],
        }
    )
    path = tmp_path / "no-ending"
    pq.write_table(table, path)
    assert sniff_format(path) == "parquet"
    dataset = read_quietly(path)
    assert dataset.feature_names == ("size", "count", "colour=red", "colour=blue", "ok")
    np.testing.assert_array_equal(
        dataset.X, [[0.5, 1, 1, 0, 1], [np.nan, 2, 0, 1, 0], [3, 3, 1, 0, 1]]
    )
    assert dataset.label_names == ("a", "b;c")
    assert dataset.Y.toarray().tolist() == [[1, 0], [0, 0], [1, 1]]


def test_parquet_with_delimited_tags_or_label_columns(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0], "tags": ["a|b", "b"], "l": [1, 0]}), path)
    assert read_quietly(path, drop=["l"]).label_names == ("a", "b")
    by_column = read_quietly(path, labels=["l"], drop=["tags"])
    assert by_column.Y.toarray().tolist() == [[1], [0]]


def test_a_parquet_column_of_numbers_with_an_infinite_one_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    for values in ([1.5, float("inf"), None], [None, float("-inf"), float("nan")]):
        pq.write_table(pa.table({"size": values, "tags": ["a"] * 3}), path)
        with pytest.raises(DatasetError, match=r"line 2: '-?inf' in column 'size' is not "):
            read_parquet(path)


def test_the_index_of_pandas_is_no_feature(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "tags": ["a", "b", "a"]}, index=[7, 2, 9])
    frame.to_parquet(path)
    dataset = read_quietly(path)
    assert dataset.feature_names == ("size",)
    note = "column '__index_level_0__' was dropped: it is the index of the table"
    assert note in dataset.provenance.notes
    frame.rename_axis("label").to_parquet(path)
    assert read_quietly(path).feature_names == ("size",)
    asked = read_quietly(path, tags="tags", categorical=["label"])
    assert asked.feature_names == ("size", "label=7", "label=2", "label=9")


def test_parquet_dates_are_dropped_with_a_message(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import datetime

    import pyarrow.parquet as pq

    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i) for i in range(90)]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1.0] * 90, "day": days, "tags": ["a"] * 90}), path)
    dataset = read_quietly(path)
    assert dataset.feature_names == ("x",)
    assert any("column 'day' was dropped" in note for note in dataset.provenance.notes)


def test_without_pyarrow_the_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DatasetError, match=r"pip install 'protolabel\[frames\]'"):
        read_parquet(tmp_path / "any.parquet")


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


def test_a_tag_that_is_no_label_is_named_by_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a b\tjoy\nb b\t7\n", "texts.tsv")
    with pytest.raises(DatasetError, match="line 2: tag '7' is neither a label name"):
        read_text(path, ["joy"])


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


@pytest.mark.parametrize("one", ["1", "1.0"])
def test_a_column_that_begins_with_ones_and_blanks_may_go_on_with_numbers(tmp_path, one):
    rows = [f"{'' if row % 2 else one if row < 1500 else row},a\n" for row in range(2500)]
    data = read_quietly(write(tmp_path, "size,tags\n" + "".join(rows)))
    assert data.feature_names == ("size",)
    expected = [np.nan if row % 2 else 1 if row < 1500 else row for row in range(2500)]
    np.testing.assert_array_equal(data.X.ravel(), expected)


def test_codes_with_leading_zeros_are_different_words(tmp_path):
    path = write(tmp_path, "code,gold\n007,1\n7,0\n7.0,0\n")
    data = read_quietly(path, labels=["gold"], categorical=["code"])
    assert data.feature_names == ("code=007", "code=7")


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


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_numbers_may_have_a_decimal_comma(tmp_path, delimiter):
    cells = [["0,55", "-1,5e3", "7", "1,0"], ["", ",5", "8", ""], ["12", "2", "9,25", "1,0"]]
    lines = [delimiter.join([*row, "x,y"]) for row in cells]
    header = delimiter.join(["size", "width", "depth", "flag", "tags"])
    data = read_quietly(write(tmp_path, "\n".join([header, *lines]) + "\n"))
    assert data.feature_names == ("size", "width", "depth", "flag=1,0")
    np.testing.assert_array_equal(
        data.X, [[0.55, -1500, 7, 1], [np.nan, 0.5, 8, 0], [12, 2, 9.25, 1]]
    )
    assert data.label_names == ("x", "y")
    note = "the comma was read as a decimal point in: size, width, depth"
    assert note in data.provenance.notes


def test_a_decimal_comma_may_first_occur_late(tmp_path):
    rows = "".join(f"{row % 7};{row % 2}\n" for row in range(1000))
    data = read_quietly(write(tmp_path, f"size;a\n{rows}0,25;1\n"), labels=["a"])
    assert data.X[-1, 0] == 0.25


@pytest.mark.parametrize(("first", "second"), [("0,5", "1.5"), ("1.5", "0,5")])
def test_points_and_commas_in_one_column_are_refused(tmp_path, first, second):
    path = write(tmp_path, f"size;a\n{first};1\n{second};0\n")
    with pytest.raises(DatasetError, match=f"line 3: '{second}' in column 'size' has .* one way"):
        read_dataset(path, labels=["a"])


def test_marks_of_thousands_are_not_guessed(tmp_path):
    path = write(tmp_path, "size;a\n1.234,5;1\n1,234,567;0\n")
    names = read_quietly(path, labels=["a"]).feature_names
    assert names == ("size=1.234,5", "size=1,234,567")


def test_decimal_commas_between_commas_are_named(tmp_path):
    path = tmp_path / "table.csv"
    rows = [f'"{row},{row % 7}",{row % 2}' for row in range(100)]
    path.write_text("\n".join(["size,happy", *rows]) + "\n")
    with pytest.warns(DatasetWarning):
        data = read_dataset(path, labels=["happy"])
    (note,) = data.provenance.notes
    assert "more than 64 different values, numbers with a comma" in note


def test_whole_numbers_as_words_have_no_decimal_commas(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["code,happy", *(f"{row},{row % 2}" for row in range(100))]) + "\n")
    with pytest.warns(DatasetWarning, match="an identifier or free text"):
        read_dataset(path, labels=["happy"], categorical=["code"])


def test_a_column_that_begins_with_zeros_and_blanks_is_one_of_numbers(tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{'' if row % 2 else 0 if row < 1500 else row},{row % 2}" for row in range(2000)]
    path.write_text("\n".join(["size,happy", *rows]) + "\n")
    with pytest.warns(DatasetWarning, match="missing values"):
        assert read_dataset(path, labels=["happy"]).feature_names == ("size",)


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


def test_numbers_with_leading_zeros_are_told_of(tmp_path):
    path = write(tmp_path, "size,place,tags\n0,01234,a\n0.5,00107,b\n100,9999,a\n")
    notes = read_quietly(path).provenance.notes
    assert [note for note in notes if "categorical" in note] == [
        "column 'place' was read as numbers, '01234' among them; if they are codes, name it as "
        "categorical or drop it (categorical=, drop=; --categorical, --drop)"
    ]


def test_words_for_no_value_are_no_tags_among_others(tmp_path):
    dataset = read_quietly(write(tmp_path, "x\ttags\n1\ta;none\n2\tNA;b;none\n3\tnone\n"))
    assert dataset.label_names == ("a", "b")
    assert dataset.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    assert "'none', 'NA', 4 times in the tags, were taken as no tag" in dataset.provenance.notes


def test_columns_are_called_as_the_file_writes_them(tmp_path):
    apart = unicodedata.normalize("NFD", "größe")
    assert apart != "größe"
    path = write(tmp_path, f"x,{apart}\n1.5,0\n2.5,1\n")
    assert read_csv(path, options=TableOptions(labels=(apart,))).label_names == (apart,)


def test_lines_that_end_with_a_carriage_return_alone_are_named(tmp_path):
    (tmp_path / "mine.csv").write_bytes(b"x,tags\r1,a\r2,b\r")
    with pytest.raises(DatasetError, match="carriage return alone; save the file"):
        read_csv(tmp_path / "mine.csv")
