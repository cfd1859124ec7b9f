"""Rows at even distances of a dense table that comes in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

_MAX_ROWS = 10_000


class RowSample:
    """Keep every row, every second, every fourth ... of parts that pass, so that few are kept.

    Parameters
    ----------
    max_rows : int, default=10000

    Examples
    --------
    >>> import numpy as np
    >>> sample = RowSample(max_rows=4)
    >>> for part in sample.passing(np.arange(6.0).reshape(2, 3, 1)):
    ...     pass
    >>> sample.rows.ravel().tolist()
    [0.0, 2.0, 4.0]
    """

    def __init__(self, max_rows: int = _MAX_ROWS) -> None:
        self.max_rows = max_rows
        self._step = 1
        self._n_seen = 0
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
        # A copy, since a view would hold the whole part.
        self._parts.append(part[-self._n_seen % self._step :: self._step].copy())
        self._n_seen += len(part)
        while sum(map(len, self._parts)) > self.max_rows:
            self._parts = [self.rows[::2]]
            self._step *= 2
