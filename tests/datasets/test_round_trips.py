"""Write, then read: the same dataset comes back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from protolabel.datasets import (
    MultiLabelDataset,
    load_dataset,
    read_dataset,
    read_mulan,
    read_npz,
    read_xmlc,
    write_mulan,
    write_npz,
    write_xmlc,
)
from protolabel.datasets.names import NumberedNames
from protolabel.exceptions import DatasetError

NAME_PIECES = st.sampled_from(
    ["@data", "\\n", "\\'", *"aB7 '\",;{}%\\\t\n\r?é漢🙂<>&#:=", "\u2028", "\x85", "\xa0"]
)
# what XML 1.0 and UTF-8 can carry
ANY_TEXT = st.text(
    alphabet=st.characters(
        blacklist_categories=("Cs",),
        blacklist_characters="".join(map(chr, range(32))) + "\ufffe\uffff",
    ),
    max_size=8,
)
NAMES = st.one_of(st.lists(NAME_PIECES, min_size=1, max_size=6).map("".join), ANY_TEXT)
VALUES = st.one_of(
    st.just(0.0),
    st.integers(-5, 5).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e-320, 1.7e308, -0.1, 1e16, 2**53 + 1.0]),
)
QUICK = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@st.composite
def datasets(draw: st.DrawFn) -> MultiLabelDataset:
    """Draw a small dataset with odd names and values, dense or sparse."""
    n_rows = draw(st.integers(1, 5))
    n_features = draw(st.integers(1, 4))
    n_labels = draw(st.integers(1, 4))
    names = draw(
        st.lists(NAMES, min_size=n_features + n_labels, max_size=n_features + n_labels, unique=True)
    )
    cells = draw(st.lists(VALUES, min_size=n_rows * n_features, max_size=n_rows * n_features))
    # minus zero is not a value of its own in sparse notation
    X = np.array(cells).reshape(n_rows, n_features) + 0.0
    truths = draw(st.lists(st.booleans(), min_size=n_rows * n_labels, max_size=n_rows * n_labels))
    Y = np.array(truths, dtype=np.int32).reshape(n_rows, n_labels)
    return MultiLabelDataset(
        name=draw(NAMES),
        X=sparse.csr_matrix(X) if draw(st.booleans()) else X,
        Y=sparse.csr_matrix(Y),
        feature_names=tuple(names[:n_features]),
        label_names=tuple(names[n_features:]),
    )


@QUICK
@given(dataset=datasets(), ending=st.sampled_from([".arff", ".arff.gz"]))
def test_mulan_keeps_names_values_and_storage(
    dataset: MultiLabelDataset, ending: str, assert_same
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arff, xml = write_mulan(dataset, Path(folder) / f"copy{ending}")
        assert_same(dataset, read_mulan(arff))
        assert_same(dataset, read_mulan(arff, xml))
        assert_same(dataset, read_mulan(arff, list(dataset.label_names)))


@QUICK
@given(dataset=datasets())
def test_npz_keeps_names_values_and_storage(dataset: MultiLabelDataset, assert_same) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_same(dataset, read_npz(write_npz(dataset, Path(folder) / "copy.npz")))


@QUICK
@given(dataset=datasets(), ending=st.sampled_from([".txt", ".txt.gz"]))
def test_extreme_classification_text_keeps_values(dataset: MultiLabelDataset, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_xmlc(dataset, Path(folder) / f"copy{ending}")
        for copy in (read_xmlc(path), read_dataset(path)):
            X = dataset.X.toarray() if sparse.issparse(dataset.X) else dataset.X
            np.testing.assert_array_equal(copy.X.toarray(), X)
            np.testing.assert_array_equal(copy.Y.toarray(), dataset.Y.toarray())


@pytest.mark.parametrize("name", ["emotions", "enron", "rcv1-s1"])
def test_a_benchmark_dataset_survives_mulan_and_npz(
    name: str, benchmark_data: Path, tmp_path: Path, assert_same
) -> None:
    dataset = load_dataset(name, data_home=benchmark_data)
    assert_same(dataset, read_npz(write_npz(dataset, tmp_path / "copy.npz")))
    assert_same(dataset, read_mulan(write_mulan(dataset, tmp_path / "copy.arff.gz")[0]))


def test_missing_values_survive_mulan_and_npz(toy: MultiLabelDataset, tmp_path: Path) -> None:
    X = toy.X.copy()
    X[1, 0] = np.nan
    holed = MultiLabelDataset("holed", X, toy.Y, toy.feature_names, toy.label_names)
    for copy in (
        read_mulan(write_mulan(holed, tmp_path / "a.arff")[0]),
        read_npz(write_npz(holed, tmp_path / "a.npz")),
    ):
        np.testing.assert_array_equal(copy.X, X)
    with pytest.raises(DatasetError, match="missing or infinite"):
        write_xmlc(holed, tmp_path / "a.txt")


def test_a_feature_named_like_a_label_cannot_become_arff(
    toy: MultiLabelDataset, tmp_path: Path
) -> None:
    clashing = MultiLabelDataset("c", toy.X, toy.Y, ("red", "height"), toy.label_names)
    with pytest.raises(DatasetError, match="two columns named 'red'"):
        write_mulan(clashing, tmp_path / "c.arff")
    assert list(tmp_path.iterdir()) == []


def test_equal_data_give_equal_files(toy: MultiLabelDataset, tmp_path: Path) -> None:
    first, _ = write_mulan(toy, tmp_path / "one.arff.gz")
    content = first.read_bytes()
    write_mulan(toy, tmp_path / "one.arff.gz")
    assert first.read_bytes() == content


def test_a_failed_write_leaves_the_old_file(toy: MultiLabelDataset, tmp_path: Path) -> None:
    path = tmp_path / "keep.arff"
    write_mulan(toy, path)
    content = path.read_bytes()
    infinite = MultiLabelDataset(
        "i", np.full((4, 2), np.inf), toy.Y, toy.feature_names, toy.label_names
    )
    with pytest.raises(DatasetError, match="infinite"):
        write_mulan(infinite, path)
    assert path.read_bytes() == content
    assert sorted(file.name for file in tmp_path.iterdir()) == ["keep.arff", "keep.xml"]


def test_numbered_names_come_back_beside_a_file_of_other_names(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "features.txt").write_text("only one\n")
    dataset = MultiLabelDataset(
        name="d",
        X=np.eye(2),
        Y=sparse.csr_matrix(np.ones((2, 3), dtype=int)),
        feature_names=NumberedNames("x", 2),
        label_names=NumberedNames("tag", 3, 5),
    )
    found = read_npz(write_npz(dataset, tmp_path / "d.npz"))
    assert tuple(found.feature_names) == ("x0", "x1")
    assert tuple(found.label_names) == ("tag5", "tag6", "tag7")
