"""Compressed rows in the one form that all learners read alike."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

_MAX_SHORT = np.iinfo(np.int32).max


def tidy_rows(X: sp.csr_array) -> sp.csr_array:
    """The same rows with every cell that is not zero stored once, in order, under short numbers.

    What is tidy is returned as it is; nothing is changed in place.

    Parameters
    ----------
    X : CSR of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> halves, columns, starts = np.array([1.0, 2.0]), np.array([3, 3]), np.array([0, 2])
    >>> rows = sp.csr_array((halves, columns, starts), shape=(1, 4))
    >>> tidy_rows(rows).data.tolist(), rows.data.tolist()
    ([3.0], [1.0, 2.0])
    >>> tidy_rows(sp.csr_array((np.zeros(2), columns, starts), shape=(1, 4))).nnz
    0
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    # Trees of scikit-learn and some solvers take no long column numbers.
    if X.indices.dtype != np.int32 and max(X.nnz, *X.shape) <= _MAX_SHORT:
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X
