"""Labels in the light of the sets that rows have: Bayes' rule by enumeration, and its limits."""

import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit

from protolabel.companions import set_prototypes
from protolabel.companions.fusion import Fusion, fit_fusion
from protolabel.companions.set_prototypes import RowsLeftOut, SetPrototypes, fit_set_prototypes

STRAY = 0.1


def literal_probabilities(log_odds, sets, counts, prior):
    """Enumerate every set that a row may have and every set that it may come from."""
    n_labels = len(log_odds)
    shares = expit(prior)
    total, of_label = 0.0, np.zeros(n_labels)
    for truth in product([0, 1], repeat=n_labels):
        chance = 0.0
        for members, count in zip(sets, counts, strict=True):
            part = float(count)
            for k in range(n_labels):
                there = (1 - STRAY) * members[k] + STRAY * shares[k]
                part *= there if truth[k] else 1 - there
            chance += part
        for k in range(n_labels):
            if truth[k]:
                chance *= np.exp(log_odds[k] - prior[k])
        total += chance
        of_label += chance * np.array(truth)
    return of_label / total


def some_sets(rng, n_sets=6, n_labels=4):
    sets = rng.integers(0, 2, (n_sets, n_labels)).astype(float)
    counts = rng.integers(1, 9, n_sets).astype(float)
    return SetPrototypes(sp.csr_array(sets), counts, rng.normal(-1, 1, n_labels), weight=1.0)


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_are_those_of_all_sets_enumerated(seed):
    rng = np.random.default_rng(seed)
    found = some_sets(rng)
    log_odds = rng.normal(-1, 2, (7, 4))
    expected = [
        literal_probabilities(row, found.sets.toarray(), found.counts, found.prior)
        for row in log_odds
    ]
    np.testing.assert_allclose(expit(log_odds + found.change(log_odds)), expected, rtol=1e-10)


def by_row(counts):
    """Every row is a group of its own."""
    return RowsLeftOut(sp.csr_array(counts), np.arange(len(counts)))


def test_a_training_row_is_judged_by_the_sets_of_the_others():
    rng = np.random.default_rng(0)
    found = some_sets(rng)
    log_odds = rng.normal(-1, 2, (3, 4))
    own = np.zeros((3, 6))
    own[[0, 1, 2], [2, 0, 5]] = 1
    own[2, 1] = found.counts[1]  # All rows of a set may be in the group of a row.
    for row in range(3):
        others = replace(found, counts=found.counts - own[row])
        expected = literal_probabilities(
            log_odds[row], found.sets.toarray(), others.counts, found.prior
        )
        changed = log_odds + found.change(log_odds, by_row(own))
        np.testing.assert_allclose(expit(changed[row]), expected, rtol=1e-10)


def test_a_row_of_no_other_sets_stays_as_it_is():
    found = some_sets(np.random.default_rng(0))
    change = found.change(np.ones((1, 4)), by_row(found.counts[None]))
    assert change.tolist() == [[0.0] * 4]


def test_labels_by_themselves_stay_as_they_are():
    """Of labels that come independently the sets say nothing new."""
    shares = np.array([0.3, 0.6])
    sets = np.array(list(product([0.0, 1.0], repeat=2)))
    counts = 1000 * np.prod(np.where(sets == 1, shares, 1 - shares), axis=1)
    found = SetPrototypes(sp.csr_array(sets), counts, logit(shares), weight=1.0)
    log_odds = np.random.default_rng(0).normal(0, 3, (20, 2))
    np.testing.assert_allclose(found.change(log_odds), 0, atol=1e-10)


def test_the_weight_is_a_share_of_the_way_and_an_offset_is_looked_through():
    rng = np.random.default_rng(3)
    found = some_sets(rng)
    log_odds, offset = rng.normal(-1, 2, (5, 4)), rng.normal(size=4)
    change = found.change(log_odds)
    np.testing.assert_allclose(replace(found, weight=0.25).change(log_odds), change / 4)
    moved = found.moved(offset / 2).moved(offset / 2)
    np.testing.assert_allclose(moved.change(log_odds + offset), change, atol=1e-12)


@pytest.mark.parametrize("size", [1e2, 1e4, 1e300])
def test_certain_learners_give_finite_changes(size):
    found = some_sets(np.random.default_rng(1))
    signs = np.array(list(product([-1.0, 1.0], repeat=4)))
    assert np.isfinite(found.change(size * signs)).all()


def test_rows_do_not_depend_on_the_rows_beside_them(monkeypatch):
    found = some_sets(np.random.default_rng(2))
    log_odds = np.random.default_rng(3).normal(size=(9, 4))
    whole = found.change(log_odds)
    monkeypatch.setattr(set_prototypes, "_CHUNK_CELLS", 12)
    np.testing.assert_allclose(found.change(log_odds), whole, rtol=1e-12)
    one_by_one = np.vstack([found.change(row[None]) for row in log_odds])
    np.testing.assert_allclose(one_by_one, whole, rtol=1e-12)
    assert found.change(log_odds[:0]).shape == (0, 4)


def test_sets_without_any_label_take_one_more():
    empty = SetPrototypes(sp.csr_array((1, 2)), np.ones(1), np.zeros(2), weight=1.0)
    assert empty.with_label().sets.shape == (1, 3)


def test_a_label_that_came_later_tells_the_sets_nothing():
    found = some_sets(np.random.default_rng(4)).moved(np.full(4, 0.5))
    log_odds = np.random.default_rng(5).normal(size=(6, 4))
    wide = found.with_label()
    for added in (-9.0, 9.0):
        change = wide.change(np.column_stack([log_odds, np.full(6, added)]))
        np.testing.assert_allclose(change[:, :4], found.change(log_odds), rtol=1e-12)


def rows_of_two_kinds(n_rows=600, seed=0, noise=1.5, shared=0.0):
    """Labels 0 to 2 come together, 3 to 5 come together, and learners see each of them dimly.

    With shared noise they err alike in all labels of a row, and sets believe too much.
    """
    rng = np.random.default_rng(seed)
    first = rng.random(n_rows) < 0.4
    Y = np.column_stack([first, first, first, ~first, ~first, ~first]).astype(int)
    stray = rng.random(Y.shape) < 0.03
    Y = np.where(stray, 1 - Y, Y)
    evidence = (2 * Y - 1) + rng.normal(0, noise, Y.shape)
    evidence += shared * rng.normal(size=(n_rows, 1)) * [1, 1, 1, -1, -1, -1]
    shares = (Y.sum(0) + 0.5) / (n_rows + 1)
    return logit(shares) + 2 * evidence / noise**2, Y


def log_loss(log_odds, Y):
    return float((np.logaddexp(0, log_odds) - Y * log_odds).mean())


def fitted(log_odds, Y, groups=None, learned=None):
    learned = np.ones(Y.shape[1], dtype=bool) if learned is None else learned
    return fit_set_prototypes(log_odds, sp.csr_array(Y), learned, np.random.default_rng(0), groups)


def test_labels_that_come_together_help_each_other_in_new_rows():
    found, change = fitted(*rows_of_two_kinds())
    log_odds, Y = rows_of_two_kinds(seed=1)
    assert 0 < found.weight <= 1
    assert change.shape == Y.shape
    assert log_loss(log_odds + found.change(log_odds), Y) < 0.8 * log_loss(log_odds, Y)


def test_the_weight_has_the_smallest_log_loss_of_rows_without_their_own_sets():
    log_odds, Y = rows_of_two_kinds(shared=1.0)
    found, change = fitted(log_odds, Y)
    assert 0.1 < found.weight < 0.9
    best = log_loss(log_odds + change, Y)
    for weight in (found.weight - 0.1, found.weight + 0.1):
        assert log_loss(log_odds + change * weight / found.weight, Y) > best + 1e-5


def test_independent_labels_have_no_sets():
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 5)) < [0.1, 0.2, 0.3, 0.5, 0.7]).astype(int)
    assert fitted(logit(Y.mean(0)) + rng.normal(2 * Y - 1, 1.5), Y) is None


def test_labels_that_only_exclude_each_other_have_no_sets():
    """The order of their log-odds is right already, and stays as it is."""
    rng = np.random.default_rng(0)
    Y = np.eye(4, dtype=int)[rng.integers(0, 4, 400)]
    log_odds = logit(0.25) + 2 * rng.normal(2 * Y - 1, 1.0)
    assert fitted(log_odds, Y) is None
    learned = np.ones(4, dtype=bool)
    sets, *_ = set_prototypes._most_frequent_sets(sp.csr_array(Y), learned, rng)
    change = SetPrototypes(sets, np.full(4, 100.0), np.full(4, logit(0.25)), 0.5).change(log_odds)
    assert log_loss(log_odds + change, Y) < 0.9 * log_loss(log_odds, Y)


def test_pairs_in_the_wrong_order_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    log_odds, present = rng.normal(size=(30, 5)), (rng.random((30, 5)) < 0.4).astype(int)
    present[0], present[1] = 0, 1
    shares = []
    for scores, row in zip(log_odds, present, strict=True):
        pairs = [(a, b) for a in range(5) for b in range(5) if row[a] and not row[b]]
        if pairs:
            shares.append(np.mean([scores[a] < scores[b] for a, b in pairs]))
    assert set_prototypes._misordered(log_odds, present) == pytest.approx(np.mean(shares))
    assert set_prototypes._misordered(log_odds[:2], present[:2]) == 0


@pytest.mark.parametrize("n_learned", [0, 1])
def test_fewer_than_two_labels_have_no_sets(n_learned):
    log_odds, Y = rows_of_two_kinds(50)
    assert fitted(log_odds, Y, learned=np.arange(6) < n_learned) is None


def test_labels_of_every_row_are_no_part_of_the_sets():
    log_odds, Y = rows_of_two_kinds()
    Y[:, 0] = 1
    found, change = fitted(log_odds, Y, learned=np.arange(6) > 0)
    assert found.sets[:, [0]].nnz == 0
    assert (change[:, 0] == 0).all()
    log_odds[:, 0] += 100.0
    np.testing.assert_array_equal(fitted(log_odds, Y, learned=np.arange(6) > 0)[1], change)


def test_copies_of_a_row_do_not_vouch_for_it():
    """Sets of one row each say nothing of another row, however often the row is there."""
    rng = np.random.default_rng(0)
    Y = np.unique((rng.random((80, 9)) < 0.4).astype(int), axis=0)
    log_odds = logit(Y.mean(0)) + rng.normal(2 * Y - 1, 2.0)
    twice, groups = np.vstack([Y, Y]), np.tile(np.arange(len(Y)), 2)
    known = np.vstack([log_odds, log_odds])
    assert fitted(log_odds, Y) is None
    assert fitted(known, twice) is not None  # The copy gives the set away.
    assert fitted(known, twice, groups) is None


def test_only_the_most_frequent_sets_are_kept(monkeypatch):
    log_odds, Y = rows_of_two_kinds()
    monkeypatch.setattr(set_prototypes, "_MAX_SETS", 3)
    found, change = fitted(log_odds, Y)
    kinds, counts = np.unique(Y, axis=0, return_counts=True)
    assert found.sets.shape == (3, 6)
    assert found.counts.tolist() == np.sort(counts)[:-4:-1].tolist()
    for members, count in zip(found.sets.toarray(), found.counts, strict=True):
        assert counts[(kinds == members).all(1)].tolist() == [count]
    assert np.isfinite(change).all()


def test_of_equally_frequent_sets_any_may_be_kept(monkeypatch):
    """With the first ones in the order of the labels, the first labels would be in none."""
    rng = np.random.default_rng(0)
    Y = np.unique((rng.random((900, 12)) < 0.4).astype(int), axis=0)
    monkeypatch.setattr(set_prototypes, "_MAX_SETS", 200)
    assert len(Y) > 400
    learned = np.ones(12, dtype=bool)
    sets, counts, _ = set_prototypes._most_frequent_sets(sp.csr_array(Y), learned, rng)
    assert counts.tolist() == [1.0] * 200
    np.testing.assert_allclose(sets.mean(axis=0), Y.mean(axis=0), atol=0.12)


def test_chunks_are_bounded_by_labels_as_by_sets(monkeypatch):
    found = some_sets(np.random.default_rng(2), n_sets=2, n_labels=8)
    sizes = []
    whole = SetPrototypes._change_of_chunk

    def spy(self, log_odds, log_counts):
        sizes.append(len(log_odds))
        return whole(self, log_odds, log_counts)

    monkeypatch.setattr(SetPrototypes, "_change_of_chunk", spy)
    monkeypatch.setattr(set_prototypes, "_CHUNK_CELLS", 24)
    found.change(np.zeros((7, 8)))
    assert sizes == [3, 3, 1]


def test_groups_of_many_rows_take_no_more_memory_than_their_sets():
    log_odds, Y = rows_of_two_kinds(4000)
    groups = np.arange(4000) % 10
    left_out = set_prototypes._rows_left_out(np.arange(4000) % 500, 500, groups)
    assert left_out.counts.shape == (10, 500)
    assert left_out.counts.nnz <= 5000
    assert fitted(log_odds, Y, groups) is not None


def test_what_is_prepared_for_predictions_is_not_pickled():
    found = some_sets(np.random.default_rng(0))
    before = pickle.dumps(found)
    found.change(np.zeros((2, 4)))
    assert pickle.dumps(found) == before


def test_of_very_many_cells_some_rows_are_enough(monkeypatch):
    log_odds, Y = rows_of_two_kinds(3000, shared=1.0)
    whole, _ = fitted(log_odds, Y)
    monkeypatch.setattr(set_prototypes, "_MAX_CELLS", 6 * 1000)
    some, change = fitted(log_odds, Y)
    assert some.weight != whole.weight
    assert some.weight == pytest.approx(whole.weight, abs=0.2)
    assert change.shape == Y.shape


@pytest.fixture
def refined():
    """A fusion of two learners in the light of label sets, and what it was made from."""
    log_odds, Y = rows_of_two_kinds()
    other = rows_of_two_kinds(seed=0, noise=2.0)[0]
    learners, S = [log_odds, other], sp.csr_array(Y)
    plain = fit_fusion(learners, S, np.random.default_rng(0))
    fusion, unseen = plain.refined(plain.combine(learners), S, np.random.default_rng(0))
    return learners, S, plain, fusion, unseen


def test_a_refined_fusion_adds_the_sets_and_then_the_order(refined):
    learners, Y, plain, fusion, unseen = refined
    log_odds = plain.combine(learners)
    sets, change = fit_set_prototypes(log_odds, Y, plain.learned, np.random.default_rng(0))
    np.testing.assert_allclose(unseen, log_odds + change)
    order = fusion.shifts - plain.shifts
    assert np.abs(order).max() > 1e-3
    expected = log_odds + sets.change(log_odds) + order
    np.testing.assert_allclose(fusion.combine(learners), expected, atol=1e-10)
    np.testing.assert_allclose(fusion.one_by_one(learners), log_odds + order)


def test_a_fusion_with_one_more_label_gives_the_others_the_same(refined):
    learners, _, _, fusion, _ = refined
    added = np.linspace(-3, 3, len(learners[0]))
    wide = fusion.with_label().combine([np.column_stack([part, added]) for part in learners])
    np.testing.assert_allclose(wide[:, :6], fusion.combine(learners), rtol=1e-12)
    np.testing.assert_array_equal(wide[:, 6], added)


def test_a_fusion_without_sets_is_only_put_in_order():
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((200, 3)) < 0.3).astype(int))
    log_odds = rng.normal(-1, 1, (200, 3))
    plain = Fusion(np.array([1.0]), 0.0, np.ones(3, dtype=bool), np.zeros(3))
    fusion, unseen = plain.refined(log_odds, Y, rng)
    assert fusion.set_prototypes is None
    assert unseen is log_odds
    np.testing.assert_array_equal(fusion.shifts, plain.in_order(log_odds, Y).shifts)
