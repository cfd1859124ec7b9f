"""What the sets of labels that rows have say about one row.

Learners judge labels one by one, as if any set could come. Here every set of the training rows is
a prototype: a row has one of them, drawn as often as it occurs, but each label may have been
drawn by its own frequency instead. What the learners have found in the row is evidence for and
against every set, and the sets, weighed by it, say how likely each label is (Bayes' rule, exact
for this model). Their log-odds count by a weight that is fitted on rows the learners did not
see; where that saves next to nothing of their log-loss, or does not bring their labels into a
better order, labels stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import expit

from protolabel.companions.label_priors import log_odds_of_counts
from protolabel.row_groups import Groups

# Probability that a label of a row was drawn by its own frequency and not with the set.
_STRAY = 0.1
# Sets are used when they save this share of the log-loss: less is found by chance, and lost again.
_LEAST_GAIN = 1e-3
# The most frequent sets, of tables where nearly every row has its own.
_MAX_SETS = 5_000
# Cells of unseen rows that the weight is fitted to, and its pull to 0 in units of one of them.
_MAX_CELLS = 1_000_000
_DOUBT = 4.0
# (set, row) or (label, row) cells at once.
_CHUNK_CELLS = 2**21


@dataclass(frozen=True)
class RowsLeftOut:
    """Rows of each set that are left out when a row is judged: those of its group.

    Parameters
    ----------
    counts : CSR of shape (n_groups, n_sets)
    groups : ndarray of int, shape (n_samples,)
    """

    counts: sp.csr_array
    groups: np.ndarray

    def at(self, rows: np.ndarray | slice) -> RowsLeftOut:
        """The same for some of the rows."""
        return replace(self, groups=self.groups[rows])


@dataclass(frozen=True)
class SetPrototypes:
    """Sets of labels, and how far log-odds follow them.

    Parameters
    ----------
    sets : CSR of 0 and 1, shape (n_sets, n_labels)
        Without labels that no row or every row has.
    counts : ndarray of shape (n_sets,)
        Training rows with each set.
    prior : ndarray of shape (n_labels,)
        Log-odds that labels have anyway.
    weight : float
        Share of the way from the log-odds of a label to those that the sets give it.
    offset : ndarray of shape (n_labels,), default=0.0
        What log-odds were moved by after they had been calibrated.
    """

    sets: sp.csr_array
    counts: np.ndarray
    prior: np.ndarray
    weight: float
    offset: np.ndarray | float = 0.0

    def change(self, log_odds: np.ndarray, left_out: RowsLeftOut | None = None) -> np.ndarray:
        """What is to be added to the log-odds of rows, (n_samples, n_labels).

        Parameters
        ----------
        log_odds : ndarray of shape (n_samples, n_labels)
        left_out : RowsLeftOut or None, default=None
            Of training rows, so that they do not vouch for themselves.

        Examples
        --------
        >>> never_together = sp.csr_array([[1.0, 0.0], [0.0, 1.0]])
        >>> found = SetPrototypes(never_together, np.array([5.0, 5.0]), np.zeros(2), weight=1.0)
        >>> found.change(np.array([[2.0, 1.0]])).round(2).tolist()
        [[-0.79, -1.44]]
        """
        changed = np.empty(log_odds.shape)
        size = max(1, _CHUNK_CELLS // max(self.sets.shape))
        for start in range(0, len(log_odds), size):
            rows = slice(start, start + size)
            log_counts = self._log_counts
            if left_out is not None:
                log_counts = self._log_counts_without(left_out.at(rows))
            changed[rows] = self._change_of_chunk(log_odds[rows], log_counts)
        return changed

    def _log_counts_without(self, left_out: RowsLeftOut) -> np.ndarray:
        """Logarithms of the rows of each set that are not left out, (n_sets, n_samples)."""
        fewer = sp.coo_array(left_out.counts[left_out.groups])
        log_counts = np.repeat(self._log_counts, len(left_out.groups), axis=1)
        with np.errstate(divide="ignore"):  # Sets of no other row are out.
            log_counts[fewer.col, fewer.row] = np.log(self.counts[fewer.col] - fewer.data)
        return log_counts

    def _change_of_chunk(self, log_odds: np.ndarray, log_counts: np.ndarray) -> np.ndarray:
        within, without = self._probabilities
        # Evidence as a probability: with prior odds of one to one no exponential can overflow.
        found = expit(log_odds - (self.prior + self.offset))
        likely = (1 - within) + (2 * within - 1) * found
        unlikely = (1 - without) + (2 * without - 1) * found
        ratio = unlikely / likely
        weights = self.sets @ -np.log(ratio).T  # (n_sets, n_samples)
        weights += log_counts
        highest = weights.max(axis=0)
        has_sets = np.isfinite(highest)
        weights -= np.where(has_sets, highest, 0.0)
        np.exp(weights, out=weights)
        total = np.where(has_sets, weights.sum(axis=0), 1.0)
        inside = (self._sets_of_labels @ weights / total).T  # Share of the sets with the label.
        ratio *= inside
        excess = np.log(without * (1 - inside) + within * ratio)
        excess -= np.log((1 - without) * (1 - inside) + (1 - within) * ratio)
        return np.asarray(self.weight * (excess - self.prior) * has_sets[:, None])

    @cached_property
    def _probabilities(self) -> tuple[np.ndarray, np.ndarray]:
        return member_probabilities(self.prior)

    @cached_property
    def _log_counts(self) -> np.ndarray:
        return np.asarray(np.log(self.counts)[:, None])

    @cached_property
    def _sets_of_labels(self) -> sp.csr_array:
        return self.sets.T.tocsr()

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def moved(self, offset: np.ndarray) -> SetPrototypes:
        """The same for log-odds to which an offset was added."""
        return replace(self, offset=self.offset + offset)

    def with_label(self) -> SetPrototypes:
        """The same with one more label, of which the sets know nothing."""
        n_sets, n_labels = self.sets.shape
        parts = self.sets.data, self.sets.indices, self.sets.indptr
        return replace(
            self,
            sets=sp.csr_array(parts, shape=(n_sets, n_labels + 1)),
            prior=np.append(self.prior, 0.0),
            offset=np.append(np.broadcast_to(self.offset, self.prior.shape), 0.0),
        )


def member_probabilities(prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each label in rows whose set has it, and in rows whose set has not.

    Examples
    --------
    >>> [float(chance[0].round(3)) for chance in member_probabilities(np.array([0.0]))]
    [0.95, 0.05]
    """
    stray = _STRAY * expit(prior)
    return 1 - _STRAY + stray, stray


def fit_set_prototypes(
    log_odds: np.ndarray,
    Y: sp.csr_array,
    learned: np.ndarray,
    rng: np.random.Generator,
    groups: Groups = None,
) -> tuple[SetPrototypes, np.ndarray] | None:
    """Sets of labels where they save log-loss of unseen rows, and the changes of these rows.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Calibrated, of rows that the scoring models did not see.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    learned : ndarray of bool, shape (n_labels,)
        Labels that some of the rows have and some have not.
    rng : numpy Generator
        Draws rows where there are very many, and sets of which as many rows have each.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out of the sets together.

    Returns
    -------
    (SetPrototypes, ndarray of shape (n_samples, n_labels)) or None
        None where labels are as good by themselves.
    """
    n_samples, n_labels = Y.shape
    if learned.sum() < 2:
        return None
    sets, counts, set_of_row = _most_frequent_sets(Y, learned, rng)
    # The prior keeps the row: without it the weight would be a little larger.
    prior = log_odds_of_counts(np.asarray(Y.sum(axis=0)).ravel(), n_samples)
    found = SetPrototypes(sets, counts, np.where(learned, prior, 0.0), weight=1.0)
    left_out = _rows_left_out(set_of_row, len(counts), groups)
    rows: np.ndarray | slice = slice(None)
    if n_samples * n_labels > _MAX_CELLS:
        rows = np.sort(rng.choice(n_samples, max(1, _MAX_CELLS // n_labels), replace=False))
    change = found.change(log_odds[rows], left_out.at(rows))[:, learned]
    weight = _fitted_weight(log_odds[rows][:, learned], change, Y[rows].toarray()[:, learned])
    if weight == 0:
        return None
    found = replace(found, weight=weight)
    return found, np.where(learned, found.change(log_odds, left_out), 0.0)


def _most_frequent_sets(
    Y: sp.csr_array, learned: np.ndarray, rng: np.random.Generator
) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """The sets, the rows of each, and the place of each row's own among them, -1 for others."""
    present = Y.toarray().astype(bool) & learned
    packed = np.packbits(present, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    ties = np.arange(len(counts))
    if len(counts) > _MAX_SETS:
        rng.shuffle(ties)  # In their order the sets with the first labels would be left out.
    most = np.lexsort((ties, -counts))[:_MAX_SETS]
    position = np.full(len(counts), -1)
    position[most] = np.arange(len(most))
    sets = sp.csr_array(present[first[most]].astype(np.float64))
    return sets, counts[most].astype(np.float64), position[inverse]


def _rows_left_out(set_of_row: np.ndarray, n_sets: int, groups: Groups) -> RowsLeftOut:
    groups = np.arange(len(set_of_row)) if groups is None else groups
    known = set_of_row >= 0
    counts = sp.csr_array(
        (np.ones(known.sum()), (groups[known], set_of_row[known])),
        shape=(int(groups.max()) + 1, n_sets),
    )
    counts.sum_duplicates()
    return RowsLeftOut(counts, groups)


def _fitted_weight(log_odds: np.ndarray, change: np.ndarray, present: np.ndarray) -> float:
    """Share of the change with the smallest log-loss, 0 where it is no use."""

    def loss(weight: float) -> float:
        moved = log_odds + weight * change
        value = np.logaddexp(0.0, moved).mean() - (present * moved).mean()
        return float(value + _DOUBT * weight**2 / present.size)

    best = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded")
    if best.fun >= (1 - _LEAST_GAIN) * loss(0.0):
        return 0.0
    # Where one label excludes the others, probabilities gain and their order need not.
    is_ordered = _misordered(log_odds + best.x * change, present) < _misordered(log_odds, present)
    return float(best.x) if is_ordered else 0.0


def _misordered(log_odds: np.ndarray, present: np.ndarray) -> float:
    """Share of the pairs of a present and an absent label in the wrong order, mean over rows."""
    order = np.argsort(-log_odds, axis=1, kind="stable")
    ordered = np.take_along_axis(present, order, axis=1)
    wrong = (np.cumsum(1 - ordered, axis=1) * ordered).sum(axis=1)
    n_present = present.sum(axis=1)
    n_pairs = n_present * (present.shape[1] - n_present)
    return float(np.mean(wrong[n_pairs > 0] / n_pairs[n_pairs > 0])) if n_pairs.any() else 0.0
