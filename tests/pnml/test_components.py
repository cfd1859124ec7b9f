import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from protolabel.pnml.components import ComponentRows, Components
from protolabel.pnml.prototypes import component_means
from reference import pnml as naive


@pytest.fixture
def problem(generator):
    """Two members with different rows, five labels: none, one, few, all but one, all positive."""
    labels = (torch.rand(1, 12, 5, generator=generator) > 0.6).double()
    labels[0, :, 0] = 0
    labels[0, :, 1] = 0
    labels[0, 4, 1] = 1
    labels[0, :, 3] = 1
    labels[0, 7, 3] = 0
    labels[0, :, 4] = 1
    weights = torch.ones(2, 12, dtype=torch.float64)
    weights[1, :3] = 0
    embeddings = torch.randn(2, 12, 4, generator=generator, dtype=torch.float64)
    return embeddings, labels, weights


def expected_members(labels, weights, member):
    positive = (labels[0] > 0).mT & (weights[member] > 0)
    negative = (labels[0] == 0).mT & (weights[member] > 0)
    return torch.stack([negative, positive])


def test_all_rows_of_each_side_are_members(problem):
    _, labels, weights = problem
    components = Components.of(labels, weights)
    for member in range(2):
        expected = expected_members(labels, weights, member)
        assert torch.equal(components.membership(member), expected)
        assert torch.equal(components.counts()[member], expected.sum(-1).mT)


@pytest.mark.parametrize("rates", [(1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.6, 0.5)])
def test_means_equal_loops_over_the_members(problem, generator, rates):
    embeddings, labels, weights = problem
    components = Components.of(labels, weights).drawn(*rates, generator)
    found = component_means(embeddings, components)
    for member in range(2):
        members = components.membership(member).numpy()
        for side, label in np.ndindex(2, 5):
            exists = members[side, label].any()
            assert found.exists[member, label, side, 0] == exists
            if exists:
                expected = naive.component_mean(embeddings[member].numpy(), members[side, label])
                assert np.allclose(found.positions[member, label, side, 0].numpy(), expected)


@pytest.mark.parametrize("rates", [(1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.6, 0.5)])
def test_means_pass_their_gradient(problem, generator, rates):
    embeddings, labels, weights = problem
    components = Components.of(labels, weights).drawn(*rates, generator)
    embeddings.requires_grad_()
    assert gradcheck(lambda e: component_means(e, components).positions, embeddings)


def test_labels_of_their_own_for_each_slice(problem, generator):
    """PNML-I: a slice holds one label."""
    embeddings, labels, _ = problem
    by_slice = labels[0, :, [2, 3]].mT[..., None]
    components = Components.of(by_slice, torch.ones(2, 12)).drawn(0.5, 0.5, generator)
    for position in range(2):
        positive = by_slice[position, :, 0] > 0
        negatives, positives = components.membership(position)[:, 0]
        assert (positives <= positive).all()
        assert (negatives <= ~positive).all()
        means = component_means(embeddings, components).positions[position, 0, :, 0]
        assert torch.allclose(means[0], embeddings[position][negatives].mean(0))
        assert torch.allclose(means[1], embeddings[position][positives].mean(0))


def test_samples_are_members_drawn_at_the_rate(generator):
    labels = (torch.rand(1, 5000, 3, generator=generator) > 0.5).float()
    weights = torch.ones(2, 5000)
    weights[1, ::2] = 0
    everyone = Components.of(labels, weights)
    drawn = everyone.drawn(0.5, 0.1, generator)
    for member in range(2):
        some, all_of_them = drawn.membership(member), everyone.membership(member)
        assert (some <= all_of_them).all()
        share = some.sum((1, 2)) / all_of_them.sum((1, 2))
        assert share.tolist() == pytest.approx([0.1, 0.5], abs=0.03)
        assert torch.equal(drawn.counts()[member], some.sum(-1).mT)


def test_a_component_with_rows_is_never_left_empty(generator):
    labels = torch.zeros(1, 50, 3)
    labels[0, 7, 0] = 1
    labels[0, :, 2] = 1
    labels[0, 9, 2] = 0
    everyone = Components.of(labels, torch.ones(1, 50))
    lone = set()
    for _ in range(20):
        negatives, positives = everyone.drawn(0.01, 0.01, generator).membership(0)
        assert positives[0].nonzero().flatten().tolist() == [7]
        assert positives[1].sum() == 0
        assert negatives[2].nonzero().flatten().tolist() == [9]
        assert (negatives.sum(1) >= 1).all()
        lone |= set(negatives[1].nonzero().flatten().tolist())
    assert len(lone) > 5


def test_every_slice_keeps_a_row_of_every_component(generator):
    labels = torch.ones(1, 30, 2)
    labels[0, [4, 9], 0] = 0
    labels[0, ::2, 1] = 0
    weights = torch.ones(2, 30)
    weights[0, 9] = weights[1, 4] = 0
    for _ in range(20):
        drawn = Components.of(labels, weights).drawn(1.0, 0.01, generator)
        lone = [drawn.membership(part)[0, 0].nonzero().flatten().tolist() for part in range(2)]
        assert lone == [[4], [9]]
        assert (drawn.counts()[..., 0] >= 1).all()


def test_every_slice_with_a_label_of_its_own_keeps_a_row(generator):
    """PNML-I: a slice holds one label."""
    labels = torch.ones(2, 30, 1)
    labels[0, 4], labels[1, 9] = 0, 0
    for _ in range(20):
        drawn = Components.of(labels, torch.ones(2, 30)).drawn(1.0, 0.01, generator)
        lone = [drawn.membership(part)[0, 0].nonzero().flatten().tolist() for part in range(2)]
        assert lone == [[4], [9]]


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.5, 0.97])
def test_rows_are_drawn_at_the_rate_everywhere_and_for_all_labels(generator, rate):
    labels = torch.zeros(1, 400, 2)
    labels[0, ::2, 1] = 1
    everyone = Components.of(labels, torch.ones(1, 400))
    hits = torch.zeros(400)
    for _ in range(400):
        first, second = everyone.drawn(1.0, rate, generator).membership(0)[0]
        assert torch.equal(first & (labels[0, :, 1] == 0), second)
        hits += first
    deviation = (rate * (1 - rate) / 400) ** 0.5
    assert (hits / 400 - rate).abs().max() < 6 * deviation
    assert (hits / 400).mean().item() == pytest.approx(rate, abs=5 * deviation / 400**0.5)


def test_rows_without_any_label_give_empty_components():
    components = Components.of(torch.zeros(1, 4, 2), torch.ones(1, 4))
    found = component_means(torch.ones(1, 4, 3), components)
    assert found.exists[0, :, :, 0].tolist() == [[True, False]] * 2
    assert torch.isfinite(found.positions).all()


def test_one_row_and_one_label():
    found = component_means(
        torch.tensor([[[2.0, 3.0]]]), Components.of(torch.ones(1, 1, 1), torch.ones(1, 1))
    )
    assert found.positions[0, 0, 1, 0].tolist() == [2.0, 3.0]
    assert not found.complete.any()


def test_the_transpose_lists_the_components_of_every_row():
    members = ComponentRows(torch.tensor([3, 0, 3, 1]), torch.tensor([0, 2, 2, 4]))
    transposed = members.transposed(5)
    assert transposed.rows.tolist() == [0, 2, 0, 2]
    assert transposed.offsets.tolist() == [0, 1, 2, 2, 4, 4]


def test_components_follow_others_with_their_rows():
    first = ComponentRows(torch.tensor([3, 0]), torch.tensor([0, 2, 2]))
    both = first.followed_by(ComponentRows(torch.tensor([1]), torch.tensor([0, 1])))
    assert both.rows.tolist() == [3, 0, 1]
    assert both.offsets.tolist() == [0, 2, 2, 3]
