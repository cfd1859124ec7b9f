"""The straight line from a baseline to a row, along which pulls of features are collected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class StraightPath:
    """Points between a baseline and a row, both scaled, of shape (n_features,)."""

    start: np.ndarray
    end: np.ndarray

    @cached_property
    def columns(self) -> np.ndarray:
        """Features in which the two differ; the others have no pull."""
        return np.flatnonzero(self.start != self.end)

    def points(self, n_steps: int) -> np.ndarray:
        """Middles of equal steps, (n_steps, n_features)."""
        return self._at((np.arange(n_steps) + 0.5) / n_steps)

    def ends(self, n_steps: int) -> np.ndarray:
        """Where the steps begin and end, (n_steps + 1, n_features)."""
        return self._at(np.arange(n_steps + 1) / n_steps)

    def _at(self, shares: np.ndarray) -> np.ndarray:
        return np.asarray(self.start + shares[:, None] * (self.end - self.start))
