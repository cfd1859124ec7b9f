import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from protolabel.companions import prototype_forest as module
from protolabel.companions import prototype_trees as trees_module
from protolabel.companions.prototype_forest import fit_prototype_forest
from protolabel.companions.prototype_trees import PrototypeTrees, parted


def topics(n_samples=150, n_features=30, n_labels=3, seed=0):
    """Sparse rows with words of their labels, and some words of any."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_samples, n_labels)) < 0.4).astype(int)
    rates = np.full((n_samples, n_features), 0.1)
    for label in range(n_labels):
        rates[:, label::n_labels] += 0.5 * Y[:, [label]]
    return sp.csr_array(rng.poisson(rates).astype(float)), sp.csr_array(Y)


def probabilities(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def leaf_by_hand(trees, row, root):
    """The way of one row, child by child."""
    projected = [
        sum(float(row[f]) * float(trees.projection[f, j]) for f in range(len(row)))
        for j in range(trees.projection.shape[1])
    ]
    node = root
    while trees.first_child[node] >= 0:
        children = range(trees.first_child[node], trees.first_child[node] + trees.n_children[node])
        products = [
            sum(a * float(b) for a, b in zip(projected, trees.prototypes[child], strict=True))
            for child in children
        ]
        node = children[products.index(max(products))]
    return node


def test_a_row_goes_to_the_child_with_the_nearest_prototype():
    trees = PrototypeTrees(
        projection=np.eye(2, dtype=np.float32),
        roots=np.array([0], dtype=np.int32),
        first_child=np.array([1, -1, 3, -1, -1], dtype=np.int32),
        n_children=np.array([2, 0, 2, 0, 0], dtype=np.int32),
        prototypes=np.array([[0, 0], [1, 0], [0, 1], [0.6, 0.8], [-0.6, 0.8]], dtype=np.float32),
    )
    rows = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, 2.0], [0.0, 0.0]])
    assert trees.leaves(rows).ravel().tolist() == [1, 3, 4, 1]
    assert trees.leaves(sp.csr_array(rows)).ravel().tolist() == [1, 3, 4, 1]


def test_leaves_are_those_of_a_walk_by_hand():
    X, Y = topics()
    model, _ = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=4)
    found = model.leaves(X[:20])
    for row in range(20):
        expected = [
            leaf_by_hand(model.prototype_trees, X[[row]].toarray()[0], root)
            for root in model.prototype_trees.roots
        ]
        assert found[row].tolist() == expected


def test_inner_nodes_have_several_children_that_follow_them():
    X, Y = topics()
    trees = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=4)[0].prototype_trees
    inner = np.flatnonzero(trees.first_child >= 0)
    assert len(inner) > 4
    assert (trees.first_child[inner] > inner).all()
    assert (trees.n_children[inner] >= 2).all()
    assert not trees.n_children[trees.first_child < 0].any()
    # Every node but the roots is the child of one other.
    children = np.concatenate(
        [np.arange(trees.n_children[node]) + trees.first_child[node] for node in inner]
    )
    assert sorted([*children, *trees.roots]) == list(range(len(trees.first_child)))
    lengths = np.linalg.norm(np.delete(trees.prototypes, trees.roots, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_every_leaf_has_rows_whose_weights_add_up_to_one():
    X, Y = topics()
    model, _ = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=10)
    totals = np.asarray(model.leaf_rows.sum(axis=1)).ravel()
    is_leaf = model.prototype_trees.first_child < 0
    np.testing.assert_allclose(totals[is_leaf], 1)
    assert not totals[~is_leaf].any()


def test_training_rows_are_scored_only_by_trees_that_did_not_draw_them():
    X, Y = topics(60)
    model, scores = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=5)
    leaves, weights = model.leaves(X), model.leaf_rows.toarray()
    trees = model.prototype_trees
    ends = [*trees.roots[1:], len(trees.first_child)]
    for row in range(0, 60, 7):
        votes, n_voters = model.prior.copy(), 1
        for tree, (start, stop) in enumerate(zip(trees.roots, ends, strict=True)):
            if not weights[start:stop, row].any():
                votes += weights[leaves[row, tree]] @ Y.toarray()
                n_voters += 1
        np.testing.assert_allclose(probabilities(scores[row]), votes / n_voters)


def test_scores_of_unseen_rows_tell_the_labels():
    X, Y = topics(400)
    model, scores = fit_prototype_forest(X[:300], Y[:300], np.random.default_rng(0))
    for found, truth in ((scores, Y[:300]), (model.scores(X[300:]), Y[300:])):
        assert ((found > 0) == truth.toarray()).mean() > 0.8


def test_a_row_alone_has_the_score_that_it_has_among_others():
    X, Y = topics()
    # One label has no row at all, and some rows have no label or no word.
    Y = sp.csr_array(np.column_stack([Y.toarray(), np.zeros(X.shape[0], int)]))
    X = sp.csr_array(X.toarray() * (np.arange(X.shape[0]) > 2)[:, None])
    model, _ = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=20)
    together = model.scores(X)
    alone = np.concatenate([model.scores(X[i : i + 1]) for i in range(X.shape[0])])
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.scores(X.toarray()), together, rtol=0, atol=1e-12)


def test_the_length_of_a_row_does_not_matter():
    X, Y = topics()
    model, _ = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=10)
    np.testing.assert_allclose(model.scores(8 * X), model.scores(X))


def test_a_node_whose_rows_have_the_same_labels_is_a_leaf():
    X, _ = topics(100)
    model, _ = fit_prototype_forest(
        X, sp.csr_array(np.ones((100, 2), int)), np.random.default_rng(0)
    )
    assert (model.prototype_trees.first_child < 0).all()


def test_rows_without_labels_are_a_group_of_their_own():
    Y = sp.csr_array(np.array([[1, 0], [0, 0], [0, 0], [0, 1]]))
    likeness = module._label_directions(Y, np.random.default_rng(0))
    products = likeness @ likeness.T
    assert products[1, 2] == pytest.approx(1)
    assert max(products[1, 0], products[1, 3]) < 0.99


def test_rare_labels_say_more_than_frequent_ones():
    labels = np.zeros((200, 2), int)
    labels[:, 0] = np.arange(200) % 10 != 0
    labels[:3, 1] = 1
    likeness = module._label_directions(sp.csr_array(labels), np.random.default_rng(0))
    # Row 0 has the rare label alone, rows 1 and 2 both, the others the frequent one.
    assert likeness[0] @ likeness[1] > likeness[1] @ likeness[11]


@pytest.mark.parametrize("shape", [(1, 4), (2, 1), (40, 1), (3, 200)])
def test_very_small_tables_give_finite_scores(shape):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(1.0, size=shape).astype(float))
    Y = sp.csr_array((rng.random((shape[0], 1)) > 0.5).astype(int))
    model, scores = fit_prototype_forest(X, Y, rng, n_trees=3)
    assert np.isfinite(scores).all()
    assert np.isfinite(model.scores(X)).all()


def test_rows_that_cannot_be_told_apart_share_a_leaf():
    X, Y = sp.csr_array((300, 5)), topics(300)[1]
    model, scores = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=3)
    assert len(model.prototype_trees.first_child) == 3
    assert np.isfinite(scores).all()
    assert np.isfinite(model.scores(X)).all()


def test_trees_draw_a_bounded_number_of_rows(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 25)
    X, Y = topics()
    model, _ = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=1)
    assert len(np.unique(model.leaf_rows.indices)) <= 25


def test_many_rows_go_down_in_blocks(monkeypatch):
    X, Y = topics()
    whole, scores = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=5)
    expected = whole.leaves(X)
    for place in (module, trees_module):
        monkeypatch.setattr(place, "ROWS_AT_ONCE", 40)
    blocked, same = fit_prototype_forest(X, Y, np.random.default_rng(0), n_trees=5)
    np.testing.assert_array_equal(same, scores)
    np.testing.assert_array_equal(blocked.leaves(X), expected)


def test_the_same_seed_grows_the_same_trees_and_what_is_cached_is_not_stored():
    X, Y = topics()
    first, scores = fit_prototype_forest(X, Y, np.random.default_rng(5), n_trees=5)
    second, same = fit_prototype_forest(X, Y, np.random.default_rng(5), n_trees=5)
    assert np.array_equal(scores, same)
    before = len(pickle.dumps(first))
    first.scores(X)
    assert len(pickle.dumps(first)) == before
    assert np.array_equal(pickle.loads(pickle.dumps(second)).scores(X), first.scores(X))


def test_items_are_parted_in_the_order_of_their_groups():
    found = list(parted(np.array([5, 6, 7, 8]), np.array([3, 0, 3, 1])))
    assert [(group, part.tolist()) for group, part in found] == [(0, [6]), (1, [8]), (3, [5, 7])]
