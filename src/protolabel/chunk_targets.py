"""Targets of the chunks of a stream, encoded in columns that the first chunk decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.missing_labels import check_name_of_label
from protolabel.preprocessing.label_sets import membership, unpack_column
from protolabel.preprocessing.labels import Targets, encode_targets


def encode_chunk(y: Any, known: Targets | None, classes: Any = None) -> Targets:
    """Encode the targets of a chunk.

    Parameters
    ----------
    y : array-like, sparse matrix, data frame, or list or series of label sets
    known : Targets or None
        Targets of the stream, None in the first chunk.
    classes : int, array-like or None, default=None
        Number or names of all labels, or all classes of a one-dimensional target.

    Examples
    --------
    >>> first = encode_chunk([{"rock"}, set()], None, classes=["calm", "rock"])
    >>> first.matrix.toarray().tolist()
    [[0, 1], [0, 0]]
    >>> encode_chunk([{"calm"}], first).matrix.toarray().tolist()
    [[1, 0]]
    """
    y = unpack_column(y)
    if isinstance(classes, np.ndarray) and classes.ndim == 0:
        classes = classes.item()
    sets = _label_sets(y)
    # Rows without any label say nothing of the form of the others.
    found = None if sets is not None and not any(sets) else encode_targets(y)
    if known is None:
        known = _announced(found, sets is not None, classes)
    elif classes is not None and not _is_same(classes, known):
        raise ValueError(
            f"classes={classes!r} is not what the first call had, {known.classes.tolist()[:10]}; "
            "leave it out or pass the same."
        )
    if sets is not None:
        return _from_sets(sets, known)
    assert found is not None
    if (found.kind == "multilabel") != (known.kind == "multilabel"):
        raise ValueError(
            f"y is a {found.kind} target, but the stream began with a {known.kind} one; pass y "
            "in the same form in every call."
        )
    return _from_matrix(found, known) if found.kind == "multilabel" else _from_classes(y, known)


def _announced(found: Targets | None, is_sets: bool, classes: Any) -> Targets:
    """What labels a stream has, from ``classes`` or the columns of its first matrix."""
    one_dimensional = found is not None and found.kind != "multilabel"
    if classes is None and (is_sets or one_dimensional):
        raise ValueError(
            "classes=None in the first call of partial_fit; pass all labels or classes that the "
            "stream may bring, for example classes=[0, 1, 2]."
        )
    if one_dimensional:
        return encode_targets(_as_classes(classes))
    if classes is None:
        assert found is not None
        return found
    names = np.arange(int(classes)) if isinstance(classes, Integral) else _as_names(classes)
    if len(names) == 0 or len(set(names.tolist())) < len(names):
        raise ValueError(f"classes={classes!r} cannot be used; expected labels, each once.")
    matrix = sp.csr_array((0, len(names)), dtype=np.int8)
    return Targets(matrix, names, np.arange(len(names)), "multilabel")


def _as_names(classes: Any) -> np.ndarray:
    given = _listed(classes, "all labels of the stream, or their number")
    for name in given:
        check_name_of_label(name)
    names = np.asarray(given)
    if names.ndim == 1 and names.dtype.kind in "biuf":
        return names
    names = np.empty(len(given), dtype=object)
    names[:] = list(given)
    return names


def _as_classes(classes: Any) -> np.ndarray:
    return np.unique(np.asarray(_listed(classes, "all classes that y may have")))


def _listed(classes: Any, expected: str) -> Any:
    """What can be counted as it is, a list of what can only be gone through."""
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise ValueError(f"classes={classes!r} cannot be used; expected {expected}.")
    is_listed = hasattr(classes, "__getitem__") and not isinstance(classes, Mapping)
    return classes if is_listed else list(classes)


def _is_same(classes: Any, known: Targets) -> bool:
    if known.kind != "multilabel":
        return bool(np.array_equal(_as_classes(classes), known.classes))
    if isinstance(classes, Integral):
        return bool(classes == len(known.names))
    return bool(_as_names(classes).tolist() == known.names.tolist())


def _label_sets(y: Any) -> list[Any] | None:
    """Rows of a list of label sets, None for every other form of a target."""
    if not isinstance(y, (list, tuple)) or len(y) == 0:
        return None
    if not all(isinstance(row, (set, frozenset, list, tuple)) for row in y):
        return None
    if not any(y):
        return list(y)
    # Names from label sets are objects, those of a matrix numbers.
    return list(y) if encode_targets(y).names.dtype == object else None


def _from_sets(sets: list[Any], known: Targets) -> Targets:
    column = {name: position for position, name in enumerate(known.names.tolist())}
    for label in (label for labels in sets for label in labels):
        if label not in column:
            raise ValueError(
                f"The label {label!r} is not among the {len(column)} labels of the stream; name "
                "all labels in classes of the first call, or use add_label."
            )
    return replace(known, matrix=membership(sets, column))


def _from_matrix(found: Targets, known: Targets) -> Targets:
    if found.matrix.shape[1] != len(known.names):
        raise ValueError(
            f"Y has {found.matrix.shape[1]} columns but the stream has {len(known.names)} labels; "
            "pass the same label set in every call."
        )
    if found.names.dtype == object and found.names.tolist() != known.names.tolist():
        raise ValueError(
            f"The columns of Y are {found.names.tolist()[:10]}; the stream has the labels "
            f"{known.names.tolist()[:10]}. Pass them in the same order."
        )
    return replace(known, matrix=found.matrix)


def _from_classes(y: Any, known: Targets) -> Targets:
    values = np.asarray(y).ravel()
    odd = np.setdiff1d(values, known.classes)
    if len(odd):
        raise ValueError(
            f"y contains {odd.tolist()[:3]}, which are not among the classes of the stream, "
            f"{known.classes.tolist()[:10]}; name all classes in the first call."
        )
    codes = np.searchsorted(known.classes, values)
    if known.kind == "binary":
        present = (codes == len(known.classes) - 1)[:, None]
    else:
        present = codes[:, None] == np.arange(len(known.classes))
    return replace(known, matrix=sp.csr_array(present.astype(np.int8)))
