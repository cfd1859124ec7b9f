"""Data frames that cannot be features: which column is in the way, and what to do about it.

scikit-learn's check of rows knows no columns, and takes dates for the nanoseconds they are kept in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from protolabel.missing_labels import check_not_masked

_MOST_NAMED = 3
_NUMBERS = re.compile(r"u?int\d|float|double|halffloat|bool|sparse|complex")
_TIMES = ("date", "time", "duration", "period", "interval")


def check_features(X: Any) -> None:
    """Refuse a frame with columns of words or of times, and cells that are masked.

    Parameters
    ----------
    X : Any
        What is no data frame passes, but for arrays of times and masked cells.

    Raises
    ------
    TypeError
        The frame is lazy.
    ValueError
        A column cannot be a feature.
    """
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which holds no rows yet; pass X.collect().")
    check_not_masked(X, "X")
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(
            f"X has dates or times ({X.dtype}), expected numbers; make numbers that mean something "
            "of them, such as the day of the week or the days since an event."
        )
    if not _is_frame(X):
        return
    repeated = [name for name, count in Counter(X.columns).items() if count > 1]
    if repeated:
        raise ValueError(
            f"X has more than one column named {_some(repeated)}; give every column its own name."
        )
    dtypes = list(X.dtypes)
    kinds = {dtype: _kind(dtype) for dtype in set(dtypes)}  # few, of however many columns
    if all(_NUMBERS.match(kind) for kind in kinds.values()):
        return
    of_columns = [kinds[dtype] for dtype in dtypes]
    times = [n for n, kind in zip(X.columns, of_columns, strict=True) if kind.startswith(_TIMES)]
    if times:
        raise ValueError(
            f"X has dates or times in {_columns(times)}, expected numbers; make numbers that mean "
            "something of them, such as the day of the week or the days since an event, or drop "
            "them."
        )
    words = [
        name
        for name, kind in zip(X.columns, of_columns, strict=True)
        if not _NUMBERS.match(kind) and not _are_numbers(X[name])
    ]
    if words:
        raise ValueError(
            f"X has values that are no numbers in {_columns(words)}; encode them, for example "
            "with scikit-learn's make_column_transformer((OneHotEncoder("
            f"handle_unknown='ignore'), {words[:_MOST_NAMED]}), remainder='passthrough'), or drop "
            "them."
        )


def name_missing_values(X: Any) -> None:
    """Say where numbers are missing or infinite, after a check found that some are.

    Parameters
    ----------
    X : Any
        What is neither a data frame nor a dense matrix passes.

    Raises
    ------
    ValueError
        Values are missing or infinite.
    """
    if not _is_frame(X) and not (isinstance(X, np.ndarray) and X.ndim == 2):
        return
    for kind, is_bad, remedy in (
        ("NaN", np.isnan, "fill in with SimpleImputer of scikit-learn, for example, or drop"),
        ("infinity", np.isinf, "replace or drop"),
    ):
        found = {}
        for name, values in _number_columns(X):
            rows = np.flatnonzero(is_bad(values))
            if rows.size:
                found[name] = rows
        if found:
            first, rows = next(iter(found.items()))
            raise ValueError(
                f"Input X contains {kind} in {_columns(list(found))}; {first!r} has "
                f"{rows.size} such value(s), the first in row {rows[0]}; {remedy} what is not "
                "a finite number."
            )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(type(X), "dtypes") and getattr(X, "ndim", 2) == 2


def _kind(dtype: Any) -> str:
    """Name of a type, or of that of its categories."""
    categories = getattr(dtype, "categories", None)
    return str(getattr(categories, "dtype", dtype)).lower()


def _are_numbers(column: Any) -> bool:
    """Whether a column holds numbers or texts of numbers, as scikit-learn takes, or nothing."""
    if hasattr(column, "dropna"):
        column = column.dropna()
    try:
        return np.asarray(column, dtype=np.float64).ndim == 1
    except (TypeError, ValueError):
        return False


def _number_columns(X: Any) -> Iterator[tuple[Any, np.ndarray]]:
    if isinstance(X, np.ndarray):
        yield from ((place, X[:, place].astype(np.float64)) for place in range(X.shape[1]))
        return
    for name in X.columns:
        column = X[name]
        if hasattr(column, "isna"):  # pandas has a mark of its own for what is missing
            yield name, column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            yield name, np.asarray(column.to_numpy(), dtype=np.float64)


def _columns(names: list[Any]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {_some(names)}"


def _some(names: list[Any]) -> str:
    shown = ", ".join(map(repr, names[:_MOST_NAMED]))
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"
