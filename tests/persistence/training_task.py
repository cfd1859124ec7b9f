"""The training that is killed and the one that is not."""

import numpy as np

from protolabel import PNMLClassifier


def task() -> tuple[PNMLClassifier, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    Y = (X[:, :3] + 0.4 * rng.normal(size=(300, 3)) > 0.3).astype(int)
    model = PNMLClassifier(
        "multiple",
        embedding_dim=8,
        n_members=2,
        max_epochs=12,
        n_trees=3,
        n_landmarks=10,
        early_stopping=True,
        random_state=5,
    )
    return model, X, Y
