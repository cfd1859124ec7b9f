"""A user's own table in a Parquet file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from datasets.table_files import read_quietly
from protolabel.datasets import (
    read_parquet,
    sniff_format,
)
from protolabel.exceptions import DatasetError


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


def test_a_tag_that_is_missing_in_a_list_is_none(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    tags = [["a", None], ["b"], [None], None]
    pq.write_table(pa.table({"x": [1.5, 2.0, 3.0, 4.5], "tags": tags}), tmp_path / "x.parquet")
    dataset = read_quietly(tmp_path / "x.parquet")
    assert dataset.label_names == ("a", "b")
    assert dataset.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]
    codes = pa.table({"x": [1.5, 2.0], "tags": [[1.0, float("nan")], [2.0]]})
    pq.write_table(codes, tmp_path / "y.parquet")
    assert read_quietly(tmp_path / "y.parquet").label_names == ("1.0", "2.0")
