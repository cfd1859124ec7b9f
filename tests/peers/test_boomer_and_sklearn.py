"""scikit-learn's own checks of BOOMER, on request: each of their many fits is a process."""

import os

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolabel.peers import BoomerPeer


@pytest.mark.skipif(
    os.environ.get("PROTOLABEL_CHECK_BOOMER") != "1",
    reason="takes minutes; set PROTOLABEL_CHECK_BOOMER=1 to run it",
)
@pytest.mark.usefixtures("boomer")
@parametrize_with_checks([BoomerPeer(n_rules=20)])
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
