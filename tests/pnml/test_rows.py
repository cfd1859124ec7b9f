import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from protolabel.pnml.rows import SparseRows, compact_rows, feature_rows, inverted_dropout
from protolabel.pnml.stored_rows import StoredRows

CPU = torch.device("cpu")


@pytest.fixture
def matrix():
    return sp.random(9, 6, density=0.4, format="csr", random_state=0)


def test_sparse_product_equals_the_dense_one(matrix):
    weight = torch.randn(6, 3, dtype=torch.float64)
    sparse = feature_rows(matrix, CPU, torch.float64).product(weight)
    dense = feature_rows(matrix.toarray(), CPU, torch.float64).product(weight)
    assert torch.allclose(sparse, dense)


def test_gradient_of_the_sparse_product(matrix):
    rows = feature_rows(matrix, CPU, torch.float64)
    assert gradcheck(rows.product, torch.randn(6, 3, dtype=torch.float64, requires_grad=True))


def test_strips_of_columns_give_the_same_product_and_gradient(monkeypatch):
    matrix = sp.random(40, 4, density=0.9, format="csr", random_state=0)
    rows = feature_rows(matrix, CPU, torch.float64)
    weight = torch.randn(4, 70, dtype=torch.float64, requires_grad=True)
    monkeypatch.setattr("protolabel.pnml.rows._STRIP_ENTRIES", 1)
    monkeypatch.setattr("protolabel.pnml.rows._READS_OF_A_STRIP", 1)
    product = rows.product(weight)
    gradient = torch.randn(40, 70, dtype=torch.float64)
    product.backward(gradient)
    dense = torch.from_numpy(matrix.toarray())
    assert torch.allclose(product, dense @ weight)
    assert torch.allclose(weight.grad, dense.mT @ gradient)


def test_taking_rows_keeps_their_order_and_repeats(matrix):
    index = torch.tensor([5, 0, 5, 8])
    taken = feature_rows(matrix, CPU, torch.float64).take(index)
    eye = torch.eye(6, dtype=torch.float64)
    assert np.array_equal(taken.product(eye).numpy(), matrix.toarray()[index.numpy()])
    assert taken.n_rows == 4


@pytest.mark.parametrize("kind", ["dense", "sparse", "stored"])
@pytest.mark.parametrize("n_rows", [0, 1, 4, 5, 9])
def test_parts_are_the_rows_in_their_order(matrix, kind, n_rows):
    matrix = matrix[:n_rows]
    rows = {
        "dense": lambda: feature_rows(matrix.toarray(), CPU, torch.float64),
        "sparse": lambda: feature_rows(matrix, CPU, torch.float64),
        "stored": lambda: StoredRows(lambda at: matrix[at], lambda X: X, np.arange(n_rows), 6, CPU),
    }[kind]()
    parts = list(rows.parts(4))
    assert [part.n_rows for part in parts] == {0: [0], 1: [1], 4: [4], 5: [4, 1], 9: [4, 4, 1]}[
        n_rows
    ]
    eye = torch.eye(6)
    found = torch.cat([part.to(torch.float32).product(eye) for part in parts])
    assert np.array_equal(found.numpy(), matrix.toarray().astype(np.float32))


def test_rows_without_entries_embed_to_zero():
    empty = feature_rows(sp.csr_array((3, 4)), CPU)
    assert torch.equal(empty.product(torch.ones(4, 2)), torch.zeros(3, 2))
    assert empty.take(torch.tensor([1])).n_rows == 1


def test_dropout_keeps_zeros_and_the_mean(matrix, generator):
    rows = feature_rows(matrix, CPU).dropout(0.5, generator)
    assert set((rows.values / feature_rows(matrix, CPU).values).unique().tolist()) <= {0.0, 2.0}
    values = inverted_dropout(torch.ones(100_000), 0.3, generator)
    assert values.mean().item() == pytest.approx(1, abs=0.02)


def test_dropout_of_rate_zero_draws_nothing(generator):
    before = generator.get_state()
    values = torch.randn(5)
    assert inverted_dropout(values, 0.0, generator) is values
    assert torch.equal(generator.get_state(), before)


def test_dense_rows_that_are_mostly_zero_are_compressed_without_change():
    table = np.zeros((6, 20))
    table[1, 3], table[1, 7], table[4, 0], table[5, 19] = 2.0, -1.0, 0.5, np.nan
    compact = compact_rows(feature_rows(table, CPU, torch.float64))
    assert isinstance(compact, SparseRows)
    assert compact.n_features == 20
    found = sp.csr_array(
        (compact.values.numpy(), compact.columns.numpy(), compact.indptr.numpy()), shape=(6, 20)
    )
    assert np.array_equal(found.toarray(), table, equal_nan=True)


@pytest.mark.parametrize("table", [np.ones((4, 3)), np.zeros((0, 3)), sp.csr_array((4, 3))])
def test_other_rows_stay_as_they_are(table):
    rows = feature_rows(table, CPU)
    assert compact_rows(rows) is rows
