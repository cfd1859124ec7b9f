"""Products of sparse rows with a sparse matrix of which few rows hold most of the entries.

Few words are in many texts: taken as arrays they are a small dense product, and what is left of
the matrix has a tenth of the entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from protolabel.companions.sparse_rows import dense_product, row_of_entries

# Share of stored entries from which on a row takes less time as an array.
_FILLED_SHARE = 1 / 16
# Filled rows take as much memory as twice the sparse matrix: so many for each entry of a column.
_FILLED_OF_AN_ENTRY = 3
# Filled rows that are copied together: larger copies come in new memory, which takes longer.
_ROWS_AT_ONCE = 8
# Cells of rows that are filled at a time.
_CHUNK_CELLS = 1_000_000


@dataclass(frozen=True)
class UnevenMatrix:
    """A sparse matrix in two parts.

    Parameters
    ----------
    filled : ndarray of shape (n_filled, n_columns)
        Rows of many entries.
    place : ndarray of int, shape (n_rows,)
        Number of a row among them, -1 for all others.
    others : CSR of shape (n_rows, n_columns)
        The same matrix without the entries of filled rows.
    """

    filled: np.ndarray
    place: np.ndarray
    others: sp.csr_array

    @classmethod
    def of(cls, matrix: sp.csr_array) -> UnevenMatrix:
        """Part a matrix."""
        sizes = np.diff(matrix.indptr)
        is_filled = sizes >= max(1, _FILLED_SHARE * matrix.shape[1])
        most = _FILLED_OF_AN_ENTRY * matrix.nnz // max(1, matrix.shape[1])
        is_filled[np.argsort(-sizes, kind="stable")[most:]] = False
        kept = np.repeat(~is_filled, sizes)
        starts = np.concatenate([[0], np.cumsum(np.where(is_filled, 0, sizes))])
        others = (matrix.data[kept], matrix.indices[kept], starts)
        return cls(
            filled=matrix[np.flatnonzero(is_filled)].toarray(),
            place=np.where(is_filled, np.cumsum(is_filled) - 1, -1),
            others=sp.csr_array(others, shape=matrix.shape),
        )

    def product(self, rows: sp.csr_array) -> np.ndarray:
        """Rows times the matrix, as an array; rows hold no column twice.

        Examples
        --------
        >>> matrix = sp.csr_array(np.array([[1.0, 0.0], [2.0, 3.0]]))
        >>> UnevenMatrix.of(matrix).product(sp.csr_array(np.array([[2.0, 1.0]]))).tolist()
        [[4.0, 3.0]]
        """
        place = self.place[rows.indices]
        stored = np.flatnonzero(place >= 0)
        place, values = place[stored], rows.data[stored]
        found = dense_product(rows, self.others)
        if rows.shape[0] == 1:
            found += self._sum_of_filled(place, values)
        else:
            row = row_of_entries(rows)[stored]
            step = max(1, _CHUNK_CELLS // max(1, len(self.filled)))
            for start in range(0, rows.shape[0], step):
                part = slice(*np.searchsorted(row, (start, start + step)))
                of_filled = np.zeros((min(step, rows.shape[0] - start), len(self.filled)))
                of_filled[row[part] - start, place[part]] = values[part]
                found[start : start + step] += of_filled @ self.filled
        return found

    def _sum_of_filled(self, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Weighted sum of some filled rows, a few of which are copied at a time."""
        total = np.zeros(self.filled.shape[1])
        for start in range(0, len(places), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            total += weights[part] @ self.filled.take(places[part], axis=0)
        return total
