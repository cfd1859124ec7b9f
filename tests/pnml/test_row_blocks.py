"""Bits of products in blocks."""

import numpy as np
import pytest
import torch

from protolabel.pnml.row_blocks import BLOCK_ROWS, block_product, block_weight, whole_blocks


@pytest.mark.parametrize("n_inputs", [1, 7, 37, 128, 300])
@pytest.mark.parametrize("n_columns", [1, 2, 14, 159, 560])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_row_gives_the_same_bits_wherever_it_stands(n_inputs, n_columns, dtype):
    rng = torch.Generator().manual_seed(n_inputs * n_columns)
    rows = torch.randn(2, 100, n_inputs, generator=rng, dtype=dtype)
    weight = block_weight(torch.randn(2, n_inputs, n_columns, generator=rng, dtype=dtype))
    together = block_product(whole_blocks(rows), weight)
    for size in (1, 3, 16, 17, 50, 100):
        some = torch.randperm(100, generator=rng)[:size]
        found = block_product(whole_blocks(rows[:, some]), weight)
        assert torch.equal(found[:, :size], together[:, some])


def test_a_product_is_that_of_the_matrices():
    rng = np.random.default_rng(0)
    rows, matrix = rng.normal(size=(2, 20, 5)), rng.normal(size=(2, 5, 3))
    weight = block_weight(torch.from_numpy(matrix))
    found = block_product(whole_blocks(torch.from_numpy(rows)), weight)
    assert found.shape == (2, 2 * BLOCK_ROWS, 8)
    np.testing.assert_allclose(found[:, :20, :3], rows @ matrix)
    assert not found[:, 20:].any()
    assert not found[..., 3:].any()
