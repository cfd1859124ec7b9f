"""Cells of a label matrix, whatever type they are stored as."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

_NUMBERS = (bool, np.bool_, Real, Decimal)


def frame_cells(frame: Any) -> np.ndarray:
    """Cells of a label frame, read column by column where the columns differ in type."""
    cells = np.asarray(frame.to_numpy())
    if _is_plain(cells) and is_binary(cells):
        return cells
    cells = np.empty((len(frame), len(frame.columns)), dtype=bool)
    for position, name in enumerate(frame.columns):
        column = np.asarray(frame[name].to_numpy())
        check_binary(column, f"The column {str(name)!r} of Y")
        cells[:, position] = column != 0
    return cells


def check_binary(cells: np.ndarray, name: str) -> None:
    """Say which values are neither 0 nor 1."""
    if not is_binary(cells):
        raise ValueError(
            f"{name} contains {_describe_odd(cells)}; a label matrix may contain only 0 and 1. "
            "Encode absent labels as 0 and present ones as 1, and leave out rows whose labels "
            "are not known."
        )


def is_binary(cells: np.ndarray) -> bool:
    """Whether every cell is 0 or 1, or False or True."""
    if _is_plain(cells):
        return bool(((cells == 0) | (cells == 1)).all())
    return cells.dtype == object and not _odd_objects(cells)


def is_zero_or_one(value: Any) -> bool:
    """Whether a single cell is 0 or 1; the texts "0" and "1" are not."""
    return isinstance(value, _NUMBERS) and value in (0, 1)


def _is_plain(cells: np.ndarray) -> bool:
    return cells.dtype.kind in "biuf"


def _odd_objects(cells: np.ndarray) -> list[Any]:
    values = cells.ravel().tolist()
    with suppress(TypeError):  # of a cell that cannot be hashed, such as a list
        values = list(dict.fromkeys(values))
    return [value for value in values if not is_zero_or_one(value)]


def _describe_odd(cells: np.ndarray) -> str:
    if _is_plain(cells):
        odd = [str(value) for value in np.unique(cells[(cells != 0) & (cells != 1)])]
    elif cells.dtype == object:
        # Missing values are many objects that read the same.
        odd = list(dict.fromkeys(repr(value) for value in _odd_objects(cells)))
    else:
        return f"values of type {cells.dtype}"
    return "the value " + ", ".join(odd[:3])
