"""Named values as 0/1 columns, and a message for every column that was changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

MAX_CATEGORIES = 64
_DECIMAL_COMMA = re.compile(r"[-+]?\d+(,\d+)?")
_FREE_DENSE_BYTES = 16 * 1024 * 1024


def expand_categories(
    X: Any,
    names: Sequence[str],
    categories: Mapping[int, tuple[str, ...]],
    dropped: Mapping[int, str],
    max_categories: int = MAX_CATEGORIES,
) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """Replace columns of category codes by one 0/1 column a category.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_columns)
        Numbers; in a category column the position of the value, NaN where missing.
    names : sequence of str
        Names of the columns.
    categories : mapping of int to tuple of str
        For each category column, its values in the order of their codes.
    dropped : mapping of int to str
        Columns to leave out, with the reason.
    max_categories : int, default=64
        A column with more values than this is left out: it is an identifier or free text.

    Returns
    -------
    X : ndarray or CSR matrix
        The columns kept, in their order, each category column replaced where it stood.
    names : tuple of str
        Their names; ``column=value`` for a category.
    notes : tuple of str
        One message for every column encoded or dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.datasets.categories import expand_categories
    >>> X, names, notes = expand_categories(
    ...     np.array([[1.0, 0.5], [0.0, 0.7]]), ["colour", "size"], {0: ("red", "blue")}, {}
    ... )
    >>> X.tolist(), names
    ([[0.0, 1.0, 0.5], [1.0, 0.0, 0.7]], ('colour=red', 'colour=blue', 'size'))
    """
    if not categories and not dropped:
        return X, tuple(names), ()
    reasons = dict(dropped)
    for position, values in categories.items():
        if position not in reasons and len(values) > max_categories:
            reasons[position] = (
                f"it has more than {max_categories} different values, {_kind_of(values)}"
            )
    notes: list[str] = []
    new_names: list[str] = []
    target = np.full(len(names), -1, dtype=np.int64)  # first new column of an old one
    is_category = np.zeros(len(names), dtype=bool)
    for position, name in enumerate(names):
        if position in reasons:
            notes.append(f"column {name!r} was dropped: {reasons[position]}")
            continue
        target[position] = len(new_names)
        if position in categories:
            is_category[position] = True
            values = categories[position]
            new_names += [f"{name}={value}" for value in values]
            columns = "1 column" if len(values) == 1 else f"{len(values)} columns"
            notes.append(f"column {name!r} was encoded as {columns} of 0 and 1")
        else:
            new_names.append(name)
    expanded = _place(X, target, is_category, len(new_names))
    return expanded, tuple(new_names), tuple(notes)


def _place(X: Any, target: Any, is_category: Any, width: int) -> Any:
    """Move every cell to its new column; dense results stay dense unless they would explode."""
    n_samples, n_columns = X.shape
    if sparse.issparse(X):
        return _place_sparse(X, target, is_category, width)
    if width > 4 * n_columns and n_samples * width * 8 > _FREE_DENSE_BYTES:
        return _place_sparse(sparse.csr_matrix(X), target, is_category, width)
    dense = np.zeros((n_samples, width))
    plain = ~is_category & (target >= 0)
    dense[:, target[plain]] = X[:, plain]
    for position in np.flatnonzero(is_category & (target >= 0)):
        rows = np.flatnonzero(~np.isnan(X[:, position]))
        dense[rows, target[position] + X[rows, position].astype(np.int64)] = 1.0
    return dense


def _place_sparse(X: Any, target: Any, is_category: Any, width: int) -> Any:
    """Do the same for a CSR matrix, where a code of 0 is not stored yet is a category."""
    plain = np.flatnonzero(~is_category & (target >= 0))
    entries = sparse.coo_matrix(X[:, plain])
    rows = [entries.row]
    columns = [target[plain][entries.col]]
    values = [entries.data]
    by_column = X.tocsc()
    for position in np.flatnonzero(is_category & (target >= 0)):
        codes = by_column[:, [position]].toarray().ravel()
        known = np.flatnonzero(~np.isnan(codes))
        rows.append(known)
        columns.append(target[position] + codes[known].astype(np.int64))
        values.append(np.ones(known.size))
    return sparse.csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(X.shape[0], width),
    )


def _kind_of(values: Sequence[str]) -> str:
    has_commas = any("," in value for value in values)
    if has_commas and all(_DECIMAL_COMMA.fullmatch(value) for value in values):
        return "numbers with a comma: write them with a point, or without marks of thousands"
    return "an identifier or free text"
