"""Weighted rules as arrays: what is kept of a BOOMER model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from protolabel.preprocessing.features import Matrix

_CHUNK_CELLS = 4_000_000


@dataclass(frozen=True)
class RuleEnsemble:
    """Rules that each add to the scores of the rows they cover.

    A rule covers the rows that meet all of its conditions; one without conditions covers all.

    Parameters
    ----------
    rule : ndarray of int, shape (n_conditions,)
        The rule that a condition belongs to.
    feature : ndarray of int, shape (n_conditions,)
        The feature it looks at.
    threshold : ndarray of float32, shape (n_conditions,)
        What the feature is compared with, in single precision.
    is_greater : ndarray of bool, shape (n_conditions,)
        Whether the feature has to be above the threshold, or else at most there.
    heads : CSR array of shape (n_rules, n_labels)
        What a rule adds to the score of each label.
    """

    rule: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    is_greater: np.ndarray
    heads: sp.csr_array

    def scores(self, X: Matrix) -> np.ndarray:
        """Sums of the heads that cover each row.

        Examples
        --------
        >>> heads = sp.csr_array([[-1.0, 0.5], [3.0, 0.0]])
        >>> rules = RuleEnsemble(
        ...     rule=np.array([1]),
        ...     feature=np.array([0]),
        ...     threshold=np.array([0.5], dtype=np.float32),
        ...     is_greater=np.array([True]),
        ...     heads=heads,
        ... )
        >>> rules.scores(np.array([[0.0], [1.0]])).tolist()
        [[-1.0, 0.5], [2.0, 0.5]]
        """
        n_rules, n_labels = self.heads.shape
        used, column = np.unique(self.feature, return_inverse=True)
        rule_of_condition = sp.csr_array(
            (np.ones(len(self.rule)), (np.arange(len(self.rule)), self.rule)),
            shape=(len(self.rule), n_rules),
        )
        scores = np.empty((X.shape[0], n_labels))
        step = max(1, _CHUNK_CELLS // (n_rules + len(self.feature) + 1))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            values = X[rows][:, used]
            values = values.toarray() if sp.issparse(values) else values
            values = values.astype(np.float32)[:, column]  # (n_rows, n_conditions)
            fails = (values > self.threshold) != self.is_greater
            covers = (fails.astype(np.float64) @ rule_of_condition) == 0  # (n_rows, n_rules)
            scores[rows] = covers.astype(np.float64) @ self.heads
        return scores
