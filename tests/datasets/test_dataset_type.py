"""The dataset type, its summary, and synthetic data."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from protolabel.datasets import (
    MultiLabelDataset,
    Split,
    dataset_names,
    find_spec,
    make_multilabel_like,
    read_mulan,
    read_npz,
    read_xmlc,
    write_mulan,
    write_npz,
    write_xmlc,
)
from protolabel.datasets.categories import expand_categories
from protolabel.datasets.names import NumberedNames
from protolabel.exceptions import DatasetError


def test_the_summary_of_a_hand_made_dataset(toy: MultiLabelDataset) -> None:
    summary = toy.summary()
    assert (summary.n_samples, summary.n_features, summary.n_labels) == (4, 2, 3)
    assert summary.cardinality == 5 / 4
    assert summary.density == 5 / 12
    assert summary.distinct_label_sets == 4
    assert (summary.positives_min, summary.positives_median, summary.positives_max) == (1, 1, 3)
    # three, one and one positives: (3/3 + 3/1 + 3/1) / 3
    assert summary.mean_imbalance_ratio == pytest.approx(7 / 3)
    assert summary.rows_without_labels == 1
    assert summary.rows_without_features == 1
    assert summary.labels_without_positives == 0
    assert summary.feature_density == 5 / 8
    assert summary.missing_values == 0


def test_dense_and_sparse_features_have_the_same_summary(
    toy: MultiLabelDataset, sparse_toy: MultiLabelDataset
) -> None:
    assert toy.summary() == sparse_toy.summary()


def test_the_summary_agrees_with_plain_loops() -> None:
    rng = np.random.default_rng(3)
    Y = (rng.random((60, 9)) < rng.random(9) * 0.5).astype(np.int32)
    Y[:, 4] = 0
    X = rng.random((60, 3))
    dataset = MultiLabelDataset(
        "r", X, sparse.csr_matrix(Y), NumberedNames("x", 3), NumberedNames("label", 9)
    )
    summary = dataset.summary()
    counts = [sum(row[label] for row in Y.tolist()) for label in range(9)]
    assert summary.distinct_label_sets == len({tuple(row) for row in Y.tolist()})
    ratios = [max(counts) / count for count in counts if count]
    assert summary.mean_imbalance_ratio == pytest.approx(sum(ratios) / len(ratios))
    assert summary.labels_without_positives == counts.count(0)
    assert summary.rows_without_labels == sum(not any(row) for row in Y.tolist())


def test_a_dataset_cannot_be_changed(toy: MultiLabelDataset) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        toy.name = "other"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"Y": np.zeros((4, 3))}, TypeError, "pass a CSR matrix"),
        ({"X": [[1, 2]]}, TypeError, "ndarray or a CSR matrix"),
        ({"X": np.zeros((3, 2))}, DatasetError, "X has 3 rows and Y has 4"),
        ({"feature_names": ("one",)}, DatasetError, "1 feature names for 2 columns"),
        ({"label_names": ("a", "b")}, DatasetError, "2 label names for 3 columns"),
        ({"label_names": ("a", "b", "a")}, DatasetError, "label 'a' occurs more than once"),
        ({"Y": sparse.csr_matrix(np.full((4, 3), 2))}, DatasetError, "other than 0 and 1"),
        ({"split": Split(np.array([0]), np.array([9]))}, DatasetError, "names row 9 of 4 rows"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    change: dict, error: type[Exception], message: str, toy: MultiLabelDataset
) -> None:
    with pytest.raises(error, match=message):
        dataclasses.replace(toy, **change)


def test_numbered_names_behave_like_a_tuple() -> None:
    names = NumberedNames("x", 4, start=1)
    assert list(names) == ["x1", "x2", "x3", "x4"]
    assert names[1:3] == ("x2", "x3")
    assert names == ("x1", "x2", "x3", "x4")
    assert names != ("x1",)
    assert "x4" in names
    with pytest.raises(IndexError):
        names[4]


def test_categories_expand_alike_in_dense_and_sparse_storage() -> None:
    X = np.array([[0.0, 2.0, 5.0], [1.0, np.nan, 0.0], [0.0, 0.0, 7.0]])
    categories = {0: ("no", "yes"), 1: ("a", "b", "c")}
    from_dense, names, notes = expand_categories(X, ("p", "q", "r"), categories, {})
    from_sparse, same_names, same_notes = expand_categories(
        sparse.csr_matrix(X), ("p", "q", "r"), categories, {}
    )
    assert names == same_names == ("p=no", "p=yes", "q=a", "q=b", "q=c", "r")
    assert notes == same_notes
    expected = [[1, 0, 0, 0, 1, 5], [0, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 7]]
    assert from_dense.tolist() == expected
    assert from_sparse.toarray().tolist() == expected


@pytest.mark.parametrize("name", dataset_names())
def test_synthetic_data_have_the_measures_of_the_real_ones(name: str) -> None:
    spec = find_spec(name)
    n_samples = min(spec.n_samples, 3000)
    dataset = make_multilabel_like(name, n_samples=n_samples, random_state=1)
    summary = dataset.summary()
    assert (summary.n_samples, summary.n_features, summary.n_labels) == (
        n_samples,
        spec.n_features,
        spec.n_labels,
    )
    assert summary.cardinality == pytest.approx(spec.cardinality, rel=0.02)
    assert summary.labels_without_positives == 0
    if spec.cardinality >= 1:
        assert summary.rows_without_labels == 0
    if spec.feature_density < 0.5:
        assert sparse.issparse(dataset.X)
        assert summary.feature_density == pytest.approx(spec.feature_density, rel=0.05)
    if n_samples == spec.n_samples:
        assert summary.mean_imbalance_ratio == pytest.approx(spec.mean_imbalance_ratio, rel=0.1)


def test_synthetic_data_are_always_called_synthetic() -> None:
    dataset = make_multilabel_like("bookmark", n_samples=20)
    assert dataset.name == "synthetic-bookmark"
    assert dataset.provenance.is_synthetic
    assert "synthetic" in repr(dataset)
    assert any("synthetic" in note for note in dataset.provenance.notes)


def test_the_same_seed_gives_the_same_synthetic_data(assert_same) -> None:
    first = make_multilabel_like("arts", n_samples=300, random_state=5)
    assert_same(first, make_multilabel_like("arts", n_samples=300, random_state=5))
    other = make_multilabel_like("arts", n_samples=300, random_state=6)
    assert (first.X != other.X).nnz > 0


def test_synthetic_features_tell_something_about_the_labels() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    dataset = make_multilabel_like("bibtex", n_samples=1500)
    target = dataset.Y[:, [0]].toarray().ravel()
    model = LogisticRegression(max_iter=300).fit(dataset.X[:1000], target[:1000])
    assert roc_auc_score(target[1000:], model.decision_function(dataset.X[1000:])) > 0.7


def test_cells_that_are_stored_twice_or_as_zeros_are_cells_like_others(tmp_path):
    Y = sparse.csr_matrix((np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 2, 3])))
    X = sparse.csr_matrix(
        (np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 3)
    )
    names = {"feature_names": ("a", "b", "c"), "label_names": ("l", "m")}
    dataset = MultiLabelDataset(name="z", X=X, Y=Y, **names)
    assert (Y.nnz, X.nnz) == (3, 3)
    read = [
        dataset,
        read_mulan(write_mulan(dataset, tmp_path / "z.arff")[0]),
        read_xmlc(write_xmlc(dataset, tmp_path / "z.txt")),
        read_npz(write_npz(dataset, tmp_path / "z.npz")),
    ]
    for one in read:
        assert one.Y.toarray().tolist() == [[0, 1], [1, 0]]
        values = one.X.toarray() if sparse.issparse(one.X) else one.X
        assert values.tolist() == [[0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    twice = sparse.csr_matrix((np.array([1, 1]), np.array([0, 0]), np.array([0, 2, 2])))
    with pytest.raises(DatasetError, match="Y holds values other than 0 and 1"):
        MultiLabelDataset(name="z", X=X, Y=twice, feature_names=("a", "b", "c"), label_names=("l",))
