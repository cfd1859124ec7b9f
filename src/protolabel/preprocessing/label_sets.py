"""Label sets in the forms people have them: lists, columns of a frame, arrays of objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.missing_labels import ROW_TYPES, check_rows_are_alike
from protolabel.preprocessing.label_cells import is_zero_or_one

_SETS = (set, frozenset)


def unpack_column(y: Any) -> Any:
    """A series or array of lists, tuples or sets as a list; every other target as it is.

    Its rows become sets, unless all of them have one 0 or 1 for each label as the rows of a
    matrix do.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_column(np.array([["calm"], ["calm", "calm"]], dtype=object))
    [{'calm'}, {'calm'}]
    """
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype == object:
        rows = y.tolist()
    elif hasattr(y, "to_list"):
        rows = y.to_list()
    elif isinstance(y, (list, tuple)) and (
        any(_is_array_of_names(row) for row in y) or _are_arrays_of_any_length(y) or _lacks_a_row(y)
    ):
        rows = list(y)
    else:
        return y
    if not any(isinstance(row, ROW_TYPES) for row in rows):
        return y
    check_rows_are_alike(rows)
    # Label sets are arrays in frames that were read from Parquet files.
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    return rows if _is_matrix(rows) else [set(row) for row in rows]


def are_label_sets(y: Any) -> bool:
    """A list whose rows are sets or tuples, or lists that do not form a 0/1 matrix."""
    if not isinstance(y, (list, tuple)) or len(y) == 0:
        return False
    if any(isinstance(row, _SETS) for row in y):
        return all(isinstance(row, (*_SETS, list, tuple)) for row in y)
    if not all(isinstance(row, (list, tuple)) for row in y):
        return False
    ragged = len({len(row) for row in y}) > 1
    return ragged or any(isinstance(label, str) for row in y for label in row)


def check_not_numbers_of_labels(rows: np.ndarray) -> None:
    """Refuse lists of as many label numbers each, which became the rows of an array."""
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or rows.min(initial=0) < 0:
        return
    odd = (rows > 1).any(axis=1)
    if odd.any():
        first = int(odd.argmax())
        raise ValueError(
            f"Y contains the value {rows[first].max()}; a label matrix may contain only 0 and 1. "
            f"If row {first}, {rows[first, :5].tolist()}, has the numbers of its labels, pass "
            "sets, [set(row) for row in y]; if it has its class, pass [row[0] for row in y]."
        )


def membership(sets: Iterable[Iterable[Any]], column: Mapping[Any, int]) -> sp.csr_array:
    """Label sets as a matrix of 0 and 1, given the column of each label."""
    rows = [sorted({column[label] for label in labels}) for labels in sets]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([position for row in rows for position in row], dtype=np.int64)
    ones = np.ones(len(indices), dtype=np.int8)
    return sp.csr_array((ones, indices, indptr), shape=(len(rows), len(column)))


def _is_array_of_names(row: Any) -> bool:
    return isinstance(row, np.ndarray) and row.dtype.kind in "OU"


def _are_arrays_of_any_length(rows: Any) -> bool:
    are_rows = all(isinstance(row, (list, tuple)) or np.ndim(row) == 1 for row in rows)
    has_arrays = any(isinstance(row, np.ndarray) for row in rows)
    return has_arrays and are_rows and len({len(row) for row in rows}) > 1


def _lacks_a_row(rows: Any) -> bool:
    are_rows = [isinstance(row, ROW_TYPES) for row in rows]
    return any(are_rows) and not all(are_rows)


def _is_matrix(rows: list[Any]) -> bool:
    if any(isinstance(row, _SETS) for row in rows):
        return False
    widths = {len(row) for row in rows}
    return (
        len(widths) == 1
        and 0 not in widths
        and all(is_zero_or_one(value) for row in rows for value in row)
    )
