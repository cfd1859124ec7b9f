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


def test_few_columns_or_many_half_filled_rows_do_not_fill_the_memory(monkeypatch):
    matrix = uneven(400, 8)
    parted = UnevenMatrix.of(matrix[np.arange(400) % 4 == 1])
    assert parted.filled.nbytes <= 2 * 12 * (parted.others.nnz + np.count_nonzero(parted.filled))
    assert len(parted.filled) < 100
    monkeypatch.setattr(uneven_matrix, "_CHUNK_CELLS", 3 * len(parted.filled))
    rows = uneven(7, 100, seed=1)
    whole = matrix[np.arange(400) % 4 == 1].toarray()
    assert np.allclose(parted.product(rows), rows.toarray() @ whole, rtol=1e-12, atol=1e-12)
