"""ARFF by hand-made files: each rule of the format, and each way to be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from protolabel.datasets import read_dataset, read_meka, read_mulan, sniff_format
from protolabel.datasets.readers import arff_sparse
from protolabel.exceptions import DatasetError


def write(folder: Path, text: str, name: str = "file.arff") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


HEAD = "@relation t\n@attribute x numeric\n@attribute y {0,1}\n@attribute a {0,1}\n@data\n"


def test_labels_are_matched_by_name_not_by_place(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute b {0,1}\n@attribute x numeric\n@attribute a {0,1}\n"
        "@data\n1,0.5,0\n"
    )
    xml = write(tmp_path, '<labels><label name="a"/><label name="b"/></labels>', "file.xml")
    dataset = read_mulan(write(tmp_path, text), xml)
    assert dataset.label_names == ("b", "a")
    assert dataset.Y.toarray().tolist() == [[1, 0]]
    assert dataset.feature_names == ("x",)


def test_nested_labels_of_a_hierarchy_all_count(tmp_path: Path) -> None:
    xml = write(
        tmp_path,
        '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="a"><label name="y"/>'
        "</label></labels>",
        "file.xml",
    )
    assert read_mulan(write(tmp_path, HEAD + "1,0,1\n"), xml).label_names == ("y", "a")


def test_quotes_escapes_comments_and_carriage_returns_are_understood(tmp_path: Path) -> None:
    text = (
        "% a comment\r\n@RELATION 'my data'\r\n\r\n@Attribute 'it\\'s {x}, 100%' REAL\r\n"
        '@attribute "two\\tparts" integer\r\n@attribute plain\\\'quote{0,1}\r\n'
        "@attribute 'ü' {1, 0}\r\n@DATA\r\n% another\r\n 1.5 , -2 ,1, 0 \r\n\r\n?,3,0,1\r\n"
    )
    dataset = read_mulan(write(tmp_path, text), ["plain'quote", "ü"])
    assert dataset.feature_names == ("it's {x}, 100%", "two\tparts")
    assert dataset.Y.toarray().tolist() == [[1, 0], [0, 1]]
    np.testing.assert_array_equal(dataset.X, [[1.5, -2.0], [np.nan, 3.0]])


def test_nominal_words_become_columns_and_say_so(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute k {red,'light blue',green}\n@attribute s string\n"
        "@attribute flag {NO,YES}\n@attribute a {0,1}\n@data\n"
        "'light blue','x, y',YES,1\nred,z,NO,0\n?,z,NO,0\n"
    )
    dataset = read_mulan(write(tmp_path, text), ["a"])
    assert dataset.feature_names == ("k=red", "k=light blue", "k=green", "flag")
    assert dataset.X.tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert dataset.provenance.notes == (
        "column 'k' was encoded as 3 columns of 0 and 1",
        "column 's' was dropped: it holds text or dates",
        "encoded as 1 for yes and 0 for no: flag",
    )


def test_a_sparse_row_leaves_out_the_first_nominal_value(tmp_path: Path) -> None:
    text = (
        "@relation t\n@attribute x numeric\n@attribute n {5,0,7}\n@attribute k {red,blue,green}\n"
        "@attribute a {1,0}\n@data\n{}\n{0 2,1 0,2 green,3 0}\n{1 7}\n"
    )
    dataset = read_mulan(write(tmp_path, text), ["a"])
    assert sparse.issparse(dataset.X)
    assert dataset.feature_names == ("x", "n", "k=red", "k=blue", "k=green")
    assert dataset.X.toarray().tolist() == [[0, 5, 1, 0, 0], [2, 0, 0, 0, 1], [0, 7, 1, 0, 0]]
    assert dataset.Y.toarray().tolist() == [[1], [0], [1]]


def test_left_out_values_cannot_be_used_to_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arff_sparse, "_MAX_FREE_FILL", 100)
    attributes = "".join(f"@attribute x{i} {{1,0}}\n" for i in range(200))
    text = f"@relation t\n{attributes}@attribute a {{0,1}}\n@data\n" + "{}\n" * 50
    with pytest.raises(DatasetError, match=r"line 253: rows leave out \d+ values"):
        read_mulan(write(tmp_path, text), ["a"])


def test_both_ways_to_parse_sparse_rows_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(300, 40, density=0.2, random_state=1, format="csr")
    X.data = rng.integers(1, 9, size=X.nnz).astype(float)
    attributes = "".join(f"@attribute x{i} numeric\n" for i in range(40))
    head = f"@relation t\n{attributes}@attribute a {{0,1}}\n@data\n"
    rows = [
        ",".join(f"{j} {int(v)}" for j, v in zip(row.indices, row.data, strict=True)) for row in X
    ]
    quick = head + "".join(f"{{{row}}}\n" for row in rows)
    careful = head + "".join(f"{{ {row.replace(',', ' , ')} }}\n" for row in rows)
    windows = quick.replace("\n", "\r\n")
    for text in (quick, careful, windows, quick.rstrip("\n"), quick + "\n\n"):
        dataset = read_mulan(write(tmp_path, text), ["a"])
        np.testing.assert_array_equal(dataset.X.toarray(), X.toarray())


@pytest.mark.parametrize(
    "rows", [["{0 1}", "{ 1}", "{1 2,2}"], ["{0 1}", "{1 ,7}"], ["{0 1}", "{1 2,3}", "{4}", "{ }"]]
)
def test_sparse_rows_that_make_up_for_each_other_are_refused(
    rows: list[str], tmp_path: Path
) -> None:
    attributes = "".join(f"@attribute x{i} numeric\n" for i in range(8))
    head = f"@relation t\n{attributes}@attribute a {{0,1}}\n@data\n"
    with pytest.raises(DatasetError, match=r"line 1[34]: "):
        read_mulan(write(tmp_path, head + "\n".join([rows[0], *rows]) + "\n"), ["a"])


@pytest.mark.parametrize(
    ("count", "labels"), [("2", ("x", "y")), ("-1", ("a",)), ("-2", ("y", "a"))]
)
def test_meka_takes_first_or_last_attributes(
    count: str, labels: tuple[str, ...], tmp_path: Path
) -> None:
    text = HEAD.replace("@relation t", f"@relation 'name: -C {count} -split-number 2'")
    path = write(tmp_path, text + "1,0,1\n0,1,1\n0,0,0\n")
    assert sniff_format(path) == "meka"
    dataset = read_meka(path)
    assert dataset.label_names == labels
    assert dataset.split.train.tolist() == [0, 1]
    assert dataset.split.test.tolist() == [2]
    assert read_dataset(path).label_names == labels


@pytest.mark.parametrize("count", ["0", "4", "-4"])
def test_meka_refuses_an_impossible_number_of_labels(count: str, tmp_path: Path) -> None:
    text = HEAD.replace("@relation t", f"@relation 'name: -C {count}'")
    with pytest.raises(DatasetError, match=rf"line 5: the relation asks for -C {count}"):
        read_meka(write(tmp_path, text + "1,0,1\n"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,0\n", r"line 6: 2 values for 3 attributes"),
        ("1,0,1,\n", r"line 6: 4 values for 3 attributes"),
        ("1,0,1\n1,0,2\n", r"line 7: attribute 'a' is 2; expected 0 or 1, for it is a label"),
        ("1,7,1\n", r"line 6: attribute 'y' is 7; expected one of \{0, 1\}"),
        ("1,0,?\n", r"line 6: attribute 'a' is nan; expected 0 or 1, for it is a label"),
        ("abc,0,1\n", r"line 6: attribute 'x': 'abc' is not a number"),
        ("1_0,0,1\n", r"line 6: attribute 'x': '1_0' is not a number"),
        ("nan,0,1\n", r"line 6: attribute 'x': 'nan' is not a number"),
        ("1e999,0,1\n", r"line 6: attribute 'x' is inf; expected a finite number"),
        ("1,'0,1\n", r"line 6: not a list of values"),
        ("{0 1,2 1}\n1,0,1\n", r"line 7: expected a sparse row"),
        ("1,0,1\n{0 1}\n", r"line 7: 1 values for 3 attributes"),
        ("{0 1,0 2}\n", r"line 6: attribute number 0 occurs twice"),
        ("{0 1\n", r"line 6: expected a sparse row"),
        ("{}\n{5 1}\n", r"line 7: attribute number 5 does not exist; the file declares 3"),
        ("{99999999999999999999 1}\n", r"line 6: attribute number \d+ does not exist"),
        ("{-1 1}\n", r"line 6: attribute number -1 does not exist"),
        ("{0 1 2,1}\n", r"line 6: attribute 'x': '1 2' is not a number"),
        ("{0 'x}\n", r"line 6: check the quotes"),
        ("{2 2}\n", r"line 6: attribute 'a' is 2"),
    ],
)
def test_a_bad_row_is_named_by_its_line(rows: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=message):
        read_mulan(write(tmp_path, HEAD + rows), ["a"])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "line 1: the file ends before @data"),
        ("@relation t\n@data\n", "line 2: @data comes before any @attribute"),
        ("@relation t\nhello\n", "line 2: expected @relation, @attribute or @data"),
        ("@attribute x\n", "line 1: attribute 'x' has type ''"),
        ("@attribute\n", "line 1: expected a name and a type"),
        ("@attribute x relational\n", "line 1: attribute 'x' has type 'relational'"),
        ("@attribute x {a,b\n", "line 1: the values of attribute 'x' are not a list"),
        (
            "@attribute x numeric\n@attribute x numeric\n",
            "line 2: attribute 'x' was declared on line 1 already",
        ),
        ("@attribute x numeric\n@data\n", "line 2: label 'a' is asked for but is none of the 1"),
        ("@attribute a {p,q}\n@data\n", "line 1: label 'a' has the values {p, q}"),
    ],
)
def test_a_bad_header_is_named_by_its_line(header: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        read_mulan(write(tmp_path, header), ["a"])
    assert message in str(caught.value)


def test_a_file_without_rows_is_an_empty_dataset(tmp_path: Path) -> None:
    dataset = read_mulan(write(tmp_path, HEAD), ["a"])
    assert dataset.X.shape == (0, 2)
    assert dataset.summary().cardinality == 0.0


def test_without_any_label_list_the_error_says_what_to_pass(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no file.xml beside it .* pass labels="):
        read_dataset(write(tmp_path, HEAD + "1,0,1\n"))


def test_another_encoding_has_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "file.arff"
    path.write_bytes(HEAD.replace("x numeric", "é numeric").encode("latin-1") + b"1,0,1\n")
    with pytest.raises(DatasetError, match=r"line 2: byte 0xe9 at position 11 is not valid utf-8"):
        read_mulan(path, ["a"])
    assert read_mulan(path, ["a"], encoding="latin-1").feature_names == ("é", "y")
