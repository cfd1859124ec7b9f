import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions.sparse_rows import dense_product, part_of, row_product, row_squares


@pytest.fixture
def rows():
    dense = sp.random_array((9, 40), density=0.2, rng=np.random.default_rng(0)).toarray()
    dense[4] = 0
    return sp.csr_array(dense)


def test_a_row_gets_the_same_digits_alone_and_in_company(rows):
    matrix = sp.random_array((40, 15), density=0.3, rng=np.random.default_rng(1), format="csr")
    together = dense_product(rows, matrix)
    assert np.allclose(together, rows.toarray() @ matrix.toarray(), atol=1e-14)
    for position in range(9):
        alone = dense_product(rows[[position]], matrix)[0]
        assert np.array_equal(alone, together[position])
        assert alone.dtype == together.dtype


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_array.toarray])
def test_squared_lengths_of_sparse_and_dense_rows(rows, kind):
    found = row_squares(kind(rows))
    assert np.allclose(found, [sum(value**2 for value in row) for row in rows.toarray()])


def test_rows_without_entries_have_length_zero():
    found = row_squares(sp.csr_array((3, 4)))
    assert found.tolist() == [0.0, 0.0, 0.0]
    assert found.dtype == np.float64


def test_all_rows_are_no_copy(rows):
    assert part_of(rows, slice(0, 9)) is rows
    assert part_of(rows, slice(0, 8)).shape == (8, 40)
    assert part_of(rows, slice(8, 16)).shape == (1, 40)


@pytest.mark.parametrize("position", [0, 4])
def test_a_single_row_is_multiplied_in_either_form(rows, position):
    matrix = np.random.default_rng(1).normal(size=(40, 6))
    expected = rows.toarray()[position] @ matrix
    row = rows[[position]]
    for form in (row, sp.csr_matrix(row), row.toarray()):
        assert np.allclose(row_product(form, matrix), expected, rtol=1e-12, atol=1e-12)
