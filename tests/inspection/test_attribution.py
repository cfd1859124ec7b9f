"""Gradients against finite differences, jumps of a forest against its scores."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions.forest import Forest, fit_forest
from protolabel.companions.kernel_ridge import KernelRidge, fit_kernel_ridge
from protolabel.companions.prototype_forest import fit_prototype_forest
from protolabel.companions.prototype_trees import PrototypeTrees
from protolabel.inspection import prototype_jumps
from protolabel.inspection.attribution import feature_pulls, kernel_pulls, smooth_gradient
from protolabel.inspection.forest_jumps import forest_pulls
from protolabel.inspection.gradients import kernel_gradients, network_gradients
from protolabel.inspection.prototype_jumps import prototype_forest_pulls
from protolabel.inspection.straight_path import StraightPath
from protolabel.pnml.rows import feature_rows

STEP = 1e-5


def differences(score, row):
    """Central differences of scores by each feature, (n_labels, n_features)."""
    steps = STEP * np.eye(len(row))
    return (score(row + steps) - score(row - steps)).T / (2 * STEP)


def network_scores(network, rows):
    given = feature_rows(rows, network.positions.device, dtype=network.embedding.weight.dtype)
    return network.average_members(network.member_logits(given)).numpy()


def in_double(model):
    """A copy whose networks compute in double precision."""
    return replace(model.model_, network=copy.deepcopy(model.model_.network).double())


def test_the_gradient_of_the_networks_is_exact(variant):
    network = in_double(variant).network
    row = np.random.default_rng(1).normal(size=6)
    labels = np.array([2, 0])
    found = network_gradients(network, row[None], np.arange(6), labels)[:, 0]
    expected = differences(lambda rows: network_scores(network, rows), row)[labels]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.5, 0.0, 0.2])])
@pytest.mark.parametrize(
    ("is_sparse", "distance"), [(False, "squared"), (False, "absolute"), (True, "squared")]
)
def test_the_gradient_of_the_kernel_regression_is_exact(is_sparse, distance, weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    Y = sp.csr_array((X[:, :2] > 0).astype(int))
    kernel, _ = fit_kernel_ridge(sp.csr_array(X) if is_sparse else X, Y, rng, n_landmarks=30)
    assert isinstance(kernel, KernelRidge)
    kernel = replace(kernel, weights=weights, distance=distance)
    # Signs jump on the landmarks themselves.
    beside = 0.1 if distance == "absolute" else 0.0
    for row in (X[0] + beside, 10 * X[1], np.zeros(4)):
        found = kernel_gradients(kernel, row[None], np.arange(4), np.array([0, 1]))[:, 0]
        np.testing.assert_allclose(found, differences(kernel.scores, row), atol=1e-5)


@pytest.mark.parametrize("distance", ["squared", "absolute"])
def test_pulls_on_a_kernel_regression_add_up_and_leave_columns_alone_that_do_not_move(distance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    kernel, _ = fit_kernel_ridge(X, sp.csr_array((X[:, :2] > 0).astype(int)), rng)
    kernel = replace(kernel, distance=distance)
    labels = np.array([1, 0])
    for place in range(40):
        start, end = X[place].copy(), X[place + 40] * (1 + 10 * (place == 0))
        start[3] = end[3]
        path = StraightPath(start, end)
        assert path.columns.tolist() == [0, 1, 2]
        found = kernel_pulls(kernel, path, labels, n_steps=64)
        assert found.shape == (2, 3)
        expected = (kernel.scores(end[None]) - kernel.scores(start[None]))[0, labels]
        np.testing.assert_allclose(found.sum(axis=1), expected, atol=1e-9)
        fine = kernel_pulls(kernel, path, labels, n_steps=4096)
        np.testing.assert_allclose(found, fine, atol=0.1 * (1 + np.abs(fine).max()))


def test_labels_without_a_say_of_the_kernel_regression_have_no_pulls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    kernel, _ = fit_kernel_ridge(X, sp.csr_array((X[:, :2] > 0).astype(int)), rng)
    nothing = np.array([], dtype=int)
    for distance in ("squared", "absolute"):
        model = replace(kernel, distance=distance)
        assert kernel_pulls(model, StraightPath(X[0], X[1]), nothing, 8).shape == (0, 3)


def test_the_gradient_of_all_smooth_learners_follows_their_weights(model):
    double = in_double(model)
    kernel = next(c for c in double.companions if isinstance(c, KernelRidge))
    row = np.random.default_rng(1).normal(size=6)

    def smooth(rows):
        slopes = double.fusion.slopes
        return slopes[0] * network_scores(double.network, rows) + slopes[1] * kernel.scores(rows)

    found = smooth_gradient(double, row, np.arange(3))
    np.testing.assert_allclose(found, differences(smooth, row), atol=1e-5)


def small_forest(n_trees=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 5))
    return X, fit_forest(X, sp.csr_array((X[:, :3] > 0).astype(int)), rng, n_trees=n_trees)[0]


def test_the_jumps_of_a_forest_add_up_exactly():
    X, forest = small_forest()
    labels = np.array([0, 2])
    for start, end in ((X[0], X[1]), (X[2], np.zeros(5)), (X[3], X[3]), (X[4], 100 * X[5])):
        pulls = forest_pulls(forest, start, end, labels)
        expected = (forest.scores(end[None]) - forest.scores(start[None]))[0, labels]
        np.testing.assert_allclose(pulls.sum(axis=1), expected, atol=1e-10)


def test_the_jumps_of_a_forest_equal_a_walk_in_small_steps():
    X, forest = small_forest(n_trees=3)
    start, end = X[0], X[1]
    shares = np.linspace(0, 1, 20_001)
    scores = forest.scores(start + shares[:, None] * (end - start))
    by_step = np.diff(scores, axis=0).sum(axis=0)
    pulls = forest_pulls(forest, start, end, np.arange(3))
    np.testing.assert_allclose(pulls.sum(axis=1), by_step, atol=1e-10)
    # Features are told apart by letting one of them take its steps alone.
    single = start.copy()
    single[1] = end[1]
    alone = forest_pulls(forest, start, single, np.arange(3))
    assert np.abs(alone[:, [0, 2, 3, 4]]).max() == 0
    np.testing.assert_allclose(
        alone[:, 1], (forest.scores(single[None]) - forest.scores(start[None]))[0], atol=1e-10
    )


def test_a_jump_belongs_to_the_feature_that_passes_its_threshold():
    # One tree, and feature 0 has nothing to split: whatever else moves, feature 1 makes the jump.
    X = np.array([[0.0, -1.0], [0.0, 1.0]] * 20)
    Y = sp.csr_array((X[:, 1:] > 0).astype(int))
    forest, _ = fit_forest(X, Y, np.random.default_rng(0), n_trees=1)
    assert isinstance(forest, Forest)
    pulls = forest_pulls(forest, np.array([0.0, -1.0]), np.array([1.0, 1.0]), np.array([0]))
    expected = forest.scores(np.array([[1.0, 1.0]])) - forest.scores(np.array([[0.0, -1.0]]))
    assert pulls[0, 0] == pytest.approx(0)
    assert pulls[0, 1] == pytest.approx(expected[0, 0])


def small_prototype_forest(n_trees=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, size=(200, 6)).astype(float)
    Y = sp.csr_array((X[:, :3] > 1).astype(int))
    return X, fit_prototype_forest(sp.csr_array(X), Y, rng, n_trees=n_trees)[0]


def test_the_jumps_of_prototype_trees_add_up_exactly():
    X, forest = small_prototype_forest()
    labels = np.array([0, 2])
    ends = (
        (X[0], X[1]),
        (X[2], np.zeros(6)),
        (np.zeros(6), X[3]),
        (X[4], X[4]),
        (X[5], 100 * X[6]),
    )
    for start, end in ends:
        pulls = prototype_forest_pulls(forest, start, end, labels)
        expected = (forest.scores(end[None]) - forest.scores(start[None]))[0, labels]
        np.testing.assert_allclose(pulls.sum(axis=1), expected, atol=1e-10)


def test_the_leaves_of_prototype_trees_along_a_line_are_those_of_small_steps():
    X, forest = small_prototype_forest(n_trees=5)
    trees = forest.prototype_trees
    shares = np.linspace(0, 1, 20_001)
    for start, end in ((X[0], X[1]), (np.zeros(6), X[2]), (X[3], X[4])):
        walked = forest.leaves(start + shares[:, None] * (end - start))
        ends = np.stack([start, end]) @ trees.in_double_precision[0]
        for tree, root in enumerate(trees.roots):
            passed = walked[np.r_[True, np.diff(walked[:, tree]) != 0], tree].tolist()
            visits = list(prototype_jumps._visits(trees, ends, int(root)))
            # What is passed in no time at all is not seen by steps.
            found = [visit[1] for visit in visits]
            assert [leaf for leaf in found if leaf in passed] == passed
            assert len(found) <= len(passed) + 2
            assert [visit[2] is None for visit in visits] == [True] + [False] * (len(visits) - 1)


def test_a_jump_of_prototype_trees_belongs_to_the_features_that_move_it():
    X, forest = small_prototype_forest()
    start, end = X[0], X[0].copy()
    end[1] += 3
    pulls = prototype_forest_pulls(forest, start, end, np.arange(3))
    assert np.abs(pulls[:, [0, 2, 3, 4, 5]]).max() == 0
    assert np.abs(pulls[:, 1]).max() > 0


def test_features_share_a_jump_of_prototype_trees_without_outweighing_it():
    X, forest = small_prototype_forest(n_trees=30)
    for start, end in zip(X[:20], X[20:40], strict=True):
        path = start + np.linspace(0, 1, 5001)[:, None] * (end - start)
        jumps = np.abs(np.diff(forest.scores(path), axis=0)).sum(axis=0)
        pulls = prototype_forest_pulls(forest, start, end, np.arange(3))
        assert (np.abs(pulls).sum(axis=1) <= jumps + 1e-9).all()


def test_a_jump_by_rounding_alone_is_shared_alike():
    shares = prototype_jumps._shares(np.array([[0.0, 0.0], [3.0, -1.0], [1.0, -3.0]]))
    np.testing.assert_allclose(shares, [[0.5, 0.5], [1, 0], [0, 1]])


def test_a_deep_prototype_tree_is_walked_to_its_end():
    n_levels = 3000
    trees = PrototypeTrees(
        projection=np.eye(1, dtype=np.float32),
        roots=np.array([0], dtype=np.int32),
        first_child=np.r_[np.arange(1, n_levels), -1].astype(np.int32),
        n_children=np.r_[np.ones(n_levels - 1), 0].astype(np.int32),
        prototypes=np.ones((n_levels, 1), dtype=np.float32),
    )
    visits = list(prototype_jumps._visits(trees, np.array([[0.0], [1.0]]), 0))
    assert visits == [(0.0, n_levels - 1, None)]


def test_the_pulls_of_all_learners_of_sparse_rows_add_up(word_model, words):
    X, _ = words
    fitted = in_double(word_model)
    assert len(fitted.companions) == 3
    rows = fitted.scaler.transform(X[:2]).toarray()
    path = StraightPath(rows[1], rows[0])
    pulls = feature_pulls(fitted, path, np.arange(3), n_steps=1024).sum(axis=1)
    scores = fitted.scores(X[:2])
    np.testing.assert_allclose(pulls, scores[0] - scores[1], atol=2e-3)


def test_more_steps_leave_less_unexplained(model, data):
    X, _ = data
    fitted = in_double(model)
    end = fitted.scaler.transform(X[:1])[0]
    start = fitted.scaler.transform(X[1:2])[0]
    path = StraightPath(start, end)
    scores = fitted.scores(X[:1])[0] - fitted.scores(X[1:2])[0]
    missed = [
        np.abs(feature_pulls(fitted, path, np.arange(3), n_steps=n).sum(axis=1) - scores).max()
        for n in (4, 1024)
    ]
    assert missed[1] < 1e-3
    assert missed[1] < missed[0]
