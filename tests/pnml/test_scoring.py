"""Prepared scores against those that the network computes step by step."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from protolabel import PNMLClassifier
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.scoring import NetworkScorer
from protolabel.pnml.scoring_heads import _triangles

CPU = torch.device("cpu")

CONFIGURATIONS = {
    "paper": {},
    "odd dimension": {"embedding_dim": 37},
    "small dimension": {"embedding_dim": 3},
    "low rank": {"metric_rank": 2},
    "plain distance": {"metric": "euclidean"},
    "squared": {"squared_distance": True},
    "members": {"n_members": 3, "cross_fit": True},
    "hidden layer": {"hidden_dim": 8},
    "several prototypes": {"prototypes": "multiple", "concentration": 1.0},
    "prior": {"class_prior": "learned"},
    "trained variance": {"prototypes": "multiple", "cluster_variance": "trainable"},
    "embedding a label": {"shared_embedding": False, "n_members": 2},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(90, 7)) + 3
    Y = (X[:, :4] + rng.normal(size=(90, 4)) > 3.5).astype(int)
    # Of these labels no member, or only some, can learn.
    never, rare = np.zeros((90, 1), int), np.zeros((90, 1), int)
    rare[5] = 1
    return X, np.hstack([Y, never, rare])


def fitted(X, Y, **overrides):
    defaults = {"prototypes": "single", "embedding_dim": 20, "max_epochs": 2, "random_state": 0}
    return PNMLClassifier.paper(**{**defaults, **overrides}).fit(X, Y)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_prepared_scores_are_those_of_the_network(rows, configuration, form):
    X, Y = rows
    X = sp.csr_array(X) if form == "sparse" else X
    network = fitted(X, Y, **CONFIGURATIONS[configuration]).model_.network
    new = feature_rows(X[:33], CPU, torch.float64)
    expected = network.average_members(network.member_logits(new))
    found = NetworkScorer(network).scores(new)
    assert torch.allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert found.dtype == torch.float64


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_double_precision_gives_the_scores_of_the_network(rows, configuration, monkeypatch):
    X, Y = rows
    # Every row is then one for which single precision is not enough.
    monkeypatch.setattr("protolabel.pnml.scoring_heads._MIN_SHARE", np.inf)
    network = fitted(X, Y, **CONFIGURATIONS[configuration]).model_.network
    new = feature_rows(X[:33], CPU, torch.float64)
    expected = network.average_members(network.member_logits(new))
    found = NetworkScorer(network).scores(new)
    assert torch.allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("configuration", [c for c in CONFIGURATIONS if c != "embedding a label"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_score_of_a_row_does_not_depend_on_the_other_rows(rows, configuration, form):
    X, Y = rows
    X = sp.csr_array(X * (X > 3)) if form == "sparse" else X
    model = fitted(X, Y, **CONFIGURATIONS[configuration]).model_
    scorer = NetworkScorer(model.network)
    new = feature_rows(model.scaler.transform(X), CPU)
    together = scorer.scores(new)
    rng = np.random.default_rng(0)
    for size in (1, 1, 1, 2, 15, 16, 17, 33, 89):
        some = torch.from_numpy(rng.permutation(90)[:size])
        assert torch.equal(scorer.scores(new.take(some)), together[some])
    assert torch.equal(scorer.scores(new.take(torch.arange(90).flip(0))), together.flip(0))


def test_a_row_on_its_prototype_is_scored_in_double_precision(rows):
    X, _ = rows
    Y = np.zeros((90, 2), int)
    Y[3, 0] = Y[:40, 1] = 1
    model = fitted(X, Y).model_
    network = model.network
    new = feature_rows(model.scaler.transform(X), CPU)
    scorer = NetworkScorer(network)
    _, is_rough = scorer.single.scores(new)
    assert is_rough[3, 0]
    assert not is_rough.all()
    expected = network.average_members(network.member_logits(new))
    assert torch.allclose(scorer.scores(new)[3, 0], expected[3, 0], rtol=1e-9, atol=1e-9)


def test_rows_too_large_for_single_precision_have_the_scores_of_the_network(rows):
    X, Y = rows
    network = fitted(X, Y).model_.network
    new = feature_rows(X * 1e25, CPU)
    expected = network.average_members(network.member_logits(new))
    found = NetworkScorer(network).scores(new)
    assert torch.isfinite(found).all()
    assert torch.allclose(found, expected, rtol=1e-9)


def test_chosen_members_score_alone(rows):
    X, Y = rows
    network = fitted(X, Y, n_members=3, cross_fit=True).model_.network
    new = feature_rows(X[:9], CPU, torch.float64)
    expected = network.average_members(network.member_logits(new)[1:2])
    assert torch.allclose(NetworkScorer(network, [1]).scores(new), expected, rtol=1e-5, atol=1e-5)


def test_chunks_do_not_change_the_scores(rows, monkeypatch):
    X, Y = rows
    network = fitted(X, Y).model_.network
    new = feature_rows(X, CPU, torch.float64)
    whole = NetworkScorer(network).scores(new)
    monkeypatch.setattr("protolabel.pnml.scoring._MAX_CHUNK_ROWS", 16)
    assert torch.equal(NetworkScorer(network).scores(new), whole)


def test_no_rows_have_no_scores(rows):
    X, Y = rows
    network = fitted(X, Y).model_.network
    assert NetworkScorer(network).scores(feature_rows(X[:0], CPU)).shape == (0, 6)


def test_blocks_of_labels_do_not_change_the_scores(rows, monkeypatch):
    X, Y = rows
    network = fitted(X, Y).model_.network
    new = feature_rows(X, CPU, torch.float64)
    whole = NetworkScorer(network).scores(new)
    monkeypatch.setattr("protolabel.pnml.scoring._LABEL_BLOCK", 4)
    blocks = NetworkScorer(network)
    assert len(blocks.single.heads) == 2
    assert torch.allclose(blocks.scores(new), whole, rtol=1e-5, atol=1e-5)


def test_triangles_have_the_lengths_of_the_metrics():
    rng = torch.Generator().manual_seed(0)
    metric = torch.randn(5, 37, 37, generator=rng, dtype=torch.float64)
    rows = torch.randn(16, 37, generator=rng, dtype=torch.float64)
    expected = torch.einsum("krd,nd->nkr", metric, rows).square().sum(-1)
    groups = [group[0] for group in _triangles(metric[None])]
    assert [len(group) for group in groups] == [37, 21, 5]
    found = sum((rows[:, -len(g) :] @ g).unflatten(1, (-1, 5)).square().sum(1) for g in groups)
    assert torch.allclose(found, expected)
