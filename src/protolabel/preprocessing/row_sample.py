"""Some rows of a dense table that comes in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

_MAX_ROWS = 10_000
# Multiples of the golden ratio spread evenly over all numbers of 64 bits (Knuth), whatever regular
# order the rows are in.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class RowSample:
    """Keep all rows, about half of them, a quarter ... of parts that pass, so that few are kept.

    A row is chosen by its number alone: the sample does not depend on the parts.

    Parameters
    ----------
    max_rows : int, default=10000

    Examples
    --------
    >>> import numpy as np
    >>> sample = RowSample(max_rows=3)
    >>> for part in sample.passing(np.arange(6.0).reshape(2, 3, 1)):
    ...     pass
    >>> sample.rows.ravel().tolist()
    [0.0, 2.0, 5.0]
    """

    def __init__(self, max_rows: int = _MAX_ROWS) -> None:
        self.max_rows = max_rows
        self._n_seen = 0
        # Rows whose place is below this are kept.
        self._end = np.uint64(2**64 - 1)
        self._places: list[np.ndarray] = []
        self._parts: list[np.ndarray] = []

    def passing(self, parts: Iterable[Any]) -> Iterator[Any]:
        """Hand the parts on, and keep some of their rows, of sparse ones none."""
        for part in parts:
            if not sp.issparse(part):
                self._keep(part)
            yield part

    @property
    def rows(self) -> np.ndarray:
        """The rows that were kept, (n_rows, n_features)."""
        return np.concatenate(self._parts)

    def _keep(self, part: np.ndarray) -> None:
        numbers = np.arange(self._n_seen, self._n_seen + len(part), dtype=np.uint64)
        self._n_seen += len(part)
        self._add(part, numbers * _GOLDEN)
        while sum(map(len, self._parts)) > self.max_rows:
            self._end //= np.uint64(2)
            rows, places = self.rows, np.concatenate(self._places)
            self._parts, self._places = [], []
            self._add(rows, places)

    def _add(self, rows: np.ndarray, places: np.ndarray) -> None:
        chosen = places < self._end
        self._places.append(places[chosen])
        # A copy, since a view would hold the whole part.
        self._parts.append(rows[chosen])
