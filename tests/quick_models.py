"""Models of few epochs, for tests in which only the rest matters, and rows for some of them."""

import numpy as np

from protolabel import PNMLClassifier

FEW_EPOCHS = {"max_epochs": 3, "random_state": 0}


def quick(**params):
    return PNMLClassifier(**(FEW_EPOCHS | params))


def quick_paper(prototypes="single", **params):
    return PNMLClassifier.paper(prototypes, **(FEW_EPOCHS | params))


def rows_with_one_label_each():
    """Points of the plane with the label of their quarter, so that labels exclude each other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    quarter = 2 * (X[:, 0] > 0) + (X[:, 1] + 0.3 * rng.normal(size=160) > 0)
    return X, np.eye(4, dtype=int)[quarter]
