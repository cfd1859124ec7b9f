"""Small fitted models of every make-up, to take apart."""

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel import PNMLClassifier

SMALL = {
    "n_members": 2,
    "max_epochs": 3,
    "embedding_dim": 6,
    "metric_rank": 4,
    "n_landmarks": 40,
    "n_trees": 12,
    "random_state": 0,
}


def labelled_rows(n_rows=160, n_features=6, seed=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * rng.uniform(0.5, 3, n_features) + 1
    centred = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (centred[:, :3] + 0.3 * rng.normal(size=(n_rows, 3)) > 0.2).astype(int)
    return X, Y


def word_counts(n_rows=160, n_features=40, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.15, size=(n_rows, n_features)) * 1.0
    Y = (X[:, :3] > 0).astype(int)
    return sp.csr_array(X), Y


@pytest.fixture(scope="session")
def data():
    return labelled_rows()


@pytest.fixture(scope="session")
def model(data):
    """Networks with multiple prototypes, kernel regression and forest."""
    return PNMLClassifier("multiple", **SMALL).fit(*data)


VARIANTS = {
    "all learners": {},
    "networks alone": {"n_landmarks": 0, "n_trees": 0},
    "single prototypes": {"prototypes": "single"},
    "kernel regression": {"n_trees": 0},
    "forest": {"n_landmarks": 0},
    "squared distances": {"prototypes": "single", "squared_distance": True},
    "euclidean": {"metric": "euclidean", "metric_rank": None},
    "own embeddings": {"shared_embedding": False, "n_landmarks": 0, "n_trees": 0},
    "trained variance": {
        "cluster_variance": "trainable",
        "prototype_update": "epoch",
        "mixing": "empirical",
    },
    "hidden layer": {"hidden_dim": 5},
    "unscaled": {"feature_scaling": "none"},
    "one network": {"n_members": 1},
    "standardised": {"feature_scaling": "standard"},
}


@pytest.fixture(scope="session", params=VARIANTS)
def variant(request, data):
    return PNMLClassifier(**({"prototypes": "multiple"} | SMALL | VARIANTS[request.param])).fit(
        *data
    )


@pytest.fixture(scope="session")
def coded_data():
    """Rows whose first feature is a code that says more than its size."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(1, 7, size=240), rng.normal(size=(240, 3))]).astype(float)
    return X, np.column_stack([np.isin(X[:, 0], (1, 4)), X[:, 1] > 0]).astype(int)


@pytest.fixture(scope="session")
def words():
    return word_counts()


@pytest.fixture(scope="session")
def word_model(words):
    return PNMLClassifier("single", **SMALL).fit(*words)
