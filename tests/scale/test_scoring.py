"""Prepared scores against those that the network computes step by step."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from protolabel import PNMLClassifier
from protolabel.pnml.row_scoring import MatrixScorer, RowScorer
from protolabel.pnml.rows import feature_rows
from protolabel.pnml.scoring import Head, LinearHead, NetworkScorer

CPU = torch.device("cpu")

CONFIGURATIONS = {
    "paper": {},
    "odd dimension": {"embedding_dim": 37},
    "small dimension": {"embedding_dim": 3},
    "low rank": {"metric_rank": 2},
    "plain distance": {"metric": "euclidean"},
    "squared": {"squared_distance": True},
    "squared, members": {
        "squared_distance": True,
        "n_members": 3,
        "cross_fit": True,
        "metric_rank": 2,
        "class_prior": "learned",
    },
    "squared, plain": {"squared_distance": True, "metric": "euclidean"},
    "squared, several": {
        "squared_distance": True,
        "prototypes": "multiple",
        "concentration": 1.0,
    },
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
    assert torch.allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_single_row_has_the_scores_it_has_among_others(rows, configuration, form):
    X, Y = rows
    X, Y = sp.csr_array(X) if form == "sparse" else X, Y[:, :4]  # labels that all members know
    scorer = MatrixScorer(fitted(X, Y, **CONFIGURATIONS[configuration]).model_.network)
    is_linear = configuration in ("squared", "squared, members", "squared, plain")
    assert is_linear == isinstance(getattr(scorer.of_many, "heads", [None])[0], LinearHead)
    follows = configuration not in ("plain distance", "embedding a label") and not is_linear
    assert (scorer.of_one is not None) == follows
    expected = scorer.scores(X[:9])
    for place in range(9):
        found = scorer.scores(X[place : place + 1])
        assert np.allclose(found, expected[[place]], rtol=1e-9, atol=1e-9)


def test_linear_log_odds_are_prepared_without_what_is_quadratic(rows, monkeypatch):
    X, Y = rows
    network = fitted(X, Y, squared_distance=True).model_.network
    monkeypatch.delattr(Head, "of")
    scorer = NetworkScorer(network)
    assert all(isinstance(head, LinearHead) for head in scorer.heads)
    kept = sum(head.weight.numel() + head.constant.numel() for head in scorer.heads)
    assert kept == 6 * (20 + 1)


def test_a_row_too_large_for_single_precision_warns_no_more_than_many(rows):
    X, Y = rows
    scorer = MatrixScorer(fitted(X, Y[:, :4]).model_.network)
    assert scorer.of_one is not None
    with np.errstate(all="raise"):
        scorer.of_one.scores(1e39 * X[:1])


def test_rows_of_pairs_and_of_labels_that_a_member_does_not_know_are_scored_as_many(
    rows, monkeypatch
):
    X, Y = rows
    assert not RowScorer.can_follow(NetworkScorer(fitted(X, Y).model_.network))
    network = fitted(X, Y[:, :4], embedding_dim=37).model_.network
    assert RowScorer.can_follow(NetworkScorer(network))
    monkeypatch.setattr("protolabel.pnml.scoring._MIN_LABELS_OF_PAIRS", 1)
    assert not RowScorer.can_follow(NetworkScorer(network))


def test_a_single_row_that_is_no_number_to_a_member_is_scored_by_the_others(rows):
    X, Y = rows
    network = fitted(X, Y[:, :4], n_members=3, cross_fit=True).model_.network
    network.log_prior_odds.data[1, 2] = torch.nan
    expected = network.average_members(network.member_logits(feature_rows(X[:1], CPU)))
    assert np.allclose(MatrixScorer(network).scores(X[:1]), expected.numpy(), rtol=1e-9)


def test_chosen_members_score_alone(rows):
    X, Y = rows
    network = fitted(X, Y, n_members=3, cross_fit=True).model_.network
    new = feature_rows(X[:9], CPU, torch.float64)
    expected = network.average_members(network.member_logits(new)[1:2])
    assert torch.allclose(NetworkScorer(network, [1]).scores(new), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("size", "value", "n_heads"), [("_MAX_CHUNK_ROWS", 16, 1), ("_LABEL_BLOCK", 4, 2)]
)
def test_parts_of_rows_and_of_labels_do_not_change_the_scores(
    rows, monkeypatch, size, value, n_heads
):
    X, Y = rows
    network = fitted(X, Y).model_.network
    new = feature_rows(X, CPU, torch.float64)
    whole = NetworkScorer(network).scores(new)
    monkeypatch.setattr(f"protolabel.pnml.scoring.{size}", value)
    parts = NetworkScorer(network)
    assert len(parts.heads) == n_heads
    assert torch.allclose(parts.scores(new), whole, rtol=1e-9, atol=1e-9)


def test_no_rows_have_no_scores(rows):
    X, Y = rows
    network = fitted(X, Y).model_.network
    assert NetworkScorer(network).scores(feature_rows(X[:0], CPU)).shape == (0, 6)


def test_pairs_of_coordinates_give_the_lengths_of_projections(rows, monkeypatch):
    X, Y = rows
    network = fitted(X, Y, embedding_dim=37).model_.network
    new = feature_rows(X, CPU, torch.float64)
    projected = NetworkScorer(network)
    monkeypatch.setattr("protolabel.pnml.scoring._MIN_LABELS_OF_PAIRS", 1)
    paired = NetworkScorer(network)
    assert paired.heads[0].is_paired
    assert not projected.heads[0].is_paired
    assert torch.allclose(paired.scores(new), projected.scores(new), rtol=1e-9, atol=1e-9)
