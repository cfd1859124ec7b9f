"""Labels and cells that are not known, which neither training nor scoring takes for values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

_SETS = (set, frozenset)
# What a row of label sets may be; lists and arrays may be rows of a matrix as well.
ROW_TYPES = (*_SETS, list, tuple, np.ndarray)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    try:
        # only missing values differ from themselves
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:  # pandas.NA knows no answer
        return True


def check_not_masked(values: Any, name: str) -> None:
    """Refuse masked cells, whose values count for whoever does not know of masks."""
    parts = values if isinstance(values, (list, tuple)) else [values]
    masks = [np.ma.getmaskarray(part) for part in parts if isinstance(part, np.ma.MaskedArray)]
    n_masked = sum(int(mask.sum()) for mask in masks)
    if n_masked:
        raise ValueError(
            f"{name} has {n_masked} masked cells, which stand for missing values; fill them, "
            f"{name}.filled(...), or leave their rows out."
        )


def check_no_label_is_missing(sets: Iterable[Iterable[Any]]) -> None:
    """Refuse None and NaN in label sets, and say in which row."""
    for position, labels in enumerate(sets):
        for label in labels:
            if is_missing(label):
                raise ValueError(
                    f"Row {position} of y has the label {label!r}, which stands for a missing one; "
                    "leave it out of the set, or leave out rows whose labels are not known."
                )


def check_name_of_label(name: Any) -> None:
    """Refuse what cannot be looked up or stands for a missing label."""
    if not _has_hash(name) or is_missing(name):
        raise ValueError(
            f"{name!r} cannot be the name of a label; use a text, a number or another value that "
            "can be in a set and does not stand for a missing one."
        )


def _has_hash(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def check_rows_are_alike(rows: Sequence[Any]) -> None:
    """Refuse what is no row, such as None, among lists, arrays and sets that are."""
    if not any(isinstance(row, ROW_TYPES) for row in rows):
        return
    for position, row in enumerate(rows):
        if not isinstance(row, ROW_TYPES):
            raise ValueError(
                f"Row {position} of y is {row!r} but other rows are lists or sets of labels; pass "
                "an empty list, or zeros, for a row without labels, and leave out rows whose "
                "labels are not known."
            )


def has_sets_of_names(rows: Iterable[Any]) -> bool:
    """Whether some row is a set, or a list with a name in it, which no row of a matrix is."""
    return any(
        isinstance(row, _SETS)
        or (isinstance(row, ROW_TYPES) and any(isinstance(label, str) for label in row))
        for row in rows
    )
