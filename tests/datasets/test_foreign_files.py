"""Files that hold no rows, or that other programs write: named for what they are."""

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from protolabel.datasets import read_dataset, sniff_format
from protolabel.exceptions import DatasetError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; give"),
        (b" \n\n", "holds nothing but blank lines"),
        (b"ARROW1\0\0rest", "is a Feather or Arrow file; write it as CSV or Parquet"),
        (pickle.dumps({"a": 1}), "is a pickle file, which is never read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is an Excel or other Office file; save its sheet as CSV"),
        (b"\x89HDF\r\n", "is an HDF5 file"),
        (b'{"size": 1, "tags": "a"}\n', "is a JSON file; write it as CSV or Parquet"),
        (b'[\n {"size": 1}]', "is a JSON file"),
        (b"BZh91AY", "is compressed by bzip2; unpack it"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        sniff_format(path)


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ("[Content_Types].xml", "is an Excel or other Office file; save its sheet as CSV"),
        ("mine.csv", "is a ZIP archive of 1 files; unpack it and give the file inside"),
    ],
)
def test_an_archive_is_named_for_what_is_in_it(tmp_path: Path, member: str, message: str) -> None:
    path = tmp_path / "mine"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "x,tags\n1,a\n")
    with pytest.raises(DatasetError, match=message):
        sniff_format(path)


def test_an_archive_of_arrays_is_still_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", X=np.eye(2))
    assert sniff_format(tmp_path / "mine.npz") == "npz"


def test_a_table_of_one_column_is_known_by_its_name(tmp_path: Path) -> None:
    for name in ("mine.csv", "MINE.TSV"):
        (tmp_path / name).write_text("size\n1\n2\n")
        assert sniff_format(tmp_path / name) == "csv"
    (tmp_path / "mine").write_text("size\n1\n2\n")
    with pytest.raises(DatasetError, match="none of the formats"):
        sniff_format(tmp_path / "mine")


def test_a_file_may_name_the_label_columns(tmp_path: Path) -> None:
    path, names = tmp_path / "mine.csv", tmp_path / "names.txt"
    path.write_text("size,calm,happy\n1,0,1\n2,1,1\n")
    names.write_text("calm\nhappy\n")
    assert read_dataset(path, labels=names).label_names == ("calm", "happy")
    with pytest.raises(ValueError, match="pass a list of column names, or a file"):
        read_dataset(path, labels="calm")
