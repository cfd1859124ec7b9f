import pytest
import torch

from protolabel.pnml.loss import mean_cross_entropy
from protolabel.pnml.seen_rows import SeenRows


@pytest.fixture
def weights():
    """Three slices that see four, three and two of six rows."""
    return torch.tensor(
        [[1, 0, 1, 1, 0, 1], [0, 1, 0, 1, 1, 0], [0, 0, 2, 0, 0, 1]], dtype=torch.float64
    )


def test_the_rows_of_each_slice_come_first_and_all_slices_have_as_many(weights):
    seen = SeenRows.of(weights)
    assert seen.positions.shape == (3, 4)
    for slice_weights, rows, kept in zip(weights, seen.positions, seen.weights, strict=True):
        found = rows[kept > 0].sort().values
        assert torch.equal(found, slice_weights.nonzero().squeeze(1))
        assert torch.equal(kept, slice_weights[rows])


def test_all_rows_are_seen_in_their_order_where_none_is_hidden():
    seen = SeenRows.of(torch.ones(2, 5))
    assert torch.equal(seen.positions, torch.arange(5).expand(2, 5))


@pytest.mark.parametrize("n_slices", [1, 3])
def test_values_are_taken_row_by_row(weights, n_slices, generator):
    values = torch.randn(n_slices, 6, 2, generator=generator)
    seen = SeenRows.of(weights)
    taken = seen.of_each(values)
    for k in range(3):
        for place, row in enumerate(seen.positions[k].tolist()):
            assert torch.equal(taken[k, place], values[k % n_slices, row])


def test_the_loss_and_its_gradient_are_those_of_all_rows_with_their_weights(weights, generator):
    logits = torch.randn(3, 6, 4, generator=generator, dtype=torch.float64).requires_grad_()
    labels = (torch.rand(1, 6, 4, generator=generator) > 0.5).double()
    options = {
        "learnable": torch.ones(3, 4, dtype=torch.bool),
        "n_labels": 4,
        "reduction": "rows",
    }
    whole = mean_cross_entropy(logits, labels, weights, **options)
    (expected,) = torch.autograd.grad(whole, logits)
    seen = SeenRows.of(weights)
    part = mean_cross_entropy(seen.of_each(logits), seen.of_each(labels), seen.weights, **options)
    (found,) = torch.autograd.grad(part, logits)
    assert torch.allclose(part, whole)
    assert torch.allclose(found, expected)
