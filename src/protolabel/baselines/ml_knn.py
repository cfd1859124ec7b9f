"""ML-KNN: Bayes' rule on the number of neighbours that have a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_scalar

from protolabel.baselines._neighbour_counts import (
    CountTables,
    count_tables,
    look_up,
    neighbour_counts,
)
from protolabel.baselines._neighbours import nearest_neighbours
from protolabel.baselines.base import BaselineClassifier
from protolabel.preprocessing.features import Scaling


@dataclass(frozen=True)
class MLkNNModel:
    """Stored rows and count tables.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features)
        Scaled training rows.
    labels : CSR of shape (n_samples, n_labels)
        Their labels.
    neighbours : ndarray of shape (n_samples, n_neighbors)
        Neighbours of the training rows, nearest first.
    tables : CountTables
    """

    rows: Any
    labels: sp.csr_array
    neighbours: np.ndarray
    tables: CountTables


@dataclass(frozen=True)
class GridPoint:
    """Result of one number of neighbours.

    Parameters
    ----------
    n_neighbors : int
        As asked for.
    scores : ndarray of shape (n_samples, n_labels)
        What ``decision_function`` returns.
    predictions : ndarray of shape (n_samples, n_labels)
        What ``predict`` returns.
    """

    n_neighbors: int
    scores: np.ndarray
    predictions: np.ndarray


class MLkNN(BaselineClassifier):
    """Multi-label k nearest neighbours.

    For every label, the number of a row's neighbours that have it is turned into the posterior
    probability of the label by Bayes' rule; prior and likelihoods are smoothed frequencies on
    the training rows, each with its own neighbours among the other rows. The search is
    exhaustive and exact: neighbours are ordered by Euclidean distance, ties by row number.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours k of a row. With fewer other training rows, all of them are taken.
    smoothing : float, default=1.0
        Added to every frequency; 1 is Laplace's rule.
    published_self_neighbour : bool, default=False
        Count every training row among its own neighbours, as a widespread implementation
        does. It exists only to compare with the published table of the comparison.
    published_joint_score : bool, default=False
        Let ``decision_function`` return prior times likelihood without the evidence, which is
        not comparable across labels, as that implementation did; predictions are not changed.
        It exists only to compare with the published table.
    feature_scaling : {"auto", "tabular", "standard", "text", "unit", "none"}, default="auto"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`.
    random_state : int, RandomState instance or None, default=None
        Not used; the method has no randomness.

    Attributes
    ----------
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    model_ : MLkNNModel
        Stored rows and count tables of the labels that have positive and negative rows.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.

    References
    ----------
    M.-L. Zhang, Z.-H. Zhou: ML-KNN: A lazy learning approach to multi-label learning.
    Pattern Recognition 40(7), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> Y = (X > 0).astype(int)
    >>> model = MLkNN(n_neighbors=5).fit(X, Y)
    >>> model.predict([[1.0, -1.0]]).tolist()
    [[1, 0]]
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        smoothing: float = 1.0,
        published_self_neighbour: bool = False,
        published_joint_score: bool = False,
        feature_scaling: Scaling = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.published_self_neighbour = published_self_neighbour
        self.published_joint_score = published_joint_score
        self.feature_scaling = feature_scaling
        self.random_state = random_state

    def decision_function(self, X: Any) -> np.ndarray:
        """Posterior log-odds, or joint probabilities with ``published_joint_score``.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a binary target
        """
        if not self.published_joint_score:
            return super().decision_function(X)
        rows = self.scaler_.transform(self._checked(X))
        joint = look_up(self.model_.tables.joint, self._counts(rows))
        scores = self.sides_.complete(joint)
        return scores.ravel() if self._kind == "binary" else scores

    def scores_for_grid(
        self, X: Any, y: Any, X_new: Any, n_neighbors: Sequence[int]
    ) -> Iterator[GridPoint]:
        """Fit to X and y and score X_new with several numbers of neighbours.

        Each result equals that of a separate fit; all of them cost one search of neighbours.
        The estimator itself is not changed.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training rows.
        y : array-like, sparse matrix, data frame or list
            Their labels in a multi-label form.
        X_new : array-like, sparse matrix or data frame of shape (n_new, n_features)
            Rows to score.
        n_neighbors : sequence of int
            Values of the parameter.

        Yields
        ------
        GridPoint
            In ascending order of ``n_neighbors``.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.arange(20.0).reshape(-1, 1)
        >>> Y = (X > 9).astype(int)
        >>> grid = MLkNN().scores_for_grid(X, Y, [[3.0]], [3, 5])
        >>> [(point.n_neighbors, point.scores.shape) for point in grid]
        [(3, (1, 1)), (5, (1, 1))]
        """
        ks = sorted({int(check_scalar(k, "n_neighbors", Integral, min_val=1)) for k in n_neighbors})
        if not ks:
            raise ValueError("n_neighbors is empty; pass at least one number of neighbours.")
        model: MLkNN = clone(self).set_params(n_neighbors=ks[-1]).fit(X, y)
        if model._kind != "multilabel":
            raise ValueError(
                f"y is a {model._kind} target with one class per row; scores_for_grid is for "
                "multi-label targets, fit one model per value instead."
            )
        return model._grid_points(X_new, ks)

    def _grid_points(self, X_new: Any, ks: list[int]) -> Iterator[GridPoint]:
        """Results for values of k up to the one that this model was fitted with."""
        labels, largest = self.model_.labels, self.model_.neighbours.shape[1]
        rows = self.scaler_.transform(self._checked(X_new))
        neighbours = nearest_neighbours(self.model_.rows, rows, largest)
        sizes = [min(k, largest) for k in ks]
        stored_counts = neighbour_counts(self.model_.neighbours, labels, sizes)
        new_counts = neighbour_counts(neighbours, labels, sizes)
        for k, size, stored, new in zip(ks, sizes, stored_counts, new_counts, strict=True):
            tables = count_tables(stored, labels, size, self.smoothing)
            log_odds = self.sides_.complete(look_up(tables.log_odds, new))
            scores = log_odds
            if self.published_joint_score:
                scores = self.sides_.complete(look_up(tables.joint, new))
            yield GridPoint(k, scores, self._decide(log_odds))

    def _fit_labels(self, X: Any, Y: sp.csr_array, rng: np.random.Generator) -> None:  # noqa: ARG002
        check_scalar(self.n_neighbors, "n_neighbors", Integral, min_val=1)
        check_scalar(self.smoothing, "smoothing", Real, min_val=0, include_boundaries="neither")
        n_others = X.shape[0] - (not self.published_self_neighbour)
        size = min(int(self.n_neighbors), n_others)
        neighbours = nearest_neighbours(
            X, X, size, queries_are_stored=not self.published_self_neighbour
        )
        (counts,) = neighbour_counts(neighbours, Y, [size])
        self.model_ = MLkNNModel(
            rows=sp.csr_array(X) if sp.issparse(X) else X,
            labels=sp.csr_array(Y),
            neighbours=neighbours,
            tables=count_tables(counts, Y, size, float(self.smoothing)),
        )

    def _label_scores(self, X: Any) -> np.ndarray:
        return look_up(self.model_.tables.log_odds, self._counts(X))

    def _counts(self, rows: Any) -> np.ndarray:
        """Labels among the neighbours of scaled rows."""
        size = self.model_.neighbours.shape[1]
        neighbours = nearest_neighbours(self.model_.rows, rows, size)
        (counts,) = neighbour_counts(neighbours, self.model_.labels, [size])
        return counts
