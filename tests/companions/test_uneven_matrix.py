import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions import uneven_matrix
from protolabel.companions.uneven_matrix import UnevenMatrix


def uneven(n_rows, n_columns, seed=0):
    """Rows of all fillings, from empty to full."""
    rng = np.random.default_rng(seed)
    is_stored = rng.random((n_rows, n_columns)) < np.linspace(0, 1, n_rows)[:, None]
    return sp.csr_array(np.where(is_stored, rng.normal(size=(n_rows, n_columns)), 0.0))


@pytest.mark.parametrize("share", [0.0, 1 / 16, 0.6, 2.0])
@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_products_are_those_of_the_whole_matrix(monkeypatch, share, n_rows):
    monkeypatch.setattr(uneven_matrix, "_FILLED_SHARE", share)
    matrix, rows = uneven(40, 25), uneven(7, 40, seed=1)[-n_rows:]
    parted = UnevenMatrix.of(matrix)
    assert len(parted.filled) == np.sum(np.diff(matrix.indptr) >= max(1, share * 25))
    found = parted.product(rows)
    assert found.shape == (n_rows, 25)
    assert np.allclose(found, rows.toarray() @ matrix.toarray(), rtol=1e-12, atol=1e-12)


def test_rows_and_matrices_may_be_empty():
    nothing, something = sp.csr_array((1, 40)), uneven(3, 40)
    assert not UnevenMatrix.of(uneven(40, 25)).product(nothing).any()
    for n_rows in (1, 3):
        found = UnevenMatrix.of(sp.csr_array((40, 25))).product(something[:n_rows])
        assert found.tolist() == np.zeros((n_rows, 25)).tolist()


def test_filled_rows_take_at_most_twice_the_memory_of_the_matrix(monkeypatch):
    # One entry of eight columns is more than the share from which on a row is filled.
    columns = np.arange(1000) % 8
    matrix = sp.csr_array((np.arange(1.0, 1001), (np.arange(1000), columns)), shape=(1000, 8))
    parted = UnevenMatrix.of(matrix)
    assert 0 < parted.filled.nbytes <= 2 * (matrix.data.nbytes + 4 * matrix.nnz)
    rows = uneven(7, 1000, seed=1)
    for n_rows in (1, 3, 7):
        monkeypatch.setattr(uneven_matrix, "_CHUNK_CELLS", n_rows * len(parted.filled))
        found, expected = parted.product(rows), rows.toarray() @ matrix.toarray()
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
