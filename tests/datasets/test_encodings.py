"""Text files in other encodings than UTF-8."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from protolabel.datasets import read_csv, read_dataset, sniff_format
from protolabel.datasets.lines import iter_lines
from protolabel.exceptions import DatasetError

WIDE = ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-be"]
TABLE = "größe,tags\r\n1,süß\r\n2,süß;\u010a\u0a0d\r\n"


@pytest.mark.parametrize("encoding", [*WIDE, "cp037", "utf-8-sig"])
def test_a_file_in_a_wide_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    text = TABLE if encoding != "cp037" else TABLE.replace("\u010a\u0a0d", "é")
    path = tmp_path / "mine.csv"
    path.write_bytes(text.encode(encoding))
    data = read_dataset(path, encoding=encoding)
    assert data.feature_names == ("größe",)
    assert data.label_names[0] == "süß"
    assert data.X.ravel().tolist() == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_says_the_encoding(tmp_path: Path, encoding: str, pack) -> None:
    path = tmp_path / "mine"
    path.write_bytes(pack(TABLE.encode(encoding)))
    assert sniff_format(path) == "csv"
    assert list(iter_lines(path)) == TABLE.splitlines()


def test_a_mark_of_the_other_order_is_understood(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_bytes(b"\xfe\xff" + TABLE.encode("utf-16-be"))
    assert list(iter_lines(path)) == TABLE.splitlines()


def test_wide_files_of_many_blocks_keep_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "mine.arff"
    rows = [f"{row}.5,{row % 2}" for row in range(60_000)]
    lines = ["@relation 'ä: -C -1'", "@attribute x numeric", "@attribute ö {0,1}", "@data", *rows]
    path.write_bytes("\n".join(lines).encode("utf-16"))
    data = read_dataset(path)
    assert data.label_names == ("ö",)
    assert np.array_equal(data.X.ravel(), np.arange(60_000) + 0.5)


@pytest.mark.parametrize(
    "content", [TABLE.encode("utf-16")[:-1], "ab\n".encode("utf-16") + b"\0\xd8"]
)
def test_a_damaged_wide_file_is_named_by_its_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"line \d: the text is damaged or in another encoding"):
        list(iter_lines(path))


def test_an_unknown_encoding_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("x,tags\n1,a\n")
    with pytest.raises(ValueError, match="The encoding 'windows1252' is unknown"):
        read_csv(path, encoding="windows1252")
