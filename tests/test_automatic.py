import numpy as np
import pytest
import scipy.sparse as sp

from protolabel import PNMLClassifier
from protolabel.automatic import TableShape, automatic_parameters
from protolabel.companions import MAX_ROWS


def balanced(*shape: int, **properties: bool) -> dict[str, object]:
    return automatic_parameters("balanced", TableShape(*shape, **properties))


def fast(*shape: int) -> dict[str, object]:
    return automatic_parameters("fast", TableShape(*shape))


@pytest.mark.parametrize(("n_features", "expected"), [(200, 72), (201, 128)])
def test_the_width_follows_the_features(n_features, expected):
    assert balanced(100, n_features, 5)["embedding_dim"] == expected


@pytest.mark.parametrize(("n_samples", "expected"), [(1, 40), (1600, 40), (3200, 20), (64_000, 10)])
def test_the_epochs_follow_the_rows(n_samples, expected):
    assert balanced(n_samples, 10, 5)["max_epochs"] == expected


@pytest.mark.parametrize(("n_labels", "expected"), [(1, 16), (64, 16), (128, 8), (5000, 6)])
def test_many_labels_have_metrics_of_low_rank(n_labels, expected):
    assert balanced(100, 10, n_labels)["metric_rank"] == expected


def test_an_embedding_smaller_than_the_rank_has_full_metrics():
    model = PNMLClassifier(embedding_dim=3)
    assert model._settings(np.zeros((10, 5)), n_labels=2).metric_rank == 3


def test_a_rank_that_was_asked_for_is_not_changed():
    with pytest.raises(ValueError, match="metric_rank=8 is larger than the embedding dimension"):
        PNMLClassifier(embedding_dim=3, metric_rank=8)._settings(np.zeros((10, 5)), n_labels=2)


def test_sparse_tables_have_single_prototypes_and_a_fourth_of_the_trees():
    dense, sparse = balanced(100, 10, 5), balanced(100, 10, 5, is_sparse=True)
    assert (dense["prototypes"], sparse["prototypes"]) == ("multiple", "single")
    assert dense["n_trees"] == 4 * sparse["n_trees"]


def test_batches_are_large_where_prototypes_are_single_and_rows_are_many():
    assert balanced(1000, 10, 5, is_sparse=True)["batch_size"] == 256
    assert balanced(999, 10, 5, is_sparse=True)["batch_size"] == 128
    assert balanced(1000, 10, 5)["batch_size"] == 128


def test_batches_of_many_rows_with_single_prototypes_are_larger_still():
    found = [fast(n_samples, 10, 5)["batch_size"] for n_samples in (999, 1000, 4999, 5000)]
    assert found == [128, 256, 256, 512]
    assert balanced(5000, 10, 5, is_sparse=True)["batch_size"] == 512
    assert balanced(5000, 10, 5)["batch_size"] == 128


def test_the_learning_rate_follows_the_batches_whoever_chose_them():
    def rate(**given):
        return PNMLClassifier(**given)._settings(np.zeros((10, 5)), n_labels=2).learning_rate

    found = [rate(), rate(batch_size=384), rate(batch_size=4096), rate(learning_rate=0.1)]
    assert found == pytest.approx([3e-3, 4.5e-3, 6e-3, 0.1])
    assert rate(batch_size=4096, schedule="constant") == 3e-3


@pytest.mark.parametrize("name", ["learning_rate", "batch_size", "embedding_dim", "max_epochs"])
@pytest.mark.parametrize("value", ["Auto", None, True])
def test_what_is_neither_a_number_nor_auto_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r} cannot be used; .* or 'auto'"):
        PNMLClassifier(**{name: value})._settings(np.zeros((10, 5)), n_labels=2)


def test_large_tables_and_those_on_disk_have_single_prototypes():
    assert balanced(2**20, 10, 17)["prototypes"] == "single"
    assert balanced(100, 10, 5, stays_on_disk=True)["prototypes"] == "single"


def test_all_rows_that_companions_learn_from_are_landmarks_where_there_is_room():
    found = [balanced(n_samples, 10, 5)["n_landmarks"] for n_samples in (100, 6000, 20_000)]
    assert found == [2000, 6000, MAX_ROWS]
    assert balanced(5000, 7000, 5)["n_landmarks"] == 2000
    assert balanced(5000, 48_000, 5, is_sparse=True)["n_landmarks"] == 5000
    assert balanced(5000, 48_001, 5, is_sparse=True)["n_landmarks"] == 2000
    assert balanced(20_000, 24_000, 5, is_sparse=True)["n_landmarks"] == MAX_ROWS
    on_disk = [balanced(n, 10, 5, stays_on_disk=True)["n_landmarks"] for n in (6000, 6001)]
    assert on_disk == [6000, 2000]
    assert fast(100, 10, 5)["n_landmarks"] == 0


def test_very_many_labels_have_no_companions():
    many = balanced(100, 10, 1001)
    assert (many["n_landmarks"], many["n_trees"]) == (0, 0)


def test_shapes_are_read_from_arrays_and_sparse_matrices():
    assert TableShape.of(np.zeros((3, 2)), 4) == TableShape(3, 2, 4)
    assert TableShape.of(sp.csr_array((3, 2)), 4) == TableShape(3, 2, 4, is_sparse=True)
