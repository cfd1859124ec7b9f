"""What a program has set of PyTorch around a fit does not reach the fit."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from protolabel.baselines.binary_relevance import BinaryRelevanceMLP
from protolabel.inspection import explain
from protolabel.persistence import load_model, save_model
from protolabel.pnml.label_sampling import MAX_LABELS_OF_A_STEP
from quick_models import quick, quick_paper

MODELS = {
    "recommended": lambda: quick(n_trees=5, n_landmarks=20),
    "fast": lambda: quick(effort="fast"),
    "compact": lambda: quick(n_trees=5, n_landmarks=20, compact=True),
    "multiple": lambda: quick_paper("multiple", positive_rate=0.5, negative_rate=0.5),
    "trained variance": lambda: quick_paper("multiple", cluster_variance="trainable"),
    "deep": lambda: quick_paper("single", hidden_dim=8),
    "labels apart": lambda: quick_paper("single", shared_embedding=False),
    "binary relevance": lambda: BinaryRelevanceMLP(max_iter=2, random_state=0),
}
AROUND = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 5))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(80, 3)) > 0.2).astype(int)


@pytest.fixture
def double_by_default():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def expected(rows):
    X, Y = rows
    return {name: make().fit(X, Y).decision_function(X) for name, make in MODELS.items()}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "binary relevance"])
def test_a_fit_learns_the_same_whatever_is_around_it(rows, expected, name, around):
    X, Y = rows
    with AROUND[around]():
        model = MODELS[name]().fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected[name])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("double_by_default")
def test_numbers_of_double_precision_by_default_change_nothing(rows, expected, name):
    X, Y = rows
    model = MODELS[name]().fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected[name])


@pytest.mark.usefixtures("double_by_default")
def test_streams_and_explanations_mind_nothing_around_them(rows):
    X, Y = rows
    for around in AROUND.values():
        with around():
            model = quick().partial_fit(X, Y)
            model.partial_fit(X, Y)
            found = explain(model, X[0], flips=False)
        plain = quick().partial_fit(X, Y)
        plain.partial_fit(X, Y)
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
        assert found.labels == explain(plain, X[0], flips=False).labels


def test_draws_of_labels_and_rows_do_not_depend_on_the_default_precision():
    X = sp.random(60, 20, density=0.2, format="csr", random_state=0)
    many = sp.random(60, MAX_LABELS_OF_A_STEP + 1, density=0.02, format="csr", random_state=1)
    many.data[:] = 1
    few = many[:, :4].toarray().astype(int)
    fits = [
        lambda: quick(effort="fast", max_epochs=1).fit(X, many),
        lambda: quick_paper("single", support_size=20, batch_size=10).fit(X, few),
        lambda: quick().partial_fit(X, few).partial_fit(X, few),
    ]
    before = torch.get_default_dtype()
    for fit in fits:
        expected = fit().decision_function(X)
        torch.set_default_dtype(torch.float64)
        try:
            found = fit().decision_function(X)
        finally:
            torch.set_default_dtype(before)
        np.testing.assert_array_equal(found, expected)


def test_a_model_loaded_within_inference_mode_can_be_explained_and_goes_on(rows, tmp_path):
    X, Y = rows
    model = quick(effort="fast").fit(X, Y)
    save_model(model, tmp_path / "m")
    expected = explain(model, X[0], flips=False).labels
    with torch.inference_mode():
        loaded = load_model(tmp_path / "m")
        assert explain(loaded, X[0], flips=False).labels == expected
        loaded.partial_fit(X, Y)
