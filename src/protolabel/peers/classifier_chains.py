"""Ensemble of classifier chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from protolabel.peers.base import PeerClassifier, check_count, check_positive, log_odds
from protolabel.preprocessing.features import Matrix, Scaling

# Far more than L-BFGS needs on scaled features.
_MAX_ITERATIONS = 1000


@dataclass(frozen=True)
class Chain:
    """A chain of linear models, its labels in the order of the chain.

    Parameters
    ----------
    order : ndarray of shape (n_labels,)
        Label at each position.
    weights : ndarray of shape (n_labels, n_features)
        Weights of the features.
    label_weights : ndarray of shape (n_labels, n_labels)
        Weights of the labels earlier in the chain; zero on and above the diagonal.
    intercepts : ndarray of shape (n_labels,)
    """

    order: np.ndarray
    weights: np.ndarray
    label_weights: np.ndarray
    intercepts: np.ndarray

    def probabilities(self, X: Matrix) -> np.ndarray:
        """Probabilities of all labels; each link sees the decisions of those before it."""
        scores = np.asarray(X @ self.weights.T + self.intercepts)
        decisions = np.zeros_like(scores)
        for position in range(len(self.order)):
            scores[:, position] += decisions @ self.label_weights[position]
            decisions[:, position] = scores[:, position] > 0
        probabilities = np.empty_like(scores)
        probabilities[:, self.order] = expit(scores)
        return probabilities


class ClassifierChainEnsemble(PeerClassifier):
    """Ensemble of chains of logistic regressions, ECC.

    Each chain has a random order of the labels and, by default, a bootstrap sample of the rows.
    A link is trained on the features and the true labels before it, and predicts from the
    features and the decisions before it. The probability of a label is the mean over chains.

    Parameters
    ----------
    n_chains : int, default=10
        Number of chains.
    C : float, default=1.0
        Inverse of the weight of the squared norm in every logistic regression.
    bootstrap : bool, default=True
        Train each chain on as many rows drawn with replacement; False for all rows.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Seed of orders and samples.

    Attributes
    ----------
    model_ : tuple of Chain
        The chains.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank: Classifier Chains for Multi-label
    Classification. Machine Learning 85, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> Y = np.hstack([X, 1 - X])
    >>> ClassifierChainEnsemble(3, random_state=0).fit(X, Y).predict([[1.0]])
    array([[1, 0]])
    """

    def __init__(
        self,
        n_chains: int = 10,
        *,
        C: float = 1.0,
        bootstrap: bool = True,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_chains = n_chains
        self.C = C
        self.bootstrap = bootstrap
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_chains", self.n_chains)
        check_positive("C", self.C)

    def _train(self, X: Matrix, Y: sp.csr_array, seed: int) -> tuple[Chain, ...]:
        rng = np.random.default_rng(seed)
        labels = Y.toarray()
        return tuple(self._train_chain(X, labels, rng) for _ in range(self.n_chains))

    def _train_chain(self, X: Matrix, labels: np.ndarray, rng: np.random.Generator) -> Chain:
        n_samples, n_labels = labels.shape
        order = rng.permutation(n_labels)
        rows = rng.integers(n_samples, size=n_samples) if self.bootstrap else np.arange(n_samples)
        targets = labels[rows][:, order]
        inputs = _side_by_side(X[rows], targets)
        n_features = X.shape[1]
        weights = np.zeros((n_labels, n_features + n_labels))
        intercepts = np.empty(n_labels)
        for position, y in enumerate(targets.T):
            seen = n_features + position
            positives = int(y.sum())
            if positives in (0, n_samples):
                # The sample lost one side of the label: all that is left of it is its rarity.
                intercepts[position] = np.log((positives + 0.5) / (n_samples - positives + 0.5))
                continue
            link = LogisticRegression(C=self.C, max_iter=_MAX_ITERATIONS).fit(inputs[:, :seen], y)
            weights[position, :seen] = link.coef_[0]
            intercepts[position] = link.intercept_[0]
        return Chain(order, weights[:, :n_features], weights[:, n_features:], intercepts)

    def _model_scores(self, X: Matrix) -> np.ndarray:
        return log_odds(np.mean([chain.probabilities(X) for chain in self.model_], axis=0))


def _side_by_side(X: Matrix, targets: np.ndarray) -> Matrix:
    """Features and labels as one matrix whose leading columns are cheap to take."""
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(targets.astype(X.dtype))], format="csr")
    return np.hstack([X, targets.astype(X.dtype)])
