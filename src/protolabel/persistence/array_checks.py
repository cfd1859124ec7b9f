"""Whether the arrays of a decoded record fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.safefiles.bundle import Bundle


def check_shapes(
    record: Any, place: str, shapes: Mapping[str, str], sizes: Mapping[str, int], bundle: Bundle
) -> None:
    """Compare the arrays of a record with their dimensions by name.

    Parameters
    ----------
    record : Any
    place : str
        Name of the record, for messages.
    shapes : mapping of str to str
        Dimensions of each array, separated by blanks: numbers, names of sizes, or names with
        ``+1``. A name that is not in ``sizes`` has to mean the same wherever it appears.
    sizes : mapping of str to int
    bundle : Bundle
    """
    known = dict(sizes)
    for name, dimensions in shapes.items():
        expected = dimensions.split()
        shape = attrgetter(name)(record).shape
        fits = len(shape) == len(expected) and all(
            size == _size_of(dimension, known, size)
            for size, dimension in zip(shape, expected, strict=True)
        )
        if not fits:
            bundle.refuse(f"{place}.{name} has the shape {shape}; expected ({', '.join(expected)})")


def check_membership(matrix: sp.csr_array, place: str, bundle: Bundle) -> None:
    """Refuse a matrix with anything but 0 and 1, or with a cell stored twice."""
    if not np.isin(matrix.data, (0, 1)).all() or not matrix.has_canonical_format:
        bundle.refuse(f"{place} is not a matrix of 0 and 1")


def check_indices(indices: np.ndarray, low: Any, high: Any, place: str, bundle: Bundle) -> None:
    """Refuse an array of anything but whole numbers from ``low`` to below ``high``."""
    if indices.dtype.kind not in "iu" or (indices < low).any() or (indices >= high).any():
        bundle.refuse(f"{place} holds numbers that point nowhere")


def _size_of(dimension: str, known: dict[str, int], found: int) -> int:
    if dimension.isdigit():
        return int(dimension)
    name, _, more = dimension.partition("+")
    return known.setdefault(name, found - int(more or 0)) + int(more or 0)
