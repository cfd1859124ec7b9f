"""A short name for the content of a table, by which results of other tables are told apart."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.datasets.row_source import CheckedRows

Matrix = Any  # ndarray, CSR or rows on disk


def matrix_digest(matrix: Matrix) -> str:
    """Hexadecimal digest of shape, type and all entries.

    Examples
    --------
    >>> matrix_digest(np.eye(2)) == matrix_digest(np.eye(2))
    True
    >>> matrix_digest(np.eye(2)) == matrix_digest(sp.csr_array(np.eye(2)))
    False
    """
    digest = hashlib.sha256(str(matrix.shape).encode())
    if isinstance(matrix, CheckedRows):
        for part in matrix.parts():
            digest.update(matrix_digest(part).encode())
        return digest.hexdigest()
    parts = (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,)
    for part in parts:
        digest.update(str(part.dtype).encode())
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
