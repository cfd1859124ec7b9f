"""A tiny saved model."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from persistence.tampering import Tampered
from protolabel import PNMLClassifier
from protolabel.persistence import save_model


def labelled_rows(n_samples: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    Y = (X[:, :2] + 0.2 * rng.normal(size=(n_samples, 2)) > 0.1).astype(int)
    return X, Y


def rows_with_idle_columns() -> tuple[np.ndarray, np.ndarray]:
    """Rows most of whose columns say nothing, so that the kernel regression weighs them."""
    X, Y = labelled_rows(160)
    idle = np.random.default_rng(1).normal(size=(160, 9))
    return np.hstack([X, idle]), Y


@pytest.fixture(scope="session")
def tiny_model() -> PNMLClassifier:
    X, Y = labelled_rows()
    return PNMLClassifier(
        "single", embedding_dim=2, metric_rank=1, n_members=1, max_epochs=1, random_state=0
    ).fit(X, Y)


@pytest.fixture(scope="session")
def saved_model(tiny_model, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_model(tiny_model, folder)
    return folder


@pytest.fixture
def tampered(saved_model, tmp_path) -> Tampered:
    return Tampered(Path(shutil.copytree(saved_model, tmp_path / "model")))
