"""What every multi-label classifier of the package does with the names of its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from protolabel.metrics.bipartition import exact_rows
from protolabel.metrics.truth import truth_columns
from protolabel.preprocessing.labels import TargetKind


class NamedLabelsMixin(ClassifierMixin):
    """Truth and predictions by name, for classifiers that know ``label_names_``."""

    _kind: TargetKind
    label_names_: np.ndarray

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose labels, or whose class, are all predicted right.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Raw features.
        y : in any form that ``fit`` takes
            Label sets and frames are matched to the labels of the model by name; a row with a
            label that the model does not know is wrong.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        """
        check_is_fitted(self)
        if self._kind != "multilabel":
            return float(super().score(X, y, sample_weight))
        truth, n_unseen = truth_columns(self, y)
        predicted = np.pad(self.predict(X), ((0, 0), (0, n_unseen)))
        return float(np.average(exact_rows(truth, predicted), weights=sample_weight))

    def predict_label_sets(self, X: Any) -> list[set[Any]]:
        """Names of the labels predicted for each row of a multi-label model.

        Examples
        --------
        >>> import numpy as np
        >>> from protolabel import PNMLClassifier
        >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
        >>> tags = [{"low"}] * 20 + [{"high", "rare"}] * 20
        >>> model = PNMLClassifier(random_state=0).fit(X, tags)
        >>> sorted(model.predict_label_sets([[1.0]])[0])
        ['high', 'rare']
        """
        check_is_fitted(self)
        if self._kind != "multilabel":
            raise ValueError(
                "predict_label_sets is for multi-label models; this one was fitted to one class "
                "per row, use predict."
            )
        return [set(self.label_names_[row.nonzero()]) for row in self.predict(X)]
