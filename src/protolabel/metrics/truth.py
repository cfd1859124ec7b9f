"""True labels in the columns of a model, from label sets, frames and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.metrics._inputs import Indicator, Labels
from protolabel.missing_labels import (
    ROW_TYPES,
    check_no_label_is_missing,
    check_rows_are_alike,
    has_sets_of_names,
    is_missing,
)


def truth_columns(estimator: Any, Y: Any) -> tuple[Any, int]:
    """Labels in the columns of an estimator, then those that it has never seen, and their number.

    Folds of label sets differ in the rare labels that they have.
    """
    names = label_names(estimator)
    if names is None:
        return as_columns(Y), 0
    unseen = unseen_labels(Y, names)
    columns = np.empty(len(names) + len(unseen), dtype=object if unseen else names.dtype)
    columns[:] = [*names.tolist(), *unseen]
    return as_columns(align_labels(Y, columns)), len(unseen)


def as_columns(Y: Any) -> Any:
    """Make a single label a column."""
    if sparse.issparse(Y) or np.ndim(Y) == 2:
        return Y if hasattr(Y, "shape") else np.asarray(Y)
    return np.asarray(Y).reshape(-1, 1)


def align_labels(Y: Any, names: NDArray[Any]) -> Labels:
    """Bring labels into the order of the labels of a model.

    Parameters
    ----------
    Y : array-like, sparse matrix, data frame, or list or series of label sets
        Labels of the rows.
    names : ndarray of shape (n_labels,)
        ``label_names_`` of the model. Where they are an array of numbers from zero on, its labels
        have no names and the columns of a frame are taken as they are.

    Returns
    -------
    array-like or sparse of shape (n_samples, n_labels)
        Label sets are looked up and frames ordered by name; all else is returned as it is.

    Examples
    --------
    >>> import numpy as np
    >>> names = np.array(["calm", "rock"], dtype=object)
    >>> align_labels([{"rock"}, {"calm", "rock"}], names).toarray().tolist()
    [[0, 1], [1, 1]]
    """
    sets = _label_sets(Y, names)
    if sets is not None:
        return _look_up(sets, names.tolist())
    return _in_order(Y, names.tolist()) if hasattr(Y, "columns") and _are_named(names) else Y


def unseen_labels(Y: Any, names: NDArray[Any]) -> list[Any]:
    """Labels in sets that a model with named labels does not have."""
    sets = _label_sets(Y, names)
    if sets is None or not _are_named(names):
        return []
    return sorted({label for labels in sets for label in labels} - set(names.tolist()), key=repr)


def label_names(estimator: Any) -> NDArray[Any] | None:
    """Names of the labels of a model, or of the one in a pipeline or search, if it has any."""
    if hasattr(estimator, "label_names_"):
        return np.asarray(estimator.label_names_)
    if hasattr(estimator, "best_estimator_"):
        return label_names(estimator.best_estimator_)
    return label_names(estimator.steps[-1][1]) if hasattr(estimator, "steps") else None


def _are_named(names: NDArray[Any]) -> bool:
    """Whether labels have names of their own; those of a matrix count its columns."""
    return names.dtype == object or not np.array_equal(names, np.arange(len(names)))


def _label_sets(Y: Any, names: NDArray[Any]) -> list[Any] | None:
    """Rows of label sets, none of them missing; None for every other form of labels."""
    is_column = isinstance(Y, np.ndarray) and Y.ndim == 1 and Y.dtype == object
    is_series = hasattr(Y, "to_list")
    if not (is_series or is_column or isinstance(Y, (list, tuple))):
        return None
    rows = list(Y.to_list() if is_series else Y)
    check_rows_are_alike(rows)
    is_named = has_sets_of_names(rows)
    if not any(isinstance(row, ROW_TYPES) for row in rows):
        return None
    values = {value for row in rows for value in row}
    if not is_named and _may_be_matrix(rows, values, names):
        return None
    if any(map(is_missing, values)):
        check_no_label_is_missing(rows)
    return rows


def _may_be_matrix(rows: list[Any], values: set[Any], names: NDArray[Any]) -> bool:
    widths = {len(row) for row in rows}
    if len(widths) > 1 or 0 in widths:
        return False
    # Labels that are numbers look like a matrix in rows of as many labels each.
    is_matrix = widths == {len(names)} and values <= {0, 1}
    return is_matrix or not _are_named(names) or values.isdisjoint(names.tolist())


def _look_up(sets: list[Any], names: list[Any]) -> Indicator:
    column = {name: position for position, name in enumerate(names)}
    for label in (label for labels in sets for label in labels):
        if label not in column:
            raise ValueError(
                f"Y has the label {label!r}, which is not among the {len(names)} labels of the "
                f"model, {names[:10]}; leave it out of Y."
            )
    rows = [sorted({column[label] for label in labels}) for labels in sets]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([k for row in rows for k in row], dtype=np.int64)
    ones = np.ones(len(indices), dtype=np.int64)
    return sparse.csr_array((ones, indices, indptr), shape=(len(rows), len(names)))


def _in_order(frame: Any, names: list[Any]) -> Any:
    own = list(frame.columns)
    columns, wanted = own, names
    if set(columns) != set(wanted):
        # One of the two may write as text what is a number in the other.
        columns, wanted = ([str(name) for name in each] for each in (own, names))
    are_all_there = set(columns) == set(wanted) and len(own) == len(names) == len(set(wanted))
    if not are_all_there:
        raise ValueError(
            f"The columns of Y are {columns[:10]}; the model has the labels {wanted[:10]}. Pass "
            "one column for each of them, in any order."
        )
    if columns == wanted:
        return frame
    position = {name: k for k, name in enumerate(columns)}
    return frame[[own[position[name]] for name in wanted]]
