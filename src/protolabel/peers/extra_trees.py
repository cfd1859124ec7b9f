"""Extremely randomised trees over all labels."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import ExtraTreesRegressor

from protolabel.peers.forests import ForestPeer


class ExtraTreesPeer(ForestPeer):
    """Extremely randomised trees that predict all labels at once.

    The probability of a label is the mean of its share in the leaves. A model takes about
    16 bytes per tree, leaf and label; with many rows and hundreds of labels raise
    ``min_samples_leaf``.

    Parameters
    ----------
    n_trees : int, default=300
        Number of trees.
    min_samples_leaf : int, default=3
        Smallest number of rows in a leaf. Three rank labels better than one where they are rare.
    max_features : {"sqrt", "log2"}, float or None, default="sqrt"
        Features tried at a split.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="none"
        Input scaling; trees need none.
    n_jobs : int or None, default=1
        Trees grown at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the features and thresholds tried.

    References
    ----------
    P. Geurts, D. Ernst, L. Wehenkel: Extremely Randomized Trees. Machine Learning 63, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> Y = np.hstack([X, 1 - X])
    >>> ExtraTreesPeer(10, random_state=0).fit(X, Y).predict([[1.0]])
    array([[1, 0]])
    """

    def _forest(self, **params: Any) -> ExtraTreesRegressor:
        return ExtraTreesRegressor(**params)
