"""Models of few epochs, for tests in which only the rest matters, and rows for some of them."""

import numpy as np

from protolabel import PNMLClassifier

FEW_EPOCHS = {"max_epochs": 3, "random_state": 0}


def quick(**params):
    return PNMLClassifier(**(FEW_EPOCHS | params))


def quick_paper(prototypes="single", **params):
    return PNMLClassifier.paper(prototypes, **(FEW_EPOCHS | params))


def rows_in_quarters():
    """Points of the plane with the label of their quarter, and of the sides that it is part of.

    Few landmarks and trees tell sides better than quarters, which sets of labels then make up for.
    """
    X = np.random.default_rng(4).normal(size=(160, 3))
    sides = X[:, :2] > 0
    return X, np.column_stack([np.eye(4)[sides @ [2, 1]], sides]).astype(int)
