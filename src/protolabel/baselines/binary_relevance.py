"""Binary relevance: one two-layer network per label, all trained side by side."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from protolabel.baselines._network_training import (
    BinaryRelevanceModel,
    TrainingSettings,
    network_logits,
    train_networks,
)
from protolabel.baselines.base import BaselineClassifier
from protolabel.pnml.settings import embedding_dim_of_paper
from protolabel.preprocessing.features import Scaling


class BinaryRelevanceMLP(BaselineClassifier):
    """Binary relevance with a multi-layer perceptron per label.

    Every label has a network of its own with one hidden layer (ReLU) and a logistic output;
    nothing is shared between labels. The networks are trained as
    :class:`sklearn.neural_network.MLPClassifier` trains one: Adam on mini-batches until the
    training loss of that label no longer falls. They are trained side by side on the same
    mini-batches, and a label that has stopped costs nothing more. The scores of a label depend
    neither on the other labels nor on its position.

    Parameters
    ----------
    hidden_dim : int or "auto", default="auto"
        Hidden units of each network; ``"auto"`` is 72 up to 200 features, else 128.
    alpha : float, default=1e-4
        Weight of the squared norm of the weights; biases are not penalised. As in
        scikit-learn, the penalty is divided by the batch size.
    learning_rate : float, default=1e-3
        Learning rate of Adam.
    batch_size : int or "auto", default="auto"
        Rows of a training step; ``"auto"`` is 200, or all rows if there are fewer.
    max_iter : int, default=200
        Largest number of epochs.
    tol : float, default=1e-4
        Smallest fall of the training loss that counts as improvement.
    n_iter_no_change : int, default=10
        Epochs without improvement that are tolerated before a label stops.
    published_hard_scores : bool, default=False
        Let ``decision_function`` return the 0/1 predictions, by which the published table of
        the comparison appears to have ranked. It exists only to compare with that table;
        ranking metrics of such scores do not describe the method.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Seed of start weights and mini-batches.

    Attributes
    ----------
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_iter_ : int
        Largest number of epochs over the labels; ``model_.n_iter`` has those of each label.
    model_ : BinaryRelevanceModel
        Trained networks of the labels that have positive and negative rows.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.

    References
    ----------
    M. R. Boutell, J. Luo, X. Shen, C. M. Brown: Learning multi-label scene classification.
    Pattern Recognition 37(9), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = BinaryRelevanceMLP(random_state=0).fit(X, Y)
    >>> float((model.predict(X) == Y).mean()) > 0.95
    True
    """

    def __init__(
        self,
        *,
        hidden_dim: int | Literal["auto"] = "auto",
        alpha: float = 1e-4,
        learning_rate: float = 1e-3,
        batch_size: int | Literal["auto"] = "auto",
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        published_hard_scores: bool = False,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hidden_dim = hidden_dim
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.published_hard_scores = published_hard_scores
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of every label, or its 0/1 prediction with ``published_hard_scores``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a binary target
        """
        scores = super().decision_function(X)
        return np.asarray(scores > 0, dtype=np.float64) if self.published_hard_scores else scores

    def _fit_labels(self, X: Any, Y: sp.csr_array, rng: np.random.Generator) -> None:
        settings = self._settings(*X.shape)
        self.model_: BinaryRelevanceModel = train_networks(
            X, Y, settings, seed=int(rng.integers(2**31))
        )
        self.n_iter_ = int(self.model_.n_iter.max(initial=1))

    def _label_scores(self, X: Any) -> np.ndarray:
        return network_logits(X, self.model_)

    def _settings(self, n_samples: int, n_features: int) -> TrainingSettings:
        """Check the parameters and resolve those that depend on the data."""
        for name, low in (("max_iter", 1), ("n_iter_no_change", 1)):
            check_scalar(getattr(self, name), name, Integral, min_val=low)
        for name in ("alpha", "tol"):
            check_scalar(getattr(self, name), name, Real, min_val=0)
        check_scalar(
            self.learning_rate, "learning_rate", Real, min_val=0, include_boundaries="neither"
        )
        return TrainingSettings(
            width=_number_or_auto(
                self.hidden_dim, "hidden_dim", embedding_dim_of_paper(n_features)
            ),
            alpha=float(self.alpha),
            learning_rate=float(self.learning_rate),
            batch_size=min(_number_or_auto(self.batch_size, "batch_size", 200), n_samples),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            n_iter_no_change=int(self.n_iter_no_change),
        )


def _number_or_auto(value: Any, name: str, automatic: int) -> int:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name}={value!r} is unknown; use a positive integer or 'auto'.")
        return automatic
    return int(check_scalar(value, name, Integral, min_val=1))
