"""Every peer at a size that is quick to fit, and the environment of BOOMER."""

import pytest

from protolabel.peers import (
    BoomerPeer,
    ClassifierChainEnsemble,
    ExtraTreesPeer,
    LogisticRegressionPeer,
    MultilabelMLP,
    RandomForestPeer,
    XGBoostPeer,
)
from protolabel.peers.boomer_environment import find_boomer_python

PEERS = {
    "random forest": (RandomForestPeer, {"n_trees": 30}),
    "extra trees": (ExtraTreesPeer, {"n_trees": 30}),
    "logistic regression": (LogisticRegressionPeer, {}),
    "classifier chains": (ClassifierChainEnsemble, {"n_chains": 3}),
    "multi-layer perceptron": (MultilabelMLP, {"max_epochs": 100}),
    "xgboost": (XGBoostPeer, {"n_rounds": 20}),
    "boomer": (BoomerPeer, {"n_rules": 60, "timeout": 60}),
}


def require_boomer() -> None:
    """Skip where BOOMER has no environment; the tests do not install one."""
    if find_boomer_python() is None:
        pytest.skip("BOOMER has no environment here; see protolabel.peers.boomer_environment")


@pytest.fixture(params=PEERS)
def make_peer(request):
    """Build each peer in turn, seeded and without input scaling unless told otherwise."""
    cls, settings = PEERS[request.param]
    if cls is XGBoostPeer:
        pytest.importorskip("xgboost", reason="the extra peers is not installed")
    if cls is BoomerPeer:
        require_boomer()

    def build(**params):
        return cls(**({"feature_scaling": "none", "random_state": 0} | settings | params))

    return build


@pytest.fixture
def boomer():
    """The environment of BOOMER, without which a test is skipped."""
    require_boomer()
