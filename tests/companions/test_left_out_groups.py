"""No learner tells a row anything that only its own group knows."""

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions import fusion, kernel_rows
from protolabel.companions.forest import fit_forest
from protolabel.companions.kernel_choice import KernelChoice
from protolabel.companions.kernel_ridge import fit_kernel_ridge
from protolabel.companions.label_priors import log_odds_of_counts
from protolabel.companions.prototype_forest import fit_prototype_forest
from protolabel.companions.relevance import column_weights

N_GROUPS, SIZE = 30, 4


@pytest.fixture
def secrets():
    """Rows that are nearly copies in each group, and a label of its own for every group."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(N_GROUPS), SIZE))
    X = rng.normal(size=(N_GROUPS, 5))[groups] + 1e-3 * rng.normal(size=(len(groups), 5))
    return X, sp.csr_array(np.eye(N_GROUPS, dtype=int)[groups]), groups


LEARNERS = {
    "kernel": fit_kernel_ridge,
    "few landmarks": lambda *args, **kw: fit_kernel_ridge(*args, n_landmarks=20, **kw),
    "forest": fit_forest,
    "prototype forest": fit_prototype_forest,
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", LEARNERS)
def test_the_secret_of_a_group_stays_in_it(name, form, secrets):
    X, Y, groups = secrets
    present = Y.toarray().astype(bool)

    def lead(groups):
        _, scores = LEARNERS[name](form(X), Y, np.random.default_rng(0), groups=groups)
        return np.median(scores[present]) - np.median(scores[~present])

    assert lead(groups) < 0.5
    assert lead(None) > 2


def test_trees_are_the_same_with_any_number_of_threads(secrets, monkeypatch):
    X, Y, groups = secrets
    monkeypatch.setattr("protolabel.companions.forest._MIN_ROWS_OF_THREADS", 1)
    one, two = (
        fit_forest(X, Y, np.random.default_rng(0), n_trees=20, n_jobs=n_jobs, groups=groups)
        for n_jobs in (1, 2)
    )
    assert np.array_equal(one[1], two[1])
    assert np.array_equal(one[0].scores(X), two[0].scores(X))


def test_rows_beyond_the_most_are_of_other_groups(secrets, monkeypatch):
    X, Y, groups = secrets
    monkeypatch.setattr(kernel_rows, "MAX_ROWS", 50)
    _, scores = fit_kernel_ridge(X, Y, np.random.default_rng(0), groups=groups)
    present = Y.toarray().astype(bool)
    assert scores[present].max() < -2


def test_weights_by_others_come_from_other_groups():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(60), 5)
    X = rng.normal(size=(300, 8))
    targets = (X[:, :2] > 0).astype(float)
    found = column_weights(X, targets, KernelChoice(0.0, 1.0, 0.1), rng, groups)
    assert found is not None
    (first, _), (second, _) = found.by_others
    assert not set(groups[first]) & set(groups[second])
    assert len(first) + len(second) == 300


def test_one_group_for_most_rows_has_no_halves():
    rng = np.random.default_rng(1)
    groups = np.where(np.arange(300) < 290, 0, 1)
    X = rng.normal(size=(300, 8))
    targets = (X[:, :2] > 0).astype(float)
    assert column_weights(X, targets, KernelChoice(0.0, 1.0, 0.1), rng, groups) is None


def test_prior_odds_leave_the_group_out():
    rng = np.random.default_rng(0)
    groups = rng.integers(20, size=100)
    truth = (rng.random((100, 4)) < [0.1, 0.3, 0.5, 0.8]).astype(int)
    cells = rng.permutation(400)[:150]
    found = fusion._prior_without(cells, truth.ravel()[cells], sp.csr_array(truth), groups)
    for cell, value in zip(cells, found, strict=True):
        row, label = divmod(cell, 4)
        others = groups != groups[row]
        expected = log_odds_of_counts(truth[others, label].sum(), others.sum())
        assert value == pytest.approx(expected)
