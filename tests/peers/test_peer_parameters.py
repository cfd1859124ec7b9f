"""Wrong parameters are refused with what was received and expected, on any data."""

import numpy as np
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

X = np.arange(8.0).reshape(4, 2)
ONE_SIDED = np.tile([0, 1], (4, 1))


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        (RandomForestPeer(0), "n_trees=0; expected an integer of at least 1"),
        (ExtraTreesPeer(min_samples_leaf=0), "min_samples_leaf=0; expected an integer"),
        (LogisticRegressionPeer(-1.0), "C=-1.0; expected a number above 0"),
        (MultilabelMLP(max_epochs=1.5), "max_epochs=1.5; expected an integer"),
        (ClassifierChainEnsemble(True), "n_chains=True; expected an integer"),
        (ClassifierChainEnsemble(C=np.nan), "C=nan; expected a number above 0"),
        (MultilabelMLP(hidden_dim="8"), "hidden_dim='8'; expected an integer"),
        (MultilabelMLP(alpha=np.inf), "alpha=inf; expected a number above 0"),
        (XGBoostPeer(learning_rate=2.0), "learning_rate=2.0; .* at most 1.0"),
        (XGBoostPeer(subsample=0.0), "subsample=0.0; .* at most 1.0"),
        (BoomerPeer(n_rules=-3), "n_rules=-3; expected an integer"),
        (BoomerPeer(shrinkage=0), "shrinkage=0; .* at most 1.0"),
        (BoomerPeer(timeout=0), "timeout=0; expected a number above 0"),
    ],
)
def test_wrong_parameter_is_refused_even_with_nothing_to_learn(peer, message):
    with pytest.raises(ValueError, match=message):
        peer.fit(X, ONE_SIDED)
