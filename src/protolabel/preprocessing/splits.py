"""Folds and splits that keep the share of every label, as scikit-learn splitters.

Iterative stratification (Sechidis, Tsoumakas, Vlahavas, ECML-PKDD 2011) hands out the rows of the
rarest label first, each to the fold that still wants most of that label. What the greedy pass
leaves uneven is then repaired by moving and swapping single rows: fold sizes become exact and
label shares more even.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from protolabel.preprocessing._fold_repair import equalise_sizes, swap_rows
from protolabel.preprocessing.labels import encode_targets
from protolabel.row_groups import numbered_groups

MAX_SEED = 2**32 - 1


def iterative_stratification(
    Y: Any,
    proportions: ArrayLike,
    rng: np.random.Generator,
    *,
    groups: ArrayLike | None = None,
    shuffle: bool = True,
    repair: bool = True,
) -> NDArray[np.int64]:
    """Assign each row to a fold so that all folds have about the same share of every label.

    Parameters
    ----------
    Y : array-like or sparse of shape (n_samples, n_labels), label sets, or classes
        0/1 labels; rows without labels are allowed. Each class of a one-dimensional target
        counts as a label.
    proportions : array-like of shape (n_folds,)
        Share of the rows wanted in each fold; positive, summing to 1.
    rng : numpy.random.Generator
        Breaks ties and, with ``shuffle``, orders the rows.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group always share a fold.
    shuffle : bool, default=True
        Whether the rows of a label are handed out in random order.
    repair : bool, default=True
        Whether to even out fold sizes and label counts after the greedy pass; without effect on
        grouped rows.

    Returns
    -------
    ndarray of int, shape (n_samples,)
        Fold number of each row.

    References
    ----------
    Sechidis, Tsoumakas, Vlahavas. On the stratification of multi-label data. ECML-PKDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.preprocessing.splits import iterative_stratification
    >>> Y = np.repeat(np.eye(2, dtype=int), 4, axis=0)
    >>> folds = iterative_stratification(Y, [0.5, 0.5], np.random.default_rng(0))
    >>> np.bincount(folds[:4]), np.bincount(folds[4:])
    (array([2, 2]), array([2, 2]))
    """
    truth = encode_targets(Y).matrix.astype(np.int64)
    shares = _as_proportions(proportions)
    if groups is None:
        _check_enough(truth.shape[0], shares.size, "row")
        sizes = np.ones(truth.shape[0], dtype=np.int64)
        folds = _hand_out(truth, sizes, shares, rng, shuffle=shuffle)
        if repair:
            weights = truth.astype(np.float64)
            equalise_sizes(weights, folds, shares)
            swap_rows(weights, folds, shares.size)
        return folds
    members = numbered_groups(groups, truth.shape[0])
    sizes = np.bincount(members)
    _check_enough(sizes.size, shares.size, "group")
    rows = np.arange(members.size)
    membership = sparse.csr_array((np.ones(members.size, dtype=np.int64), (members, rows)))
    totals = sparse.csr_array(membership @ truth)
    group_folds = _hand_out(totals, sizes, shares, rng, shuffle=shuffle)
    _fill_empty(group_folds, sizes, shares)
    return group_folds[members]


class MultilabelStratifiedKFold(BaseCrossValidator):
    """K folds with the same share of every label.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether to hand out the rows of a label in random order. Ties between folds are broken at
        random in any case, with a fixed seed when ``shuffle`` is False.
    random_state : int, RandomState or None, default=None
        Seed of the folds; pass an int to get the same folds each time. Only with ``shuffle``.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.preprocessing.splits import MultilabelStratifiedKFold
    >>> Y = np.repeat(np.eye(2, dtype=int), 4, axis=0)
    >>> folds = MultilabelStratifiedKFold(2, random_state=0)
    >>> [int(Y[test, 0].sum()) for _, test in folds.split(Y, Y)]
    [2, 2]
    """

    # Read by scikit-learn's metadata routing: groups go to split whenever a caller has them.
    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        if isinstance(n_splits, bool) or int(n_splits) != n_splits or n_splits < 2:
            raise ValueError(f"n_splits is {n_splits!r}, expected a whole number of at least 2.")
        if not shuffle and random_state is not None:
            raise ValueError(
                f"random_state is {random_state!r} but shuffle is False, so it would have no "
                "effect; leave it None or set shuffle=True."
            )
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored, present for scikit-learn.

        Returns
        -------
        int
            The number of folds.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the training and test rows of each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length matters.
        y : array-like or sparse of shape (n_samples, n_labels)
            0/1 labels.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never on both sides of a split.

        Yields
        ------
        train, test : ndarray of int
            Row indices.
        """
        yield from super().split(X, y, groups)

    def _iter_test_masks(self, X: Any, y: Any, groups: Any) -> Iterator[NDArray[np.bool_]]:
        """Stratify once and mark the rows of each fold."""
        _check_labels_given(X, y)
        rng = np.random.default_rng(
            check_random_state(self.random_state).randint(MAX_SEED, dtype=np.uint32)
            if self.shuffle
            else 0
        )
        proportions = np.full(self.n_splits, 1 / self.n_splits)
        folds = iterative_stratification(y, proportions, rng, groups=groups, shuffle=self.shuffle)
        for fold in range(self.n_splits):
            yield folds == fold


class MultilabelStratifiedShuffleSplit(BaseShuffleSplit):
    """Independent random splits in two, with the same share of every label on both sides.

    Parameters
    ----------
    n_splits : int, default=1
        Number of splits, each drawn anew.
    test_size : float or int, default=0.2
        Share of the rows in the test part, or their number.
    random_state : int, RandomState or None, default=None
        Seed of the splits; pass an int to get the same splits each time.

    Examples
    --------
    >>> import numpy as np
    >>> from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit
    >>> Y = np.repeat(np.eye(2, dtype=int), 10, axis=0)
    >>> train, test = next(MultilabelStratifiedShuffleSplit(random_state=0).split(Y, Y))
    >>> Y[test].sum(axis=0)
    array([2, 2])
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        n_splits: int = 1,
        *,
        test_size: float = 0.2,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_splits, test_size=test_size, random_state=random_state)

    def _iter_indices(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Stratify into two parts, once per split."""
        _check_labels_given(X, y)
        share = _test_share(self.test_size, _num_samples(y) if y is not None else 0)
        random_state = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            rng = np.random.default_rng(random_state.randint(MAX_SEED, dtype=np.uint32))
            sides = iterative_stratification(y, [1 - share, share], rng, groups=groups)
            yield (
                rng.permutation(np.flatnonzero(sides == 0)),
                rng.permutation(np.flatnonzero(sides == 1)),
            )


def _hand_out(
    truth: Any,
    sizes: NDArray[np.int64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    shuffle: bool,
) -> NDArray[np.int64]:
    """Run the greedy pass over items (rows or groups) with their label counts and sizes.

    Plain lists carry the wanted counts: an item touches few of them, and single-cell arithmetic
    on NumPy arrays costs twenty times as much.
    """
    n_items, n_labels = truth.shape
    is_open = np.ones(n_items, dtype=bool)
    assigned = [-1] * n_items
    totals = np.asarray(truth.sum(axis=0))
    wanted_rows: list[float] = (shares * sizes.sum()).tolist()
    wanted: list[list[float]] = np.outer(totals, shares).tolist()  # (n_labels, n_folds)
    starts, labels = truth.indptr.tolist(), truth.indices.tolist()
    counts, item_sizes = truth.data.tolist(), sizes.tolist()
    # Random numbers drawn beforehand serve as tie breakers without a call per item.
    lottery = rng.random((n_items, shares.size)).tolist()
    place = rng.permutation(n_items) if shuffle else np.arange(n_items)
    by_label = truth.tocsc()
    left = totals.copy()  # of each label

    def assign(item: int, wishes: list[float]) -> None:
        most = max(wishes)
        tied = [fold for fold, wish in enumerate(wishes) if wish == most]
        fold = tied[0]
        if len(tied) > 1:
            draw = lottery[item]
            fold = max(tied, key=lambda j: (wanted_rows[j], draw[j]))
        assigned[item] = fold
        wanted_rows[fold] -= item_sizes[item]
        for cell in range(starts[item], starts[item + 1]):
            wanted[labels[cell]][fold] -= counts[cell]

    for _ in range(n_labels):
        if not left.any():
            break
        rarest = np.flatnonzero(left == left[left > 0].min())
        label = int(rng.choice(rarest))
        cells = slice(by_label.indptr[label], by_label.indptr[label + 1])
        items, amounts = by_label.indices[cells], by_label.data[cells]
        items, amounts = items[is_open[items]], amounts[is_open[items]]
        # Large groups first: they are the hardest to place. Single rows keep their random order.
        items = items[np.lexsort((place[items], -amounts))]
        for item in items.tolist():
            assign(item, wanted[label])
        is_open[items] = False
        placed = truth[items]
        np.subtract.at(left, placed.indices, placed.data)
    unlabelled = np.flatnonzero(is_open)
    unlabelled = unlabelled[np.lexsort((place[unlabelled], -sizes[unlabelled]))]
    for item in unlabelled.tolist():
        assign(item, wanted_rows)
    return np.asarray(assigned, dtype=np.int64)


def _fill_empty(
    folds: NDArray[np.int64], sizes: NDArray[np.int64], shares: NDArray[np.float64]
) -> None:
    """Give every fold without a group the one that is nearest to its size, in place."""
    for fold in np.flatnonzero(np.bincount(folds, minlength=shares.size) == 0).tolist():
        is_alone = np.bincount(folds, minlength=shares.size)[folds] == 1
        away = np.abs(sizes - shares[fold] * sizes.sum())
        folds[np.where(is_alone, np.inf, away).argmin()] = fold


def _as_proportions(proportions: ArrayLike) -> NDArray[np.float64]:
    """Check the wanted shares."""
    shares = np.asarray(proportions, dtype=np.float64)
    if shares.ndim != 1 or shares.size < 1 or not (shares > 0).all():
        raise ValueError(f"proportions is {proportions!r}, expected one positive share per fold.")
    if abs(shares.sum() - 1) > 1e-8:
        raise ValueError(f"proportions sum to {shares.sum():.6g}, expected 1.")
    return shares


def _check_enough(n_items: int, n_folds: int, what: str) -> None:
    """Refuse folds that would have to stay empty."""
    if n_items < n_folds:
        raise ValueError(
            f"cannot fill {n_folds} folds from {n_items} {what}(s); use at most {n_items} folds."
        )


def _check_labels_given(X: Any, y: Any) -> None:
    """Say clearly that labels are needed."""
    if y is None:
        raise ValueError(
            f"Y is None; stratified splits of the {np.shape(X)[0]} rows need their labels: "
            "call split(X, Y)."
        )


def _test_share(test_size: float, n_samples: int) -> float:
    """Turn a number of test rows into a share and check that both parts get a row."""
    if isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool):
        n_test = int(test_size)
    else:
        n_test = int(np.ceil(float(test_size) * n_samples))
    if not 0 < n_test < n_samples:
        raise ValueError(
            f"test_size={test_size!r} puts {n_test} of {n_samples} rows into the test part; "
            "choose a size that leaves both parts at least one row."
        )
    return n_test / n_samples
