"""Targets in every form people have them, brought to one 0/1 matrix with names.

A label matrix, a frame, a sparse matrix or a list or series of label sets is a multi-label
target. A one-dimensional ``y`` is the special case of exactly one class per row: two classes
are one label, more classes are one label each.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from protolabel.missing_labels import check_no_label_is_missing, check_not_masked, is_missing
from protolabel.preprocessing.label_cells import check_binary, frame_cells, is_binary
from protolabel.preprocessing.label_sets import (
    are_label_sets,
    check_not_numbers_of_labels,
    membership,
    unpack_column,
)

TargetKind = Literal["multilabel", "binary", "multiclass"]


@dataclass(frozen=True)
class Targets:
    """Encoded targets.

    ``matrix`` is a CSR array of 0 and 1, (n_samples, n_labels); ``names`` has one name per
    column, ``classes`` what a prediction may consist of.
    """

    matrix: sp.csr_array
    names: np.ndarray
    classes: np.ndarray
    kind: TargetKind


def encode_targets(y: Any) -> Targets:
    """Recognise the form of a target and encode it.

    Parameters
    ----------
    y : array-like, sparse matrix, data frame, or list or series of label sets
        See the module description.

    Examples
    --------
    >>> encode_targets([{"rock", "calm"}, {"rock"}, set()]).matrix.toarray().tolist()
    [[1, 1], [0, 1], [0, 0]]
    >>> encode_targets(["no", "yes", "no"]).kind
    'binary'
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    if sp.issparse(y):
        return _from_sparse(y)
    if hasattr(y, "columns"):
        return _from_frame(y)
    check_not_masked(y, "y")
    y = unpack_column(y)
    if are_label_sets(y):
        return _from_label_sets(y)
    array = np.asarray(y)
    if isinstance(y, (list, tuple)):
        check_not_numbers_of_labels(array)
    if array.ndim == 1:
        _check_no_class_is_missing(y, array)
        return _from_classes(array)
    if array.ndim != 2:
        raise ValueError(
            f"Y has {array.ndim} dimensions; expected a matrix (n_samples, n_labels) of 0 and 1, "
            "a list of label sets, or a one-dimensional y."
        )
    if array.shape[1] == 1 and not is_binary(array):
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples, ), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        return _from_classes(array.ravel())
    return _from_matrix(array, np.arange(array.shape[1]))


def is_constant_label(Y: Any) -> np.ndarray:
    """Which labels all rows have or none.

    Parameters
    ----------
    Y : ndarray or sparse of shape (n_samples, n_labels)
        0/1 labels.

    Examples
    --------
    >>> is_constant_label(np.array([[0, 1, 1], [0, 1, 0]])).tolist()
    [True, True, False]
    """
    counts = np.asarray(Y.sum(axis=0)).ravel()
    return np.asarray((counts == 0) | (counts == Y.shape[0]))


def _from_matrix(array: np.ndarray, names: np.ndarray) -> Targets:
    if array.shape[1] == 0:
        raise ValueError("Y has no columns; at least one label is needed.")
    check_binary(array, "Y")
    matrix = sp.csr_array(np.asarray(array != 0, dtype=np.int8))
    return Targets(matrix, names, np.arange(array.shape[1]), "multilabel")


def _from_sparse(y: Any) -> Targets:
    matrix = sp.csr_array(y, copy=True)
    matrix.sum_duplicates()
    if matrix.shape[1] == 0:
        raise ValueError("Y has no columns; at least one label is needed.")
    check_binary(matrix.data, "Y")
    matrix.data = (matrix.data != 0).astype(np.int8)
    matrix.eliminate_zeros()
    n_labels = matrix.shape[1]
    return Targets(matrix, np.arange(n_labels), np.arange(n_labels), "multilabel")


def _from_frame(y: Any) -> Targets:
    names = np.asarray([str(name) for name in y.columns], dtype=object)
    if len(set(names)) < len(names):
        raise ValueError("The label frame has two columns of the same name; rename one of them.")
    return _from_matrix(frame_cells(y), names)


def _from_label_sets(y: Iterable[Iterable[Hashable]]) -> Targets:
    label_sets = [set(labels) for labels in y]
    present = set().union(*label_sets)
    if not present:
        raise ValueError("No row has any label; at least one label is needed.")
    if any(map(is_missing, present)):
        check_no_label_is_missing(label_sets)
    # Labels of mixed types have no order of their own.
    ordered = sorted(present, key=lambda label: (type(label).__name__, label))
    column = {label: position for position, label in enumerate(ordered)}
    names = np.empty(len(ordered), dtype=object)
    names[:] = ordered
    return Targets(membership(label_sets, column), names, np.arange(len(ordered)), "multilabel")


def _check_no_class_is_missing(y: Any, array: np.ndarray) -> None:
    """Refuse None and NaN; an array of texts has made them texts."""
    if array.dtype.kind in "biufc":
        return
    for row, value in enumerate(array.tolist() if isinstance(y, np.ndarray) else y):
        if is_missing(value):
            raise ValueError(
                f"Row {row} of y is {value!r}, but every row needs a class; leave out rows whose "
                "class is not known."
            )


def _from_classes(y: np.ndarray) -> Targets:
    if y.dtype.kind in "fc" and not np.isfinite(y).all():
        found = "NaN" if np.isnan(y).any() else "infinity"
        raise ValueError(f"Input y contains {found}; every row needs a class.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) <= 2:
        matrix = sp.csr_array((codes == len(classes) - 1)[:, None].astype(np.int8))
        return Targets(matrix, classes[-1:], classes, "binary")
    matrix = sp.csr_array(
        (np.ones(len(y), dtype=np.int8), codes, np.arange(len(y) + 1)), shape=(len(y), len(classes))
    )
    return Targets(matrix, classes, classes, "multiclass")
