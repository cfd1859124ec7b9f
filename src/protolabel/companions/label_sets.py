"""What the sets of labels that rows have say about one row.

Learners judge labels one by one, as if any set could come. Here every set of the training rows is
a prototype: a row has one of them, drawn as often as it occurs, but each label may have been
drawn by its own frequency instead. What the learners have found in the row is evidence for and
against every set, and the sets, weighed by it, say how likely each label is (Bayes' rule, exact
for this model). Their log-odds count by a weight that is fitted on rows the learners did not
see; where that saves next to nothing, labels stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
# (set, row) cells at once.
_CHUNK_CELLS = 2**21


@dataclass(frozen=True)
class LabelSets:
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

    def change(self, log_odds: np.ndarray) -> np.ndarray:
        """What is to be added to the log-odds of rows, (n_samples, n_labels).

        Examples
        --------
        >>> never_together = sp.csr_array([[1.0, 0.0], [0.0, 1.0]])
        >>> found = LabelSets(never_together, np.array([5.0, 5.0]), np.zeros(2), weight=1.0)
        >>> found.change(np.array([[2.0, 1.0]])).round(2).tolist()
        [[-0.79, -1.44]]
        """
        return self._change(log_odds, None)

    def change_of_unseen(self, log_odds: np.ndarray, own: sp.csr_array) -> np.ndarray:
        """The same for training rows, each without the sets of its group.

        Parameters
        ----------
        log_odds : ndarray of shape (n_samples, n_labels)
        own : CSR of shape (n_samples, n_sets)
            How many of the rows of each set belong to the group of the row.
        """
        return self._change(log_odds, own)

    def _change(self, log_odds: np.ndarray, own: sp.csr_array | None) -> np.ndarray:
        changed = np.empty(log_odds.shape)
        size = max(1, _CHUNK_CELLS // len(self.counts))
        for start in range(0, len(log_odds), size):
            rows = slice(start, start + size)
            counts = self.counts[:, None]
            if own is not None:
                counts = counts - own[rows].toarray().T
            changed[rows] = self._change_of_chunk(log_odds[rows], counts)
        return changed

    def _change_of_chunk(self, log_odds: np.ndarray, counts: np.ndarray) -> np.ndarray:
        within, without = member_probabilities(self.prior)
        # Evidence as a probability: with prior odds of one to one no exponential can overflow.
        found = expit(log_odds - self.prior - self.offset)
        likely = (1 - within) + (2 * within - 1) * found
        unlikely = (1 - without) + (2 * without - 1) * found
        with np.errstate(divide="ignore"):  # Sets of no other row are out.
            heights = self.sets @ np.log(likely / unlikely).T + np.log(counts)
        highest = heights.max(axis=0)
        has_sets = np.isfinite(highest)
        weights = np.exp(heights - np.where(has_sets, highest, 0.0))
        weights /= np.where(has_sets, weights.sum(axis=0), 1.0)
        inside = np.asarray(self.sets.T @ weights).T  # Posterior share of sets with the label.
        scaled = inside * unlikely / likely
        excess = np.log(without * (1 - inside) + within * scaled)
        excess -= np.log((1 - without) * (1 - inside) + (1 - within) * scaled)
        return np.asarray(self.weight * (excess - self.prior) * has_sets[:, None])

    def moved(self, offset: np.ndarray) -> LabelSets:
        """The same for log-odds to which an offset was added."""
        return replace(self, offset=self.offset + offset)

    def with_label(self) -> LabelSets:
        """The same with one more label, of which the sets know nothing."""
        n_sets, n_labels = self.sets.shape
        sets = sp.csr_array((self.sets.data, self.sets.indices, self.sets.indptr))
        sets.resize(n_sets, n_labels + 1)
        offset = np.broadcast_to(self.offset, self.prior.shape)
        return replace(
            self, sets=sets, prior=np.append(self.prior, 0.0), offset=np.append(offset, 0.0)
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


def fit_label_sets(
    log_odds: np.ndarray,
    Y: sp.csr_array,
    learned: np.ndarray,
    rng: np.random.Generator,
    groups: Groups = None,
) -> tuple[LabelSets, np.ndarray] | None:
    """Sets of labels where they save log-loss of unseen rows, and the changes of these rows.

    Parameters
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Calibrated, of rows that the scoring models did not see.
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    learned : ndarray of bool, shape (n_labels,)
        Labels that some of the rows have and some have not.
    rng : numpy Generator
        Draws the rows used where there are very many.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows whose sets are left out together.

    Returns
    -------
    (LabelSets, ndarray of shape (n_samples, n_labels)) or None
        None where labels are as good by themselves.
    """
    n_samples, n_labels = Y.shape
    if learned.sum() < 2:
        return None
    counts = np.asarray(Y.sum(axis=0)).ravel()
    sets, n_rows, set_of_row = _distinct_sets(Y, learned)
    found = LabelSets(
        sets=sets,
        counts=n_rows,
        prior=np.where(learned, log_odds_of_counts(counts, n_samples), 0.0),
        weight=1.0,
    )
    own = _sets_of_groups(set_of_row, len(n_rows), groups)
    rows: np.ndarray | slice = slice(None)
    if n_samples * n_labels > _MAX_CELLS:
        rows = np.sort(rng.choice(n_samples, max(1, _MAX_CELLS // n_labels), replace=False))
    change = found.change_of_unseen(log_odds[rows], own[rows])[:, learned]
    weight = _fitted_weight(log_odds[rows][:, learned], change, Y[rows].toarray()[:, learned])
    if weight == 0:
        return None
    found = replace(found, weight=weight)
    return found, np.where(learned, found.change_of_unseen(log_odds, own), 0.0)


def _distinct_sets(
    Y: sp.csr_array, learned: np.ndarray
) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """The most frequent sets, the rows of each, and the place of each row's own, -1 for others."""
    present = Y.toarray().astype(bool) & learned
    packed = np.packbits(present, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    most = np.argsort(-counts, kind="stable")[:_MAX_SETS]
    position = np.full(len(first), -1)
    position[most] = np.arange(len(most))
    sets = sp.csr_array(present[first[most]].astype(np.float64))
    return sets, counts[most].astype(np.float64), position[inverse]


def _sets_of_groups(set_of_row: np.ndarray, n_sets: int, groups: Groups) -> sp.csr_array:
    """How many rows of each set are in the group of each row, (n_samples, n_sets)."""
    n_samples = len(set_of_row)
    listed = np.flatnonzero(set_of_row >= 0)
    own = sp.csr_array(
        (np.ones(len(listed)), (listed, set_of_row[listed])), shape=(n_samples, n_sets)
    )
    if groups is None:
        return own
    membership = sp.csr_array((np.ones(n_samples), (groups, np.arange(n_samples))))
    return (membership @ own)[groups]


def _fitted_weight(log_odds: np.ndarray, change: np.ndarray, present: np.ndarray) -> float:
    """Share of the change with the smallest log-loss, 0 where it saves next to nothing."""

    def loss(weight: float) -> float:
        moved = log_odds + weight * change
        value = np.logaddexp(0.0, moved).mean() - (present * moved).mean()
        return float(value + _DOUBT * weight**2 / present.size)

    best = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded")
    return float(best.x) if best.fun < (1 - _LEAST_GAIN) * loss(0.0) else 0.0
