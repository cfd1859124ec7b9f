"""Folds: even, seeded, honest about groups and degenerate input."""

import time

import numpy as np
import pytest
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as OracleKFold
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier

from protolabel.preprocessing.fold_quality import measure_folds
from protolabel.preprocessing.splits import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    _fill_empty,
    iterative_stratification,
)

FIFTHS = np.full(5, 0.2)


def random_labels(n_samples, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((n_samples, n_labels)) < rng.beta(0.4, 4, n_labels)).astype(int)


def oracle_folds(Y, seed):
    folds = np.empty(len(Y), dtype=int)
    splitter = OracleKFold(n_splits=5, shuffle=True, random_state=seed)
    for number, (_, test) in enumerate(splitter.split(Y, Y)):
        folds[test] = number
    return folds


def test_the_rows_of_each_label_are_spread_as_evenly_as_whole_rows_allow():
    Y = np.zeros((60, 3), dtype=int)
    Y[:20, 0] = Y[20:30, 1] = Y[30:35, 2] = 1
    folds = iterative_stratification(Y, FIFTHS, np.random.default_rng(0))
    positives = np.array([Y[folds == fold].sum(axis=0) for fold in range(5)])
    assert_array_equal(positives, np.tile([4, 2, 1], (5, 1)))
    assert_array_equal(np.bincount(folds), np.full(5, 12))


def test_the_greedy_pass_follows_the_published_algorithm_step_by_step():
    """Without repair and with distinct wishes, the naive loop gives the same folds."""
    for seed in range(20):
        Y = random_labels(40, 6, seed)
        shares = np.array([0.5, 0.3, 0.2]) + np.array([0.0101, -0.0037, -0.0064])
        folds = iterative_stratification(
            Y, shares, np.random.default_rng(seed), shuffle=False, repair=False
        )
        assert_respects_the_greedy_rule(Y, shares, folds)


def assert_respects_the_greedy_rule(Y, shares, folds):
    """Replay: whatever the ties did, every row went to a fold that wanted its label most."""
    wanted = np.outer(shares, Y.sum(axis=0)).astype(float)
    open_rows = Y.any(axis=1)
    while open_rows.any():
        remaining = Y[open_rows].sum(axis=0)
        rarest = np.flatnonzero(remaining == remaining[remaining > 0].min())
        # Labels tied for the rarest may come in any order: find one that explains the folds.
        for label in rarest:
            trial = wanted.copy()
            rows = np.flatnonzero(open_rows & (Y[:, label] == 1))
            explained = True
            for row in rows:
                if trial[folds[row], label] < trial[:, label].max() - 1e-9:
                    explained = False
                    break
                trial[folds[row], Y[row] == 1] -= 1
            if explained:
                wanted = trial
                open_rows[rows] = False
                break
        else:
            pytest.fail(f"no label among {rarest} explains the assignment")


def test_fold_sizes_differ_by_at_most_one_row():
    folds = iterative_stratification(random_labels(503, 30), FIFTHS, np.random.default_rng(1))
    assert np.ptp(np.bincount(folds)) <= 1


def test_repair_improves_both_measures():
    Y = random_labels(2000, 60)
    plain, repaired = (
        measure_folds(
            Y, iterative_stratification(Y, FIFTHS, np.random.default_rng(3), repair=repair)
        )
        for repair in (False, True)
    )
    assert repaired.label_distribution < plain.label_distribution
    assert repaired.example_distribution <= plain.example_distribution
    assert repaired.missing_pairs <= plain.missing_pairs


def test_no_label_is_missing_from_more_folds_than_its_count_forces():
    Y = random_labels(400, 40, seed=5)
    folds = iterative_stratification(Y, FIFTHS, np.random.default_rng(0))
    assert measure_folds(Y, folds).missing_pairs == np.maximum(5 - Y.sum(axis=0), 0).sum()


def test_sparse_and_dense_labels_give_the_same_folds():
    Y = random_labels(200, 10)
    dense, csr, csc = (
        iterative_stratification(form, FIFTHS, np.random.default_rng(7))
        for form in (Y, sparse.csr_matrix(Y), sparse.csc_array(Y))
    )
    assert_array_equal(dense, csr)
    assert_array_equal(dense, csc)


def test_the_same_seed_gives_the_same_folds_and_another_seed_others():
    Y = random_labels(200, 10)
    first, again, other = (
        [test.tolist() for _, test in MultilabelStratifiedKFold(random_state=seed).split(Y, Y)]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_folds_partition_the_rows():
    Y = random_labels(101, 7)
    tests = [test for _, test in MultilabelStratifiedKFold(4, random_state=0).split(Y, Y)]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(101))
    for train, test in MultilabelStratifiedKFold(4, random_state=0).split(Y, Y):
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(101))


def test_without_shuffling_the_folds_are_always_the_same():
    Y = random_labels(100, 5)
    first, again = (
        [test.tolist() for _, test in MultilabelStratifiedKFold(shuffle=False).split(Y, Y)]
        for _ in range(2)
    )
    assert first == again


def test_rows_of_a_group_share_a_fold_and_labels_stay_even():
    rng = np.random.default_rng(0)
    Y = random_labels(900, 8)
    groups = rng.integers(0, 150, 900)
    folds = iterative_stratification(Y, FIFTHS, np.random.default_rng(0), groups=groups)
    for group in np.unique(groups):
        assert np.unique(folds[groups == group]).size == 1
    by_chance = rng.integers(0, 5, 150)[groups]
    grouped, chance = measure_folds(Y, folds), measure_folds(Y, by_chance)
    assert grouped.label_distribution < chance.label_distribution / 2
    assert grouped.example_distribution < chance.example_distribution / 2


def test_groups_given_to_scikit_learn_reach_the_splitter():
    rng = np.random.default_rng(0)
    X, Y = (
        rng.normal(size=(120, 3)),
        random_labels(120, 3, seed=2) | (np.arange(120) % 3 == 0)[:, None],
    )
    groups = np.arange(120) // 10
    splits = list(MultilabelStratifiedKFold(3, random_state=0).split(X, Y, groups))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
    model = OneVsRestClassifier(LogisticRegression())
    scores = cross_val_score(
        model, X, Y, groups=groups, cv=MultilabelStratifiedKFold(3, random_state=0)
    )
    assert scores.shape == (3,)


def test_metadata_routing_hands_groups_to_the_splitter():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 3)), rng.integers(0, 2, (120, 3))
    groups = np.arange(120) // 10
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            OneVsRestClassifier(LogisticRegression()),
            X,
            Y,
            params={"groups": groups},
            cv=MultilabelStratifiedKFold(3, random_state=0),
            return_indices=True,
        )
    for train, test in zip(*found["indices"].values(), strict=True):
        assert not set(groups[train]) & set(groups[test])


def test_the_splitters_work_in_grid_search_with_sparse_labels():
    X = np.random.default_rng(0).normal(size=(90, 4))
    Y = sparse.csr_matrix((X[:, :3] > 0).astype(int))
    search = GridSearchCV(
        OneVsRestClassifier(LogisticRegression()),
        {"estimator__C": [0.1, 10.0]},
        cv=MultilabelStratifiedShuffleSplit(2, random_state=0),
    )
    assert search.fit(X, Y).best_score_ > 0.5


def test_shuffle_split_has_the_wanted_size_and_even_labels():
    Y = random_labels(1000, 12)
    splits = list(MultilabelStratifiedShuffleSplit(3, test_size=0.3, random_state=0).split(Y, Y))
    assert len(splits) == 3
    for train, test in splits:
        assert (len(train), len(test)) == (700, 300)
        assert np.abs(Y[test].sum(axis=0) - 0.3 * Y.sum(axis=0)).max() <= 1
    assert sorted(splits[0][1]) != sorted(splits[1][1])


def test_shuffle_split_takes_lists_of_labels_of_any_length():
    labels = [["a"], ["a", "b"], ["b"], []] * 10
    train, test = next(MultilabelStratifiedShuffleSplit(1, test_size=0.25).split(labels, labels))
    assert (len(train), len(test)) == (30, 10)


def test_shuffle_split_takes_a_number_of_test_rows():
    Y = random_labels(50, 4)
    _, test = next(MultilabelStratifiedShuffleSplit(test_size=7, random_state=0).split(Y, Y))
    assert len(test) == 7


def test_rows_without_any_label_are_still_spread_evenly():
    folds = iterative_stratification(np.zeros((23, 4)), FIFTHS, np.random.default_rng(0))
    assert sorted(np.bincount(folds).tolist()) == [4, 4, 5, 5, 5]


def test_a_single_label_may_be_a_vector():
    y = np.array([1] * 10 + [0] * 30)
    folds = iterative_stratification(y, FIFTHS, np.random.default_rng(0))
    assert_array_equal(np.bincount(folds[:10]), np.full(5, 2))


def test_classes_and_label_sets_are_stratified_too():
    classes = np.repeat(["a", "b", "c"], [10, 15, 25])
    folds = iterative_stratification(classes, FIFTHS, np.random.default_rng(0))
    for name, count in (("a", 2), ("b", 3), ("c", 5)):
        assert_array_equal(np.bincount(folds[classes == name]), np.full(5, count))
    sets = [{name} for name in classes]
    assert_array_equal(iterative_stratification(sets, FIFTHS, np.random.default_rng(0)), folds)


def test_a_label_that_every_row_has_does_no_harm():
    Y = np.column_stack([np.ones(20, dtype=int), np.arange(20) % 4 == 0])
    folds = iterative_stratification(Y, FIFTHS, np.random.default_rng(0))
    assert_array_equal(np.bincount(folds), np.full(5, 4))
    assert np.isfinite(measure_folds(Y, folds).label_distribution)


def test_as_many_rows_as_folds_gives_one_row_each():
    folds = iterative_stratification(np.eye(5, dtype=int), FIFTHS, np.random.default_rng(0))
    assert sorted(folds.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: iterative_stratification(np.ones((3, 1)), FIFTHS, np.random.default_rng(0)),
            r"cannot fill 5 folds from 3 row\(s\); use at most 3 folds",
        ),
        (
            lambda: iterative_stratification(
                np.ones((9, 1)), FIFTHS, np.random.default_rng(0), groups=np.zeros(9)
            ),
            r"cannot fill 5 folds from 1 group\(s\)",
        ),
        (
            lambda: iterative_stratification([[2, 0]], [1.0], np.random.default_rng(0)),
            r"Y contains the value 2; a label matrix may contain only 0 and 1",
        ),
        (
            lambda: iterative_stratification([[1, 0]], [0.5, 0.6], np.random.default_rng(0)),
            r"proportions sum to 1\.1, expected 1",
        ),
        (lambda: MultilabelStratifiedKFold(1), r"n_splits is 1, expected a whole number"),
        (
            lambda: MultilabelStratifiedKFold(shuffle=False, random_state=0),
            r"shuffle is False, so it would have no effect",
        ),
        (
            lambda: next(MultilabelStratifiedKFold().split(np.ones((9, 1)))),
            r"Y is None; stratified splits of the 9 rows need their labels",
        ),
        (
            lambda: next(
                MultilabelStratifiedShuffleSplit(test_size=9).split(np.ones((9, 1)), np.eye(9))
            ),
            r"test_size=9 puts 9 of 9 rows into the test part",
        ),
    ],
)
def test_impossible_requests_are_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_measures_equal_a_hand_computed_case():
    Y = [[1], [1], [1], [0], [0], [0]]
    quality = measure_folds(Y, [0, 0, 1, 0, 1, 1])
    assert quality.label_distribution == pytest.approx((abs(2 / 1 - 1) + abs(1 / 2 - 1)) / 2)
    assert quality.example_distribution == 0
    assert quality.missing_pairs == 0
    uneven = measure_folds(Y, [0, 0, 0, 0, 1, 1])
    assert uneven.example_distribution == 1
    assert (uneven.folds_missing_a_label, uneven.missing_pairs) == (1, 1)


def test_folds_are_at_least_as_even_as_the_oracle():
    rng = np.random.default_rng(4)
    Y = (rng.random((5000, 400)) < rng.beta(0.3, 25, 400)).astype(int)
    ours = iterative_stratification(Y, FIFTHS, np.random.default_rng(0))
    assert_at_least_as_even(Y, ours, oracle_folds(Y, 0))


@pytest.mark.parametrize("name", ["corel5k", "bibtex", "delicious"])
@pytest.mark.usefixtures("benchmark_data")
def test_real_folds_are_at_least_as_even_as_the_oracle(name):
    from protolabel.datasets import load_dataset

    Y = load_dataset(name).Y
    ours = iterative_stratification(Y, FIFTHS, np.random.default_rng(0))
    assert_at_least_as_even(Y, ours, oracle_folds(Y.toarray(), 0))


def assert_at_least_as_even(Y, ours, theirs):
    mine, other = measure_folds(Y, ours), measure_folds(Y, theirs)
    assert mine.label_distribution <= other.label_distribution
    assert mine.example_distribution <= other.example_distribution
    assert mine.missing_pairs <= other.missing_pairs


def test_a_hundred_thousand_rows_take_seconds():
    rng = np.random.default_rng(0)
    Y = sparse.random_array((100_000, 200), density=0.02, random_state=rng, format="csr")
    Y.data[:] = 1
    started = time.process_time()
    folds = iterative_stratification(Y, FIFTHS, rng)
    assert time.process_time() - started < 8
    assert np.ptp(np.bincount(folds)) <= 1


@pytest.mark.parametrize("n_groups", range(2, 13))
def test_no_part_is_empty_however_few_groups_there_are(n_groups):
    rng = np.random.default_rng(n_groups)
    for groups in (np.arange(60) % n_groups, np.sort(rng.integers(0, n_groups, 60))):
        Y = rng.integers(0, 2, size=(60, 4))
        for share in (0.05, 0.2, 0.5):
            splitter = MultilabelStratifiedShuffleSplit(4, test_size=share, random_state=0)
            for train, test in splitter.split(Y, Y, groups):
                assert len(train) > 0
                assert len(test) > 0
                assert not set(groups[train]) & set(groups[test])
        n_folds = len(np.unique(groups))
        folds = iterative_stratification(
            Y, np.full(n_folds, 1 / n_folds), np.random.default_rng(0), groups=groups
        )
        assert set(folds) == set(range(n_folds))


def test_a_part_is_not_filled_by_emptying_another_one():
    folds = np.array([0, 0, 1])
    _fill_empty(folds, np.array([10, 1, 5]), np.array([0.5, 0.25, 0.25]))
    assert folds.tolist() == [0, 2, 1]
