"""Checks that turn truth, predictions and scores into the two forms the metrics work on."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Indicator: TypeAlias = Any  # a CSR array of 0/1; scipy ships no type hints
Labels: TypeAlias = Any  # ArrayLike or any scipy sparse container
Floats: TypeAlias = NDArray[np.floating[Any]]


def as_indicator(Y: Labels, name: str) -> Indicator:
    """Return ``Y`` as a CSR array of ones, or say which values are not 0/1."""
    if sparse.issparse(Y):
        matrix = sparse.csr_array(Y)
        if not matrix.has_canonical_format or (matrix.data == 0).any():
            matrix = matrix.copy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        stray = matrix.data[matrix.data != 1]
    else:
        if _are_label_sets(Y):
            raise ValueError(
                f"{name} consists of label sets, expected a 0/1 matrix (n_samples, n_labels); "
                "encode them in the columns of the model: MultiLabelBinarizer(classes="
                f"model.label_names_).fit_transform({name}) of sklearn.preprocessing. Scorers from "
                "make_scorer and model.score take label sets as they are."
            )
        dense = np.asarray(Y)
        if dense.ndim != 2:
            raise ValueError(
                f"{name} has shape {dense.shape}, expected (n_samples, n_labels); "
                "a single label needs a column: Y.reshape(-1, 1)."
            )
        if dense.dtype == object:
            dense = _as_numbers(dense, name)
        if dense.dtype.kind in "US":
            raise ValueError(
                f"{name} contains texts such as {str(dense.ravel()[0])!r}, expected the numbers 0 "
                f"and 1; convert them with {name}.astype(int)."
            )
        stray = dense[(dense != 0) & (dense != 1)]
        matrix = sparse.csr_array(dense != 0)
    if stray.size:
        values = ", ".join(str(value) for value in np.unique(stray)[:3])
        advice = "convert {-1, +1} targets with (Y > 0).astype(int)."
        if (stray != stray).any():  # noqa: PLR0124, only NaN differs from itself
            advice = "leave out rows whose labels are not known."
        raise ValueError(f"{name} contains {values}, expected only 0 and 1; {advice}")
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        raise ValueError(f"{name} has shape {matrix.shape}; at least one row and label is needed.")
    return sparse.csr_array(
        (np.ones(matrix.nnz, dtype=np.int64), matrix.indices, matrix.indptr), shape=matrix.shape
    )


def _are_label_sets(Y: Labels) -> bool:
    """Sets, lists of names, or lists of several lengths, one a row."""
    rows = Y.to_list() if hasattr(Y, "to_list") else Y
    is_column = isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype == object
    if not (is_column or isinstance(rows, (list, tuple))):
        return False
    if any(isinstance(row, (set, frozenset)) for row in rows):
        return True
    if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        return False
    is_named = any(isinstance(label, str) for row in rows for label in row)
    return is_named or len({len(row) for row in rows}) > 1


def _as_numbers(cells: NDArray[Any], name: str) -> Floats:
    """Numbers of mixed and nullable frames."""
    try:
        return cells.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} contains cells that are no numbers ({error}), expected only 0 and 1; "
            "leave out rows whose labels are not known."
        ) from error


def in_order_of(Y_true: Labels, other: Any) -> Any:
    """Columns of a frame in the order that those of another have, where both have the same."""
    names, others = (list(getattr(frame, "columns", [])) for frame in (Y_true, other))
    are_same = set(names) == set(others) and len(set(names)) == len(names) == len(others)
    return other[names] if are_same and names != others else other


def refuse_scores_of_either_order(Y_true: Labels, Y_pred: Labels, scores: Any) -> None:
    """Refuse scores without names beside frames whose columns are in different orders."""
    if in_order_of(Y_true, Y_pred) is not Y_pred and not hasattr(scores, "columns"):
        raise ValueError(
            "Y_true and Y_pred have their columns in different orders, and scores has no names of "
            "columns: it could follow either. Give scores as a frame, or both in one order."
        )


def as_indicator_pair(Y_true: Labels, Y_pred: Labels) -> tuple[Indicator, Indicator]:
    """Check truth and prediction together."""
    truth = as_indicator(Y_true, "Y_true")
    predicted = as_indicator(in_order_of(Y_true, Y_pred), "Y_pred")
    if truth.shape != predicted.shape:
        raise ValueError(
            f"Y_true has shape {truth.shape} but Y_pred has shape {predicted.shape}; "
            "pass predictions for the same rows and label set."
        )
    return truth, predicted


def as_scores(scores: ArrayLike, shape: tuple[int, int], Y_true: Labels) -> Floats:
    """Check that ``scores`` can order the labels; infinite scores can, NaN cannot.

    The columns of a frame follow those of the truth, if that is a frame.
    """
    scores = in_order_of(Y_true, scores)
    if sparse.issparse(scores):
        raise TypeError(
            "scores is sparse, expected a dense array: a missing cell has no place in a ranking; "
            "pass dense blocks of rows to StreamingEvaluation when the whole does not fit."
        )
    array = np.asarray(scores)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.shape != shape:
        raise ValueError(
            f"scores has shape {array.shape} but Y_true has shape {shape}; "
            "pass one score per row and label."
        )
    n_missing = int(np.isnan(array).sum())
    if n_missing:
        raise ValueError(
            f"scores contains {n_missing} NaN value(s), which cannot be ranked; "
            "check the model for divergence or replace them by a finite floor."
        )
    return array


def check_edge(edge: str) -> None:
    """Refuse an unknown convention for rows without a ranking problem."""
    if edge not in ("exclude", "sklearn"):
        raise ValueError(f"edge is {edge!r}, expected 'exclude' or 'sklearn'.")
