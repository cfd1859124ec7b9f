"""One logistic regression per label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from protolabel.peers.base import PeerClassifier, check_positive
from protolabel.preprocessing.features import Matrix, Scaling

# Far more than L-BFGS needs on scaled features.
_MAX_ITERATIONS = 1000


@dataclass(frozen=True)
class LinearModel:
    """Weights of shape (n_labels, n_features) and intercepts of the labels."""

    weights: np.ndarray
    intercepts: np.ndarray


class LogisticRegressionPeer(PeerClassifier):
    """Binary relevance with scikit-learn's logistic regression.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the weight of the squared norm; smaller values give smaller weights.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Part of the contract, but without effect: L-BFGS draws nothing.

    Attributes
    ----------
    model_ : LinearModel
        Weights and intercepts of the learned labels.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> Y = np.hstack([X, 1 - X])
    >>> LogisticRegressionPeer().fit(X, Y).predict([[1.0]])
    array([[1, 0]])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_positive("C", self.C)

    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> LinearModel:  # noqa: ARG002
        fits = [
            LogisticRegression(C=self.C, max_iter=_MAX_ITERATIONS).fit(X, y) for y in Y.toarray().T
        ]
        return LinearModel(
            weights=np.vstack([fit.coef_ for fit in fits]),
            intercepts=np.concatenate([fit.intercept_ for fit in fits]),
        )

    def _model_scores(self, X: Matrix) -> np.ndarray:
        return np.asarray(X @ self.model_.weights.T + self.model_.intercepts)
