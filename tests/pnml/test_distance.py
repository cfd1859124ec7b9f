import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from protolabel.pnml import distance
from protolabel.pnml.distance import label_distances, linear_logits
from reference import pnml as naive


def random_problem(n_members=2, n_rows=5, n_labels=3, n_prototypes=4, rank=3, dim=6, seed=0):
    g = torch.Generator().manual_seed(seed)
    e = torch.randn(n_members, n_rows, dim, generator=g, dtype=torch.float64)
    p = torch.randn(n_members, n_labels, n_prototypes, dim, generator=g, dtype=torch.float64)
    U = torch.randn(n_members, n_labels, rank, dim, generator=g, dtype=torch.float64)
    return e, p, U


def direct(e, p, U):
    difference = e[:, None, :, None, :] - p[:, :, None, :, :]
    return torch.einsum("mkrd,mkncd->mkncr", U, difference).square().sum(-1).sqrt()


def test_a_three_four_five_triangle_has_distance_five():
    e, p = torch.tensor([[[3.0, 4.0]]]), torch.zeros(1, 1, 1, 2)
    assert label_distances(e, p, torch.eye(2)[None, None]).item() == pytest.approx(5.0, abs=1e-5)


def test_distances_equal_the_naive_loop():
    e, p, U = random_problem()
    got = label_distances(e, p, U).numpy()
    for m, k, n, c in np.ndindex(*got.shape):
        expected = naive.distance(e[m, n].numpy(), p[m, k, c].numpy(), U[m, k].numpy())
        assert got[m, k, n, c] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_squared_distances_are_the_squares():
    e, p, U = random_problem()
    assert torch.allclose(label_distances(e, p, U, squared=True), direct(e, p, U) ** 2)


def test_expansion_stays_accurate_far_from_the_origin_in_single_precision():
    e, p, U = random_problem(dim=32, rank=32)
    e, p = e + 100, p + 100
    got = label_distances(e.float(), p.float(), U.float()).double()
    assert torch.allclose(got, direct(e, p, U), rtol=1e-4)


def test_without_centring_the_expansion_would_lose_those_digits():
    e, p, U = random_problem(dim=32, rank=32)
    e, p = (e + 100).float(), (p + 100).float()
    raw = distance._squared_mahalanobis(e, p, U.float()).mT.clamp_min(0).sqrt().double()
    assert not torch.allclose(raw, direct(e.double(), p.double(), U), rtol=1e-4)


def test_labels_in_chunks_give_the_same_distances(monkeypatch):
    e, p, U = random_problem(n_labels=7)
    whole = label_distances(e, p, U)
    monkeypatch.setattr(distance, "_CHUNK_ENTRIES", 5 * 3 * 2)
    assert torch.equal(label_distances(e, p, U), whole)


def test_identity_metric_equals_the_euclidean_variant():
    e, p, _ = random_problem()
    identity = torch.eye(6, dtype=torch.float64).repeat(2, 3, 1, 1)
    assert torch.allclose(label_distances(e, p, identity), label_distances(e, p, None))


def test_rotating_a_metric_changes_nothing():
    e, p, U = random_problem(rank=6)
    rotation, _ = torch.linalg.qr(torch.randn(6, 6, dtype=torch.float64))
    assert torch.allclose(label_distances(e, p, rotation @ U), label_distances(e, p, U))


def test_permuting_labels_permutes_distances():
    e, p, U = random_problem()
    order = torch.tensor([2, 0, 1])
    permuted = label_distances(e, p[:, order], U[:, order])
    assert torch.allclose(permuted, label_distances(e, p, U)[:, order])


@pytest.mark.parametrize("euclidean", [False, True])
@pytest.mark.parametrize("squared", [False, True])
def test_gradients_of_embeddings_prototypes_and_metric(squared, euclidean):
    inputs = [tensor.requires_grad_() for tensor in random_problem()]
    if euclidean:
        assert gradcheck(lambda e, p: label_distances(e, p, None, squared=squared), inputs[:2])
    else:
        assert gradcheck(lambda *args: label_distances(*args, squared=squared), inputs)


def test_meeting_a_prototype_gives_no_nan_and_no_gradient():
    e = torch.randn(1, 1, 4, dtype=torch.float64, requires_grad=True)
    far = torch.zeros(1, 1, 1, 4, dtype=torch.float64)
    p = torch.cat([e.detach()[:, :, None], far], dim=2)
    d = label_distances(e, p, torch.eye(4, dtype=torch.float64)[None, None])
    d[..., 0].sum().backward()
    assert d[..., 0].item() == pytest.approx(0, abs=1e-5)
    assert torch.allclose(e.grad, torch.zeros_like(e.grad), atol=1e-6)


def test_linear_form_equals_the_difference_of_squared_distances():
    e, p, U = random_problem(n_prototypes=2)
    d = label_distances(e, p, U, squared=True)
    assert torch.allclose(linear_logits(e, p, U), d[..., 0] - d[..., 1])


def test_gradients_of_the_linear_form():
    inputs = [tensor.requires_grad_() for tensor in random_problem(n_prototypes=2)]
    assert gradcheck(linear_logits, inputs)
