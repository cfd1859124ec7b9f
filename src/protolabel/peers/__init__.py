"""Methods of other libraries under our contract, for comparison."""

from protolabel.peers.boomer import BoomerPeer
from protolabel.peers.boosted_trees import XGBoostPeer
from protolabel.peers.classifier_chains import ClassifierChainEnsemble
from protolabel.peers.extra_trees import ExtraTreesPeer
from protolabel.peers.logistic_regression import LogisticRegressionPeer
from protolabel.peers.multilabel_mlp import MultilabelMLP
from protolabel.peers.random_forest import RandomForestPeer

__all__ = [
    "BoomerPeer",
    "ClassifierChainEnsemble",
    "ExtraTreesPeer",
    "LogisticRegressionPeer",
    "MultilabelMLP",
    "RandomForestPeer",
    "XGBoostPeer",
]
