"""Three labels in the plane, and networks with a plane as their embedding."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from protolabel import PNMLClassifier

LABELS = ("islands", "east", "north")


@cache
def toy_rows() -> tuple[np.ndarray, np.ndarray]:
    """360 rows with two features: two islands, what lies east, what lies north."""
    rng = np.random.default_rng(5)
    centres = np.array([[-1.6, -1.2], [1.6, 1.2], [-1.3, 1.4], [1.4, -1.3], [0.0, 0.0]])
    island = rng.integers(len(centres), size=360)
    X = centres[island] + rng.normal(scale=0.42, size=(360, 2))
    Y = np.column_stack([island < 2, X[:, 0] > 0.3, X[:, 1] > 0.2]).astype(int)
    return X, Y


def fit_toy(prototypes: str, **settings: Any) -> PNMLClassifier:
    """The paper's configuration with an embedding of two dimensions behind a hidden layer."""
    X, Y = toy_rows()
    given = {
        "embedding_dim": 2,
        "hidden_dim": 24,
        "max_epochs": 60,
        "learning_rate": 5e-3,
        "metric_penalty": 1e-3,
        "random_state": 3,
    }
    return PNMLClassifier.paper(prototypes, **(given | settings)).fit(X, Y)
