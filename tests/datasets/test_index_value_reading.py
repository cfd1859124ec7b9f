"""Extreme-classification text and LIBSVM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from protolabel.datasets import (
    DatasetWarning,
    load_dataset,
    read_dataset,
    read_libsvm,
    read_xmlc,
    sniff_format,
)
from protolabel.exceptions import DatasetError


def write(folder: Path, text: str) -> Path:
    path = folder / "file.txt"
    path.write_text(text)
    return path


def test_with_a_header_every_line_is_a_row_and_counts_start_at_zero(tmp_path: Path) -> None:
    path = write(tmp_path, "4 3 2\n0,1 0:0.5 2:-1e-3\n1 1:2\n\n 2:7\n")
    assert sniff_format(path) == "xmlc"
    dataset = read_xmlc(path)
    assert dataset.X.toarray().tolist() == [[0.5, 0, -1e-3], [0, 2, 0], [0, 0, 0], [0, 0, 7]]
    assert dataset.Y.toarray().tolist() == [[1, 1], [0, 1], [0, 0], [0, 0]]
    assert dataset.label_names[1] == "label1"


def test_without_a_header_features_count_from_one_unless_zero_occurs(tmp_path: Path) -> None:
    with pytest.warns(DatasetWarning, match="counted from 1"):
        from_one = read_dataset(write(tmp_path, "0 1:5\n\n2 3:6\n"))
    assert from_one.X.toarray().tolist() == [[5, 0, 0], [0, 0, 6]]
    assert from_one.Y.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    from_zero = read_xmlc(write(tmp_path, "0 0:5\n2 3:6\n"))
    assert from_zero.X.toarray().tolist() == [[5, 0, 0, 0], [0, 0, 0, 6]]
    assert from_zero.provenance.notes == ("features are taken to be counted from 0",)


def test_the_number_of_columns_may_be_given(tmp_path: Path) -> None:
    path = write(tmp_path, "0 1:5\n")
    assert read_xmlc(path, n_features=4, n_labels=3).Y.shape == (1, 3)
    assert read_libsvm(path, n_features=4, n_labels=3).X.shape == (1, 4)
    with pytest.raises(DatasetError, match="line 1: feature 9 is outside 0 to 4"):
        read_xmlc(write(tmp_path, "0 9:5\n"), n_features=4)


def test_libsvm_skips_comments(tmp_path: Path) -> None:
    path = write(tmp_path, "# head\n0,2 1:0.5 # tail\n\n1 2:3\n")
    assert sniff_format(path) == "libsvm"
    dataset = read_dataset(path)
    assert dataset.X.toarray().tolist() == [[0.5, 0], [0, 3]]
    assert dataset.Y.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file is empty"),
        ("2 3 2\n0 0:1\n", "line 2: the file ends after 1 of 2 declared rows"),
        ("1 3 2\n0 0:1\n1 1:1\n", "line 3: more rows than the 1 that line 1 declares"),
        ("1 3 2\n0 3:1\n", "line 2: feature 3 is outside 0 to 2"),
        ("1 3 2\n2 0:1\n", "line 2: label 2 is outside 0 to 1"),
        ("1 3 2\n0 0:1 0:2\n", "line 2: feature 0 occurs twice"),
        ("1 3 2\n0,0 0:1\n", "line 2: label 0 occurs twice"),
        ("1 3 2\n0 0:1:2 3\n", "line 2: expected features like 12:0.5, received '0:1:2'"),
        ("1 3 2\n0 0:x\n", "line 2: expected features like 12:0.5, received '0:x'"),
        ("1 3 2\n0 0:1e999\n", "line 2: a feature is too large"),
        ("1 3 2\nred 0:1\n", "line 2: expected labels like 3,17"),
        ("1 999999999999 2\n0 0:1\n", "line 1: declares 999999999999 features"),
        ("0 99999999999999999999:1\n", "line 1: feature 99999999999999999999 is outside"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        read_xmlc(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_large_declared_width_costs_no_memory(tmp_path: Path) -> None:
    dataset = read_xmlc(write(tmp_path, "1 40000000 40000000\n39999999 39999999:1\n"))
    assert dataset.X.shape == (1, 40_000_000)
    assert dataset.feature_names[39_999_999] == "x39999999"


def test_the_napkinxc_copy_of_yeast_has_the_same_rows(benchmark_data: Path) -> None:
    yeast = load_dataset("yeast")
    folder = benchmark_data / "yeast"
    parts = [
        read_dataset(
            folder / f"yeast_{part}.xmlc.txt.gz", feature_base=1, n_features=103, n_labels=14
        )
        for part in ("test", "train")
    ]
    assert [part.n_samples for part in parts] == [917, 1500]
    rows = np.vstack([np.hstack([part.X.toarray(), part.Y.toarray()]) for part in parts])
    expected = np.hstack([yeast.X, yeast.Y.toarray()])
    np.testing.assert_array_equal(rows[np.lexsort(rows.T)], expected[np.lexsort(expected.T)])
