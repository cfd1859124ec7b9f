"""Rows that belong together, as copies or repeated measures, and that are left out together.

Groups are numbers from 0 on, one of each row, or None where every row stands for itself.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

Groups = NDArray[np.int64] | None

# Fewer rows with a copy than this share of all do not matter.
_SMALLEST_SHARE_OF_COPIES = 0.05
# Rows agree by chance unless two columns each tell that share of the different rows apart, as
# measured numbers do.
_SMALLEST_SHARE_OF_VALUES = 0.5
# Fewer different rows are too few to leave some of them out.
_FEWEST_DIFFERENT_ROWS = 20
# Rows and columns that are looked at to find such columns.
_MOST_FOR_VALUES = 1000
# How what is missing calls itself in columns of objects.
_MISSING = ("nan", "NaN", "NaT", "<NA>")


def numbered_groups(groups: ArrayLike, n_samples: int) -> NDArray[np.int64]:
    """Names of groups as numbers.

    Examples
    --------
    >>> numbered_groups(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    names = np.asarray(groups)
    if names.shape != (n_samples,):
        raise ValueError(
            f"groups has shape {names.shape}, expected ({n_samples},): the group of each row."
        )
    # NaN beside words is a word only once the list is an array.
    is_missing = _is_missing(np.asarray(groups, dtype=object) if names.dtype.kind == "U" else names)
    if is_missing.any():
        raise ValueError(
            f"groups is missing in {is_missing.sum()} row(s), first in row "
            f"{is_missing.argmax()}; give such rows a group of their own."
        )
    names = names.astype(str) if names.dtype == object else names
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def groups_of_copies(X: NDArray[np.floating]) -> Groups:
    """Groups of equal rows, or None where there are few of them or rows agree by chance.

    New rows may have a twin among the training rows where rows agree by chance, as in tables of
    a few codes. There, and only there, scores of training rows whose twins were seen are honest.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> groups_of_copies(np.vstack([X, X[:2]])).tolist()[-2:]
    [0, 1]
    >>> groups_of_copies(np.round(np.vstack([X, X]))) is None
    True
    """
    n_samples, n_features = X.shape
    if n_features < 2:
        return None
    step = max(1, n_features // _MOST_FOR_VALUES)
    some = np.sort(X[:: max(1, n_samples // _MOST_FOR_VALUES), ::step], axis=0)
    n_values = (np.diff(some, axis=0) != 0).sum(axis=0)
    telling = step * np.argsort(-n_values, kind="stable")[:2]
    (n_first, suspects), (n_second, others) = (_repeated(X[:, column]) for column in telling)
    suspects = np.intersect1d(suspects, others)
    if len(suspects) < max(_SMALLEST_SHARE_OF_COPIES * n_samples, 1):
        return None
    # Sorting whole rows would compare wide ones over and over; adding 0.0 makes -0.0 equal to 0.0.
    numbers: dict[bytes, int] = {}
    equal = np.array([numbers.setdefault(_digest(row + 0.0), len(numbers)) for row in X[suspects]])
    copies = np.bincount(equal)
    n_different = n_samples - len(suspects) + len(copies)
    is_by_chance = min(n_first, n_second) < _SMALLEST_SHARE_OF_VALUES * n_different
    n_copied = copies[copies > 1].sum()
    is_rare = n_copied < _SMALLEST_SHARE_OF_COPIES * n_samples
    if is_by_chance or is_rare or n_different < _FEWEST_DIFFERENT_ROWS:
        return None
    groups = np.arange(n_samples)
    first = np.unique(equal, return_index=True)[1]
    groups[suspects] = suspects[first][equal]
    return groups_at(groups, slice(None))


def n_groups(groups: Groups, n_samples: int) -> int:
    """Number of groups, or of rows where each stands for itself."""
    return n_samples if groups is None else int(groups.max(initial=-1)) + 1


def groups_at(groups: Groups, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Groups:
    """Groups of some rows, numbered anew."""
    if groups is None:
        return None
    return np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)


def shuffled_rows(n_samples: int, groups: Groups, rng: np.random.Generator) -> NDArray[np.int64]:
    """All rows in random order, those of a group one after the other.

    Examples
    --------
    >>> shuffled_rows(4, np.array([0, 1, 0, 1]), np.random.default_rng(0)).tolist()
    [0, 2, 1, 3]
    """
    if groups is None:
        return rng.permutation(n_samples)
    places = rng.permutation(n_groups(groups, n_samples))
    return np.argsort(places[groups], kind="stable")


def drawn_rows(
    n_samples: int, n_drawn: int, groups: Groups, rng: np.random.Generator
) -> NDArray[np.int64]:
    """How often each row is among about so many that are drawn with replacement, by groups."""
    if groups is None:
        return np.bincount(rng.integers(n_samples, size=n_drawn), minlength=n_samples)
    total = n_groups(groups, n_samples)
    size = max(1, round(total * n_drawn / n_samples))
    return np.bincount(rng.integers(total, size=size), minlength=total)[groups]


def _repeated(column: NDArray[np.floating]) -> tuple[int, NDArray[np.int64]]:
    """How many values a column has, and the rows whose value occurs elsewhere, too."""
    _, value, counts = np.unique(column, return_inverse=True, return_counts=True)
    return len(counts), np.flatnonzero(counts[value] > 1)


def _digest(row: NDArray[np.floating]) -> bytes:
    return blake2b(row.data, digest_size=16).digest()


def _is_missing(names: NDArray[np.generic]) -> NDArray[np.bool_]:
    if names.dtype.kind in "fcmM":
        return np.asarray(np.isnan(names))
    if names.dtype != object:
        return np.zeros(len(names), dtype=bool)
    return np.array(
        [name is None or (not isinstance(name, str) and str(name) in _MISSING) for name in names],
        dtype=bool,
    )
