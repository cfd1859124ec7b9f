"""Cells of a table, block by block, from CSV and Parquet alike."""

import gzip

import pytest

from protolabel.datasets.readers.tag_column import LIST_SEPARATOR
from protolabel.exceptions import DatasetError
from protolabel.workflows.table_file import open_table


def cells(path, kind="csv", **options):
    with open_table(path, kind, **options) as table:
        blocks = list(table.blocks)
    rows = [row for block in blocks for row in zip(*block.columns, strict=True)]
    numbers = [number for block in blocks for number in block.line_numbers]
    return table.header, rows, numbers


def test_quotes_blank_lines_and_the_delimiter_are_understood(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('name; text\n1;"a;b"\n\n2;"two\nlines"\n')
    header, rows, numbers = cells(path)
    assert header == ("name", "text")
    assert rows == [("1", "a;b"), ("2", "two\nlines")]
    assert numbers == [2, 5]


def test_a_compressed_file_in_another_encoding_is_read(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("grün,b\nä,1\n".encode("latin-1")))
    assert cells(path, encoding="latin-1")[1] == [("ä", "1")]
    with pytest.raises(DatasetError, match="not valid utf-8"):
        cells(path)


def test_many_rows_come_in_blocks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{n},x\n" for n in range(2500)))
    with open_table(path, "csv") as table:
        sizes = [len(block.line_numbers) for block in table.blocks]
    assert sizes == [1000, 1000, 500]
    assert cells(path)[2] == list(range(2, 2502))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected the names of the columns"),
        ("a,a\n1,2\n", "line 1: column 'a' occurs more than once"),
        ("a,b\n1,2\n3\n", "line 3: 1 cells for 2 columns"),
        ('a,b\n1,"2\n', "check its quotes"),
    ],
)
def test_a_damaged_table_is_refused_with_the_line(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=message):
        cells(path)


def test_parquet_gives_the_same_cells(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    table = {"n": [1.5, None], "yes": [True, False], "tags": [["a", "b"], []]}
    pq.write_table(pa.table(table), path)
    header, rows, _ = cells(path, "parquet")
    assert header == ("n", "yes", "tags")
    assert rows == [("1.5", "true", f"a{LIST_SEPARATOR}b"), ("", "false", "")]
    with open_table(path, "parquet") as opened:
        assert opened.list_columns == {"tags"}
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DatasetError, match="is not a whole Parquet file"):
        cells(path, "parquet")


def test_the_index_of_pandas_is_known_by_its_metadata_or_name(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    table = pa.table({"n": [1.5], "song": ["a"], "__index_level_1__": [7]})
    pq.write_table(table.replace_schema_metadata({"pandas": '{"index_columns": ["song"]}'}), path)
    with open_table(path, "parquet") as opened:
        assert opened.index_columns == {"song", "__index_level_1__"}
        assert opened.columns() == ("n",)
    for odd in ("{", "[1]", '{"index_columns": {"song": 1}}', '{"index_columns": [{}, "other"]}'):
        pq.write_table(table.replace_schema_metadata({"pandas": odd}), path)
        with open_table(path, "parquet") as opened:
            assert opened.index_columns == {"__index_level_1__"}
