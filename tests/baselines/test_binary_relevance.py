import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

from protolabel.baselines import _network_training as training
from protolabel.baselines._label_networks import (
    MiniBatch,
    Networks,
    hidden_and_logits,
    label_seeds,
    loss_and_gradients,
    start_networks,
)
from protolabel.baselines.binary_relevance import BinaryRelevanceMLP
from reference import binary_relevance as reference


@pytest.fixture
def fast():
    return BinaryRelevanceMLP(hidden_dim=8, max_iter=25, batch_size=32, random_state=0)


@pytest.fixture
def sparse_labelled(labelled):
    X, Y = labelled
    wide = np.zeros((len(X), 80))
    wide[:, :6] = np.maximum(X, 0)
    return sp.csr_array(wide), Y


def in_double(networks):
    hidden_weight, output_weight, hidden_bias, output_bias = (
        tensor.double() for tensor in networks.tensors
    )
    return Networks(hidden_weight, hidden_bias, output_weight, output_bias)


def numbers_of(networks, k):
    return (
        networks.hidden_weight[k].tolist(),
        networks.hidden_bias[k].tolist(),
        networks.output_weight[k].tolist(),
        float(networks.output_bias[k]),
    )


@pytest.fixture(params=["dense", "sparse"])
def problem(request):
    """Batch, its rows as an array, targets (n_labels, n_rows) and networks, in double."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 20)) * (rng.random((7, 20)) < 0.12)
    batch = MiniBatch(sp.csr_array(X) if request.param == "sparse" else X, torch.float64)
    targets = torch.from_numpy(rng.integers(0, 2, size=(3, 7)).astype(float))
    return batch, X, targets, in_double(start_networks(20, 4, [5, 6, 7]))


def test_logits_and_losses_equal_those_of_loops(problem):
    batch, X, targets, networks = problem
    _, logits = hidden_and_logits(batch, networks)
    losses, _ = loss_and_gradients(batch, targets, networks)
    for k in range(3):
        numbers = numbers_of(networks, k)
        expected = [reference.logit(x, *numbers) for x in X]
        assert np.allclose(logits[k], expected)
        assert np.isclose(losses[k], reference.loss(X, targets[k].tolist(), *numbers))


def test_gradients_equal_those_of_automatic_differentiation(problem):
    batch, X, targets, networks = problem
    leaves = [tensor.clone().requires_grad_() for tensor in networks.tensors]
    hidden_weight, output_weight, hidden_bias, output_bias = leaves
    hidden = torch.relu(torch.from_numpy(X) @ hidden_weight + hidden_bias[:, None])
    logits = torch.einsum("knm,km->kn", hidden, output_weight) + output_bias
    torch.nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="sum").div(
        7
    ).backward()
    _, gradients = loss_and_gradients(batch, targets, networks)
    expected = [entry for leaf in leaves for entry in leaf.grad]
    assert len(gradients) == len(expected)
    for found, wanted in zip(gradients, expected, strict=True):
        assert torch.allclose(found, wanted)


def test_two_steps_equal_adam_by_loops():
    X = np.array([[1.0], [-1.0], [0.5]])
    Y = sp.csr_array(np.array([[1], [0], [1]]))
    settings = training.TrainingSettings(
        width=1, alpha=0.3, learning_rate=0.1, batch_size=3, max_iter=2, tol=0.0, n_iter_no_change=9
    )
    seed = 3
    trained = training.train_networks(X, Y, settings, seed)
    networks = start_networks(1, 1, label_seeds(Y, seed))
    theta = [float(tensor.squeeze()) for tensor in networks.tensors]  # A, u, a, v
    states = [(0, 0.0, 0.0)] * 4
    step = 1e-6
    for _ in range(2):

        def loss_at(values):
            weight, output, bias, output_bias = values
            return reference.loss(X, [1, 0, 1], [[weight]], [bias], [output], output_bias) / 3

        gradients = []
        for i in range(4):
            up, down = list(theta), list(theta)
            up[i] += step
            down[i] -= step
            gradients.append((loss_at(up) - loss_at(down)) / (2 * step))
        for i, decay in enumerate([0.1, 0.1, 0.0, 0.0]):  # alpha / batch size, weights only
            theta[i], states[i] = reference.adam_step(theta[i], gradients[i], states[i], 0.1, decay)
    found = [
        trained.hidden_weight, trained.output_weight, trained.hidden_bias, trained.output_bias
    ]  # fmt: skip
    assert np.allclose([float(array.squeeze()) for array in found], theta, atol=1e-5)


@pytest.mark.parametrize("data", ["labelled", "sparse_labelled"])
def test_permuting_labels_permutes_the_scores(data, fast, request):
    X, Y = request.getfixturevalue(data)
    scores = fast.fit(X, Y).decision_function(X)
    order = [2, 0, 1]
    # Some processors round the products of a batch by their place in it.
    assert np.allclose(fast.fit(X, Y[:, order]).decision_function(X), scores[:, order], atol=1e-5)


@pytest.mark.parametrize("data", ["labelled", "sparse_labelled"])
def test_changing_one_label_leaves_the_others_unchanged(data, fast, request):
    X, Y = request.getfixturevalue(data)
    scores = fast.fit(X, Y).decision_function(X)
    changed = Y.copy()
    changed[::3, 1] = 1 - changed[::3, 1]
    other = fast.fit(X, changed).decision_function(X)
    assert (other[:, [0, 2]] == scores[:, [0, 2]]).all()
    assert (other[:, 1] != scores[:, 1]).any()


def test_the_size_of_the_groups_does_not_change_the_scores(labelled, fast, monkeypatch):
    X, Y = labelled
    scores = fast.fit(X, Y).decision_function(X)
    monkeypatch.setattr(training, "GROUP_BYTES", 1)
    assert training.group_size(6, 8) == 1
    assert (fast.fit(X, Y).decision_function(X) == scores).all()


def test_a_label_stops_alone_and_the_others_go_on_as_if_alone(labelled):
    X, Y = labelled
    model = BinaryRelevanceMLP(
        hidden_dim=8,
        learning_rate=0.01,
        batch_size=32,
        max_iter=80,
        tol=2e-3,
        n_iter_no_change=2,
        random_state=0,
    )
    together = model.fit(X, Y).model_
    assert len(set(together.n_iter)) > 1
    assert model.n_iter_ == max(together.n_iter)
    for k in range(3):
        alone = model.fit(X, Y[:, [k, k]]).model_
        assert alone.n_iter[0] == together.n_iter[k]
        assert np.allclose(alone.hidden_weight[0], together.hidden_weight[k], atol=1e-5)


def test_groups_stay_within_the_memory_budget():
    for n_features, width in ((72, 72), (1836, 128), (10**6, 128)):
        size = training.group_size(n_features, width)
        used = 16 * size * width * (n_features + 3)
        assert used <= training.GROUP_BYTES or size == 1


def test_scores_of_a_sparse_row_do_not_depend_on_the_other_rows(sparse_labelled, fast):
    X, Y = sparse_labelled
    X = X.tolil()
    X[::2] = 1.0  # dense rows beside sparse ones
    X = sp.csr_array(X)
    scores = fast.fit(X, Y).decision_function(X)
    for i in range(0, 200, 7):
        assert (fast.decision_function(X[[i]]) == scores[i]).all()


def test_dense_and_sparse_rows_give_the_same_model(sparse_labelled, fast):
    X, Y = sparse_labelled
    fast.set_params(feature_scaling="unit")
    scores = fast.fit(X, Y).decision_function(X)
    assert np.allclose(fast.fit(X.toarray(), Y).decision_function(X.toarray()), scores, atol=1e-3)


def test_a_separable_problem_is_learned_completely():
    X = np.random.default_rng(0).normal(size=(300, 2))
    X = X[(np.abs(X) > 0.2).all(axis=1)]
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] * X[:, 1] > 0]).astype(int)
    model = BinaryRelevanceMLP(learning_rate=0.01, random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_quality_of_one_label_equals_that_of_scikit_learn():
    X, y = make_classification(
        1200, 20, n_informative=6, n_clusters_per_class=3, flip_y=0.1, random_state=0
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours, theirs = [], []
    for seed in range(3):
        common = {"max_iter": 40, "n_iter_no_change": 40, "random_state": seed}
        model = BinaryRelevanceMLP(
            hidden_dim=32, learning_rate=0.01, feature_scaling="none", **common
        )
        scores = model.fit(X[:800], y[:800, None]).decision_function(X[800:])
        ours.append(roc_auc_score(y[800:], scores.ravel()))
        other = MLPClassifier((32,), learning_rate_init=0.01, **common).fit(X[:800], y[:800])
        theirs.append(roc_auc_score(y[800:], other.predict_proba(X[800:])[:, 1]))
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.02
    assert min(theirs) > 0.75


def test_hard_scores_are_the_predictions(labelled, fast):
    X, Y = labelled
    fast.set_params(published_hard_scores=True).fit(X, Y)
    scores = fast.decision_function(X)
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert (scores == fast.predict(X)).all()
    probabilities = fast.predict_proba(X)
    assert ((probabilities > 0.5) == (scores > 0)).all()


def test_the_seed_decides_the_model(labelled, fast):
    X, Y = labelled
    first = fast.fit(X, Y).decision_function(X)
    assert (fast.fit(X, Y).decision_function(X) == first).all()
    assert (fast.set_params(random_state=1).fit(X, Y).decision_function(X) != first).any()


def test_labels_with_one_side_are_never_or_always_predicted(labelled, fast):
    X, Y = labelled
    Y = np.hstack([Y, np.zeros((200, 1), int), np.ones((200, 1), int)])
    scores = fast.fit(X, Y).decision_function(X)
    assert (scores[:, 3] < scores[:, :3].min(axis=1)).all()
    assert (scores[:, 4] > scores[:, :3].max(axis=1)).all()
    assert (fast.predict(X)[:, 3:] == [0, 1]).all()
    assert len(fast.model_.n_iter) == 3


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_a_few_rows_are_enough(n_samples, fast):
    X, Y = np.arange(6.0).reshape(3, 2)[:n_samples], np.eye(3, dtype=int)[:n_samples]
    for rows in (X, np.zeros_like(X), sp.csr_array(X)):
        assert np.isfinite(fast.fit(rows, Y).decision_function(rows)).all()


def test_the_model_is_made_of_arrays(labelled, fast):
    model = fast.fit(*labelled).model_
    assert all(isinstance(value, np.ndarray) for value in dataclasses.astuple(model))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("hidden_dim", 0, "hidden_dim == 0, must be >= 1"),
        ("hidden_dim", "wide", "hidden_dim='wide' is unknown; use a positive integer or 'auto'"),
        ("batch_size", 0, "batch_size == 0, must be >= 1"),
        ("alpha", -1.0, "alpha == -1.0, must be >= 0"),
        ("learning_rate", 0.0, "learning_rate == 0.0, must be > 0"),
        ("max_iter", 0, "max_iter == 0, must be >= 1"),
        ("tol", -0.1, "tol == -0.1, must be >= 0"),
        ("n_iter_no_change", 0, "n_iter_no_change == 0, must be >= 1"),
    ],
)
def test_wrong_parameters_are_refused_on_any_data(parameter, value, message):
    for Y in (np.eye(3, dtype=int), np.zeros((3, 2), dtype=int)):
        with pytest.raises(ValueError, match=message):
            BinaryRelevanceMLP(**{parameter: value}).fit(np.eye(3), Y)


def test_a_diverging_loss_is_reported(labelled):
    X, Y = labelled
    model = BinaryRelevanceMLP(learning_rate=1e30, max_iter=5, random_state=0)
    with pytest.raises(ValueError, match="learning_rate=1e\\+30; use a smaller learning_rate"):
        model.fit(X, Y)
