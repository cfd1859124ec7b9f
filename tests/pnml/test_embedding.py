import math

import numpy as np
import pytest
import torch

from protolabel.pnml.embedding import Embedding
from protolabel.pnml.rows import feature_rows

CPU = torch.device("cpu")


def test_one_layer_equals_the_formula(generator):
    embedding = Embedding(5, 3, n_members=2, negative_slope=0.2, generator=generator).double()
    X = np.random.default_rng(0).normal(size=(4, 5))
    got = embedding(feature_rows(X, CPU, torch.float64)).detach().numpy()
    for member in range(2):
        weight = embedding.weight.detach().numpy()[:, member]
        hidden = X @ weight + embedding.bias.detach().numpy()[member]
        assert np.allclose(got[member], np.where(hidden > 0, hidden, 0.2 * hidden))


def test_a_hidden_layer_comes_before_the_embedding(generator):
    embedding = Embedding(5, 3, hidden_dim=7, generator=generator)
    assert embedding.weight.shape == (5, 1, 7)
    assert embedding(feature_rows(np.ones((4, 5)), CPU)).shape == (1, 4, 3)


def test_uniform_start_is_bounded_by_the_number_of_inputs(generator):
    embedding = Embedding(400, 50, generator=generator)
    assert embedding.weight.abs().max().item() == pytest.approx(1 / 20, rel=0.01)
    assert 0 < embedding.bias.abs().max().item() <= 1 / 20


def test_glorot_start_is_bounded_by_inputs_and_outputs_with_zero_bias(generator):
    embedding = Embedding(400, 50, weight_init="glorot", generator=generator)
    assert embedding.weight.abs().max().item() == pytest.approx(math.sqrt(6 / 450), rel=0.01)
    assert not embedding.bias.any()


def test_dropout_needs_a_generator(generator):
    embedding = Embedding(5, 200, embedding_dropout=0.5, generator=generator)
    rows = feature_rows(np.ones((1, 5)), CPU)
    assert torch.equal(embedding(rows), embedding(rows))
    dropped = embedding(rows, generator)
    assert (dropped == 0).float().mean().item() == pytest.approx(0.5, abs=0.15)
    kept = dropped != 0
    assert torch.allclose(dropped[kept], 2 * embedding(rows)[kept])
