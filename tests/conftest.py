"""Shared fixtures: settings with overrides, small labelled data, and the benchmark folder."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from protolabel import PNMLClassifier
from protolabel.pnml.settings import PNMLSettings

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _seed_torch():
    """Tests that draw from the global generator draw the same numbers every time."""
    torch.manual_seed(0)


@pytest.fixture
def settings():
    """Build resolved settings of the paper configuration, with overrides."""

    def build(**overrides) -> PNMLSettings:
        overrides = {"embedding_dim": 4, "prototypes": "single"} | overrides
        return PNMLClassifier.paper(**overrides)._settings(np.zeros((100, 5)), n_labels=1)

    return build


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.fixture
def labelled():
    """Two hundred rows whose three labels follow from the first three features."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 6))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(200, 3)) > 0.2).astype(int)
    return X, Y


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """Folder with the public benchmark files."""
    folder = os.environ.get("PROTOLABEL_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PROTOLABEL_DATA does not name a folder with the benchmark files")
    return Path(folder)
