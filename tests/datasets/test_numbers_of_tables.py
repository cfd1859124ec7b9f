"""What is a number in a table, how it is written, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from datasets.table_files import numbered, read_quietly, write
from protolabel.datasets import (
    DatasetWarning,
    TableOptions,
    read_csv,
    read_dataset,
)
from protolabel.exceptions import DatasetError


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


@pytest.mark.parametrize("cell", ["#N/A", "<NA>", "."])
def test_words_of_other_programs_for_no_value_leave_numbers_numbers(
    tmp_path: Path, cell: str
) -> None:
    path = write(tmp_path, numbered(list(range(30)), row=7, cell=cell))
    data = read_quietly(path, labels=["dear"])
    assert data.feature_names == ("price",)
    assert data.X.shape == (30, 1)


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


def test_a_word_among_numbers_is_named_with_the_remedy(tmp_path: Path) -> None:
    rows = "1,x\n" * 1000 + "oops,x\n"
    path = write(tmp_path, "size,tags\n" + rows)
    with pytest.raises(DatasetError, match=r"line 1002: 'oops' in column 'size' is not a number"):
        read_csv(path)
    dataset = read_csv(path, options=TableOptions(categorical=["size"]))
    assert dataset.feature_names == ("size=1", "size=oops")


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


def test_numbers_with_leading_zeros_are_told_of(tmp_path):
    path = write(tmp_path, "size,place,tags\n0,01234,a\n0.5,00107,b\n100,9999,a\n")
    notes = read_quietly(path).provenance.notes
    assert [note for note in notes if "categorical" in note] == [
        "column 'place' was read as numbers, '01234' among them; if they are codes, name it as "
        "categorical or drop it (categorical=, drop=; --categorical, --drop)"
    ]
