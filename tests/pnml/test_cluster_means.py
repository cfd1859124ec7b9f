import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from protolabel.pnml import cluster_means as module
from protolabel.pnml.cluster_means import cluster_means
from protolabel.pnml.components import Components

RATES = [(1.0, 1.0), (0.5, 1.0), (1.0, 0.4), (0.6, 0.5)]


@pytest.fixture
def problem(generator):
    """Two members, six labels from no positive row to all rows, three slots per component."""
    labels = torch.zeros(1, 20, 6, dtype=torch.float64)
    for label, n_positive in enumerate([0, 1, 5, 11, 19, 20]):
        labels[0, torch.randperm(20, generator=generator)[:n_positive], label] = 1
    weights = torch.ones(2, 20, dtype=torch.float64)
    weights[0, 15:] = 0
    embeddings = torch.randn(2, 20, 4, generator=generator, dtype=torch.float64)
    shares = torch.rand(20, 6, 3, generator=generator, dtype=torch.float64)
    shares[:, :, 2] *= torch.rand(20, 6, generator=generator) > 0.5
    return embeddings, shares / shares.sum(-1, keepdim=True), Components.of(labels, weights)


def naive_means(embeddings, shares, members):
    """Means and masses of the clusters of one component, by loops."""
    n_slots, dim = shares.shape[1], embeddings.shape[1]
    sums, mass = np.zeros((n_slots, dim)), np.zeros(n_slots)
    for row, is_member in enumerate(members):
        if is_member:
            for slot in range(n_slots):
                sums[slot] += float(shares[row, slot]) * embeddings[row].numpy()
                mass[slot] += float(shares[row, slot])
    return sums, mass


@pytest.mark.parametrize("entries", [1, 100, 2**19])
@pytest.mark.parametrize("rates", RATES)
def test_means_equal_the_loops(problem, generator, monkeypatch, rates, entries):
    monkeypatch.setattr(module, "_GATHERED_ENTRIES", entries)
    monkeypatch.setattr(module, "_SHARE_ENTRIES", entries)
    embeddings, shares, components = problem
    components = components.drawn(*rates, generator)
    for member in range(2):
        positions, mass = cluster_means(embeddings[member], shares, components, member)
        members = components.membership(member)
        for side, label in np.ndindex(2, 6):
            sums, expected = naive_means(embeddings[member], shares[:, label], members[side, label])
            assert np.allclose(mass[label, side].numpy(), expected)
            found = positions[label, side].numpy() * expected[:, None]
            assert np.allclose(found, sums)


@pytest.mark.parametrize("entries", [100, 2**19])
@pytest.mark.parametrize("rates", RATES)
def test_means_pass_their_gradient(problem, generator, monkeypatch, rates, entries):
    monkeypatch.setattr(module, "_SHARE_ENTRIES", entries)
    embeddings, shares, components = problem
    components = components.drawn(*rates, generator)
    points = embeddings[1].clone().requires_grad_()
    assert gradcheck(lambda e: cluster_means(e, shares, components, 1)[0], points)


def test_components_without_rows_have_no_mass_and_finite_means(problem):
    embeddings, shares, components = problem
    positions, mass = cluster_means(embeddings[0], shares, components, 0)
    assert torch.isfinite(positions).all()
    assert mass[0, 1].sum() == 0
    assert mass[5, 0].sum() == 0


def test_unused_slots_of_negative_components_can_be_left_out(problem, generator):
    embeddings, shares, components = problem
    components = components.drawn(0.6, 0.5, generator)
    is_member = components.membership(1)[0].mT  # (n_rows, n_labels)
    shares = torch.where(is_member[..., None], shares * torch.tensor([1.0, 1.0, 0.0]), shares)
    points = embeddings[1].clone().requires_grad_()
    whole = cluster_means(points, shares, components, 1)
    for found, expected in zip(
        cluster_means(points, shares, components, 1, n_negative_slots=2), whole, strict=True
    ):
        assert torch.allclose(found, expected)
    assert gradcheck(
        lambda e: cluster_means(e, shares, components, 1, n_negative_slots=2)[0], points
    )
