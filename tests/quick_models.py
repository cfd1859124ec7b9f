"""Models of few epochs, for tests in which only the rest matters."""

from protolabel import PNMLClassifier

FEW_EPOCHS = {"max_epochs": 3, "random_state": 0}


def quick(**params):
    return PNMLClassifier(**(FEW_EPOCHS | params))


def quick_paper(prototypes="single", **params):
    return PNMLClassifier.paper(prototypes, **(FEW_EPOCHS | params))
