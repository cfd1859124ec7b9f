"""What input scaling needs to know of the columns, gathered from parts of the rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

Matrix = Any  # ndarray of shape (n_samples, n_features) or CSR

_LARGEST = 1e150


@dataclass(frozen=True)
class ColumnStatistics:
    """Columns of a table that is never held at once.

    ``mean``, ``variance`` and ``n_nonzero`` (n_features,); ``zero_share``, ``smallest`` and
    ``is_whole`` are of all cells, ``length_range`` the smallest and largest length of a row that
    is not zero.
    """

    n_rows: int
    mean: np.ndarray
    variance: np.ndarray
    n_nonzero: np.ndarray
    zero_share: float
    smallest: float
    is_whole: bool
    length_range: tuple[float, float]
    is_sparse: bool
    dtype: np.dtype[Any]

    @property
    def sizes(self) -> np.ndarray:
        """Root mean square of the cells of each column that are not zero, (n_features,)."""
        squares = self.n_rows * (self.variance + self.mean**2)
        return np.asarray(np.sqrt(squares / np.maximum(self.n_nonzero, 1)))

    @classmethod
    def of(cls, parts: Iterable[Matrix]) -> ColumnStatistics:
        """Gather the statistics of all parts; there must be a row.

        Means and sums of squares of two sets of rows are joined by the formula of Chan, Golub and
        LeVeque (1979), which does not cancel.

        Examples
        --------
        >>> import numpy as np
        >>> found = ColumnStatistics.of([np.array([[1.0]]), np.array([[3.0], [5.0]])])
        >>> found.mean.tolist(), found.n_rows
        ([3.0], 3)
        """
        n_rows, smallest, is_whole = 0, np.inf, True
        shortest, longest = np.inf, 0.0
        mean = squares = n_nonzero = np.zeros(0)
        for part in parts:
            n_part = part.shape[0]
            _check_sizes(part)
            part_mean, part_squares = _moments(part)
            counts = np.asarray((part != 0).sum(axis=0)).ravel().astype(np.float64)
            smallest = min(smallest, float(part.min()) if n_part else np.inf)
            is_whole = is_whole and _is_whole(part)
            lengths = _lengths(part)
            shortest = min(shortest, lengths[lengths > 0].min(initial=np.inf))
            longest = max(longest, lengths.max(initial=0.0))
            if n_rows == 0:
                mean, squares, n_nonzero = part_mean, part_squares, counts
            else:
                share = n_part / (n_rows + n_part)
                step = part_mean - mean
                squares = squares + part_squares + n_rows * share * step**2
                mean = mean + share * step
                n_nonzero = n_nonzero + counts
            n_rows += n_part
            is_sparse, dtype = bool(sp.issparse(part)), part.dtype
        if n_rows == 0:
            raise ValueError("There is no row to measure the columns with.")
        n_cells = n_rows * len(mean)
        return cls(
            n_rows=n_rows,
            mean=mean,
            variance=squares / n_rows,
            n_nonzero=n_nonzero,
            zero_share=1 - float(n_nonzero.sum()) / n_cells,
            smallest=smallest,
            is_whole=is_whole,
            length_range=(float(shortest), float(longest)),
            is_sparse=is_sparse,
            dtype=dtype,
        )


def _check_sizes(part: Matrix) -> None:
    """Refuse values whose squares are no numbers."""
    largest = max(float(part.max()), -float(part.min())) if part.shape[0] else 0.0
    if largest > _LARGEST:
        raise ValueError(
            f"X has values of up to {largest:.1g}, expected at most {_LARGEST:.0e}: squares of "
            "larger ones are no numbers; measure such columns in another unit."
        )


def _moments(part: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Mean of every column and sum of the squared deviations from it."""
    n_part = part.shape[0]
    if not sp.issparse(part):
        mean = part.mean(axis=0, dtype=np.float64)
        return mean, np.square(part - mean).sum(axis=0)
    mean = np.asarray(part.mean(axis=0, dtype=np.float64)).ravel()
    rows, n_columns = part.tocsr(), part.shape[1]
    columns, stored = rows.indices, np.square(rows.data - mean[rows.indices])
    n_stored = np.bincount(columns, minlength=n_columns)
    # Deviations, not squares less the square of the mean, which would leave rounding.
    squares = np.bincount(columns, stored, minlength=n_columns) + (n_part - n_stored) * mean**2
    return mean, squares


def _is_whole(part: Matrix) -> bool:
    values = part.data if sp.issparse(part) else part
    return bool((values == np.rint(values)).all())


def _lengths(part: Matrix) -> np.ndarray:
    if sp.issparse(part):
        part = part.astype(np.float64)
        return np.asarray(np.sqrt(part.multiply(part).sum(axis=1))).ravel()
    return np.asarray(np.linalg.norm(np.asarray(part, dtype=np.float64), axis=1))
