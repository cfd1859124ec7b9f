"""How a model is called on many rows whose columns were matched already."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a model with named features take matrices: their columns were matched already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def in_parts(n_rows: int, n_labels: int) -> Sequence[slice]:
    """Rows in parts whose scores take some tens of megabytes."""
    size = max(1, min(n_rows, 4_000_000 // max(n_labels, 1)))
    return [slice(start, start + size) for start in range(0, n_rows, size)]
