"""One network with a hidden layer that all labels share."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from protolabel.peers.base import PeerClassifier, check_count, check_positive
from protolabel.preprocessing.features import Matrix, Scaling


@dataclass(frozen=True)
class HiddenLayerModel:
    """Weights and biases of the hidden and of the output layer."""

    hidden_weights: np.ndarray
    hidden_biases: np.ndarray
    output_weights: np.ndarray
    output_biases: np.ndarray


class MultilabelMLP(PeerClassifier):
    """scikit-learn's multi-layer perceptron, fitted to all labels at once.

    One hidden layer of rectified units and one logistic output per label, trained by Adam.

    Parameters
    ----------
    hidden_dim : int, default=128
        Number of hidden units.
    max_epochs : int, default=50
        Number of passes over the rows; fewer where the training loss stops falling.
    alpha : float, default=0.1
        Weight of the squared norm.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Seed of weights and batches.

    Attributes
    ----------
    model_ : HiddenLayerModel
        Weights and biases.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> Y = np.hstack([X, 1 - X])
    >>> MultilabelMLP(random_state=0).fit(X, Y).predict([[1.0]])
    array([[1, 0]])
    """

    def __init__(
        self,
        hidden_dim: int = 128,
        *,
        max_epochs: int = 50,
        alpha: float = 0.1,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hidden_dim = hidden_dim
        self.max_epochs = max_epochs
        self.alpha = alpha
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("hidden_dim", self.hidden_dim)
        check_count("max_epochs", self.max_epochs)
        check_positive("alpha", self.alpha)

    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> HiddenLayerModel:
        network = MLPClassifier(
            hidden_layer_sizes=(self.hidden_dim,),
            max_iter=self.max_epochs,
            alpha=self.alpha,
            random_state=seed,
        )
        # Of 8-bit labels scikit-learn 1.9 mixes up all columns from the 128th on.
        targets = Y.toarray().astype(np.int64)
        with warnings.catch_warnings():
            # max_epochs is a budget here, not a failure to converge.
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(X, targets.ravel() if targets.shape[1] == 1 else targets)
        return HiddenLayerModel(
            network.coefs_[0], network.intercepts_[0], network.coefs_[1], network.intercepts_[1]
        )

    def _model_scores(self, X: Matrix) -> np.ndarray:
        # By hand, because predict_proba has lost the log-odds of all that is nearly certain.
        model = self.model_
        hidden = np.maximum(X @ model.hidden_weights + model.hidden_biases, 0)
        return np.asarray(hidden @ model.output_weights + model.output_biases)
