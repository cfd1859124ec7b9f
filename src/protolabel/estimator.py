"""The scikit-learn surface that every multi-label classifier of the package shares.

A subclass brings ``_fit`` and ``_scores``; validation, the forms of targets and predictions,
and what scikit-learn expects of a classifier are here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from protolabel.all_or_nothing import all_or_nothing
from protolabel.datasets.row_files import mapped_rows
from protolabel.datasets.row_source import CheckedRows, RowSource
from protolabel.datasets.tidy_rows import tidy_rows
from protolabel.decision.decision_rule import apply_thresholds
from protolabel.decision.named_labels import NamedLabelsMixin
from protolabel.preprocessing.frames import check_features, name_missing_values
from protolabel.preprocessing.labels import Targets, encode_targets

# One order in memory: sums in another order differ in their last digits.
_ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
}
# Memory-mapped rows of more bytes stay on disk, in classifiers that can leave them there.
_MAX_MAPPED_BYTES = 2**28
# Scores that are held at once where only the best few are wanted.
_PART_CELLS = 2**22


class MultilabelClassifier(NamedLabelsMixin, BaseEstimator):
    """Base of the multi-label classifiers.

    Attributes
    ----------
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.
    """

    # Whether rows may stay on disk, see ``protolabel.datasets.open_rows``.
    _reads_sources: ClassVar[bool] = False

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Raw features.
        y : array-like, sparse matrix or data frame of shape (n_samples, n_labels), or list
            A 0/1 label matrix, a list or series of label sets, or one class per row.
        """
        return self._fit_checked(X, y)

    def _fit_checked(self, X: Any, y: Any, **options: Any) -> Self:
        """Check rows and labels and learn from them; options go to ``_fit``."""
        with all_or_nothing(self):
            X = self._checked(X, reset=True, may_stay_on_disk=True)
            targets = encode_targets(y)
            if X.shape[0] != targets.matrix.shape[0]:
                check_consistent_length(np.empty(X.shape[0]), targets.matrix)
            self._fit(X, targets, **options)
            self._kind = targets.kind
            self.classes_ = targets.classes
            self.label_names_ = targets.names
        return self

    @abstractmethod
    def _fit(self, X: Any, targets: Targets) -> None:
        """Learn from validated rows, an ndarray or CSR, and encoded targets."""

    @abstractmethod
    def _scores(self, X: Any) -> np.ndarray:
        """Scores of validated rows, (n_samples, n_labels), above zero where a label is likely."""

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores into a 0/1 matrix."""
        return apply_thresholds(scores, 0.0)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Turn scores into numbers between 0 and 1."""
        return np.asarray(expit(scores))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores to rank labels by, comparable across the labels of a row.

        Returns
        -------
        ndarray of shape (n_samples, n_labels), or (n_samples,) for a binary target
        """
        scores = self._scores_of(X)
        return scores.ravel() if self._kind == "binary" else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every label, or of every class of a one-dimensional target.

        Returns
        -------
        ndarray of shape (n_samples, n_labels or n_classes)
        """
        scores = self._scores_of(X)
        if self._kind == "multiclass":
            return np.asarray(softmax(scores, axis=1))
        positive = self._probabilities(scores)
        if self._kind == "multilabel":
            return positive
        if len(self.classes_) == 1:
            return np.ones_like(positive)
        return np.hstack([1 - positive, positive])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels of rows as a 0/1 matrix, or the class of a one-dimensional target."""
        scores = self._scores_of(X)
        if self._kind == "multilabel":
            return self._decide(scores)
        if self._kind == "multiclass":
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        positive = (scores.ravel() > 0).astype(np.int64)
        return np.asarray(self.classes_[np.minimum(positive, len(self.classes_) - 1)])

    def predict_top_k(
        self, X: Any, k: int = 5, *, names: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The labels with the largest scores of each row, best first.

        Rows are scored in parts: the scores of all rows and labels are never held at once.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Raw features.
        k : int, default=5
            How many labels of each row.
        names : bool, default=False
            Give the names of the labels instead of their column numbers.

        Returns
        -------
        labels : ndarray of shape (n_samples, k)
        scores : ndarray of shape (n_samples, k)
            As ``decision_function`` gives them.

        Examples
        --------
        >>> import numpy as np
        >>> from protolabel import PNMLClassifier
        >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
        >>> tags = [{"low"}] * 20 + [{"high", "rare"}] * 20
        >>> model = PNMLClassifier(random_state=0).fit(X, tags)
        >>> labels, scores = model.predict_top_k([[0.0]], k=1, names=True)
        >>> labels.tolist(), scores.shape
        ([['low']], (1, 1))
        """
        rows = self._checked(X, may_stay_on_disk=True)
        n_labels = len(self.label_names_)
        if self._kind == "binary":
            raise ValueError(
                "predict_top_k is for several labels or classes; this model was fitted to a "
                "binary target, use decision_function."
            )
        if not isinstance(k, Integral) or not 1 <= k <= n_labels:
            raise ValueError(f"k={k!r} cannot be used; expected 1 to the {n_labels} labels.")
        best = [_largest(self._scores(part), k) for part in _parts(rows, n_labels)]
        labels, scores = (np.concatenate(both) for both in zip(*best, strict=True))
        return (self.label_names_[labels] if names else labels), scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def _scores_of(self, X: Any) -> np.ndarray:
        """Check rows and score them, part by part where they stay on disk."""
        rows = self._checked(X, may_stay_on_disk=True)
        if isinstance(rows, CheckedRows):
            return np.concatenate([self._scores(part) for part in rows.parts()])
        return self._scores(rows)

    def _checked(
        self, X: Any, *, reset: bool = False, may_stay_on_disk: bool = False
    ) -> np.ndarray | sp.csr_array | CheckedRows:
        """Rows as the model takes them; ``reset`` where it has not seen any."""
        if not reset:
            if not hasattr(self, "n_features_in_"):
                check_is_fitted(self)
            rows = self._plain_rows(X)
            if rows is not None:
                return rows
        if may_stay_on_disk and self._reads_sources:
            source = X if isinstance(X, RowSource) else _large_map(X)
            if source is not None:
                return self._checked_source(source, reset)
        check_features(X)
        try:
            rows = validate_data(self, X, reset=reset, **_ROWS)
        except (TypeError, ValueError) as error:
            if any(
                sign in str(error) for sign in ("NaN", "NAType", "<NA>", "NoneType", "infinity")
            ):
                name_missing_values(X)
            raise
        return tidy_rows(rows) if sp.issparse(rows) else rows

    def _plain_rows(self, X: Any) -> np.ndarray | sp.csr_array | None:
        """What scikit-learn's check would return, where a look at the rows tells that it would.

        That check takes longer than the prediction of a row.
        """
        is_sparse = type(X) in (sp.csr_array, sp.csr_matrix)
        if not is_sparse and type(X) is not np.ndarray:
            return None
        is_expected = (
            X.ndim == 2
            and X.dtype in _ROWS["dtype"]
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )
        # A sum is not finite where one of its terms is not.
        with np.errstate(over="ignore", invalid="ignore"):
            if not is_expected or not np.isfinite((X.data if is_sparse else X).sum()):
                return None
        return tidy_rows(X) if is_sparse else np.ascontiguousarray(X)

    def _checked_source(self, source: RowSource, reset: bool) -> CheckedRows:
        """Rows on disk; their values are checked as they are read."""
        rows = CheckedRows(source)
        if reset:
            self.n_features_in_ = rows.shape[1]
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return rows


def _large_map(X: Any) -> RowSource | None:
    """Rows of a large memory-mapped matrix, None for everything else."""
    size = X.data.nbytes + X.indices.nbytes if sp.issparse(X) and X.format == "csr" else 0
    if isinstance(X, np.ndarray):
        size = X.nbytes
    return mapped_rows(X) if size > _MAX_MAPPED_BYTES else None


def _parts(rows: Any, n_labels: int) -> Iterator[Any]:
    step = max(1, _PART_CELLS // n_labels)
    for part in rows.parts() if isinstance(rows, CheckedRows) else [rows]:
        for start in range(0, part.shape[0], step):
            yield part[start : start + step]


def _largest(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of the k largest scores of each row, in falling order."""
    found = np.sort(np.argpartition(-scores, k - 1, axis=1)[:, :k], axis=1)
    values = np.take_along_axis(scores, found, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)
