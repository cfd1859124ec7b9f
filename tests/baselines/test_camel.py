"""CAMEL against its definition, its grid shortcut, its approximation and its edge cases."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Lasso

from protolabel.baselines._collaboration import label_collaboration
from protolabel.baselines._kernel_basis import exact_basis, nystroem_basis, sampled_mean_distance
from protolabel.baselines.camel import CAMEL, ApproximationWarning, solve
from reference import camel as reference


@pytest.fixture
def correlated():
    """Sixty rows whose four labels depend on the features and on each other."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    first = X[:, 0] > 0.3
    Y = np.column_stack(
        [first, first ^ (rng.random(60) < 0.1), X[:, 1] > 0.8, X[:, 2] + X[:, 0] > 0]
    )
    return X, Y.astype(int)


def signs_of(Y):
    return 2.0 * Y - 1


def test_collaboration_is_the_optimum_that_admm_finds(correlated):
    signs = signs_of(correlated[1])
    assert np.abs(label_collaboration(signs) - reference.collaboration(signs)).max() < 1e-6


def test_collaboration_is_scikit_learns_lasso_for_many_rare_labels():
    rng = np.random.default_rng(0)
    signs = signs_of(rng.random((300, 30)) < rng.uniform(0.01, 0.4, size=30))
    signs = signs[:, signs.std(axis=0) > 0]
    S = label_collaboration(signs)
    for j in (0, 7, 20):
        others = np.arange(signs.shape[1]) != j
        penalty = np.abs(signs[:, others].T @ signs[:, j]).max() / 100
        lasso = Lasso(penalty / 300, fit_intercept=False, tol=1e-12, max_iter=1_000_000)
        lasso.fit(signs[:, others], signs[:, j])
        assert np.abs(lasso.coef_ - S[others, j]).max() < 1e-6
        assert S[j, j] == 0


def test_collaboration_of_a_single_label_is_zero():
    assert label_collaboration(np.array([[1.0], [-1.0]])).tolist() == [[0.0]]


def test_collaboration_of_copied_labels_converges(recwarn):
    signs = np.repeat([[1.0, 1, 1, -1], [-1, -1, -1, 1], [1, 1, 1, 1]], 5, axis=0)
    S = label_collaboration(signs)
    assert np.isfinite(S).all()
    assert not [warning for warning in recwarn if "duality gap" in str(warning.message)]


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(("ridge", "fidelity"), [(0.1, 1.0), (0.01, 0.5), (1.0, 3.0)])
def test_scores_are_those_of_the_definition(correlated, alpha, ridge, fidelity):
    X, Y = correlated
    model = CAMEL(collaboration=alpha, ridge=ridge, fidelity=fidelity, feature_scaling="none").fit(
        X[:40], Y[:40]
    )
    S = label_collaboration(signs_of(Y[:40]))
    expected = reference.scores(X[:40], Y[:40], X[40:], alpha, ridge, fidelity, S)
    assert np.abs(model.decision_function(X[40:]) - expected).max() < 1e-8


def test_alternation_reaches_the_exact_solution_and_never_raises_the_objective(correlated):
    X, Y = correlated
    signs = signs_of(Y)
    bandwidth = reference.mean_distance(X)
    K = reference.kernel(X, X, bandwidth)
    G = 0.9 * np.eye(4) + 0.1 * label_collaboration(signs)
    Z, course = reference.alternation(K, signs, G, 1.0, 0.1, 200)
    assert (np.diff(course) <= 1e-9).all()
    A, b = reference.regression(K, Z, 0.1)
    model = CAMEL(collaboration=0.1, ridge=0.1, feature_scaling="none").fit(X, Y)
    assert np.abs(model.decision_function(X) - (K @ A / 0.1 + b) @ G).max() < 1e-8


def test_without_collaboration_it_is_kernel_ridge_with_intercept(correlated):
    X, Y = correlated
    ridge, fidelity = 0.2, 3.0
    model = CAMEL(collaboration=0.0, ridge=ridge, fidelity=fidelity, feature_scaling="none").fit(
        X, Y
    )
    K = reference.kernel(X, X, reference.mean_distance(X))
    plain = ridge * (1 + fidelity) / fidelity
    A, b = reference.regression(K, signs_of(Y), plain)
    assert np.abs(model.decision_function(X) - (K @ A / plain + b)).max() < 1e-8


def test_a_column_of_the_collaboration_rebuilds_its_label():
    rng = np.random.default_rng(0)
    first = rng.random(400) < 0.5
    second = rng.random(400) < 0.1
    signs = signs_of(np.column_stack([first, first & second, second]))
    S = label_collaboration(signs)
    assert np.abs(S - S.T).max() > 0.3
    by_column = ((signs @ S - signs) ** 2).sum()
    by_row = ((signs @ S.T - signs) ** 2).sum()
    assert by_column < 0.8 * by_row


def test_the_score_of_a_label_takes_in_those_that_rebuild_it():
    """Label 1 is a noisy copy of label 0 and label 0 is made to stand alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    first = X[:, 0] > 0
    signs = signs_of(np.column_stack([first, first ^ (rng.random(100) < 0.2)]))
    basis = exact_basis(X, signs)
    share = 0.4
    partners = np.array([[0.0, label_collaboration(signs)[0, 1]], [0.0, 0.0]])
    assert partners[0, 1] > 0.4
    # A large fidelity leaves the targets Z = Y G^-1: label 0 is then regressed on its own.
    weights, intercept = solve(basis, partners, share, 1e9, 0.1)
    alone, alone_intercept = solve(basis, np.zeros((2, 2)), 0.0, 1e9, 0.1)
    assert np.abs(weights[:, 0] - alone[:, 0]).max() < 1e-6
    mixing = (1 - share) * np.eye(2) + share * partners
    K = reference.kernel(X, X, reference.mean_distance(X))
    A, b = reference.regression(K, signs @ np.linalg.inv(mixing), 0.1)
    own = K @ A / 0.1 + b
    expected = (1 - share) * own[:, 1] + share * partners[0, 1] * own[:, 0]
    found = basis.project(X) @ weights + intercept
    assert np.abs(found[:, 1] - expected).max() < 1e-6
    assert np.abs(intercept - alone_intercept).max() < 1e-9


def test_the_mean_is_met_as_closely_as_a_singular_mixing_can():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    signs = signs_of(rng.random((60, 3)) < [0.3, 0.4, 0.8])
    # What is mixed lies where the second label is zero.
    mixing = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    _, intercept = solve(exact_basis(X, signs), mixing, 1.0, 1.0, 0.1)
    np.testing.assert_allclose(intercept, signs.mean(axis=0) * [1, 0, 1], atol=1e-12)


def test_full_collaboration_with_a_singular_mixing_stays_finite():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    Y = rng.integers(0, 2, size=(50, 3))
    assert np.isfinite(CAMEL(collaboration=1.0).fit(X, Y).decision_function(X)).all()
    one = CAMEL(collaboration=1.0).fit(X, Y[:, :1]).decision_function(X)
    assert np.isfinite(one).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("max_exact_rows", [1000, 30])
@pytest.mark.filterwarnings("ignore::protolabel.baselines.camel.ApproximationWarning")
def test_a_grid_gives_the_scores_of_separate_fits(correlated, sparse, max_exact_rows):
    X, Y = correlated
    Y = np.column_stack([Y, np.zeros(60, dtype=int)])
    X = sp.csr_array(np.where(X > 0, X, 0)) if sparse else X
    base = CAMEL(max_exact_rows=max_exact_rows, n_landmarks=20, random_state=0)
    grid = [
        {"collaboration": alpha, "ridge": ridge} for alpha in (0.0, 0.3, 1.0) for ridge in (0.01, 1)
    ]
    scores = list(base.scores_for_grid(X[:40], Y[:40], X[40:], grid))
    assert len(scores) == len(grid)
    for point, found in zip(grid, scores, strict=True):
        separate = CAMEL(**(base.get_params() | point)).fit(X[:40], Y[:40])
        assert np.abs(found - separate.decision_function(X[40:])).max() < 1e-7
    assert not hasattr(base, "model_")


def test_a_grid_refuses_what_cannot_share_a_kernel(correlated):
    with pytest.raises(ValueError, match="feature_scaling; only collaboration, fidelity, ridge"):
        CAMEL().scores_for_grid(*correlated, correlated[0], [{"feature_scaling": "none"}])
    with pytest.raises(ValueError, match="ridge=-1 was given; expected a finite number above 0"):
        CAMEL().scores_for_grid(*correlated, correlated[0], [{"ridge": -1}])


def test_many_rows_are_approximated_and_said_to_be(correlated):
    X, Y = correlated
    model = CAMEL(max_exact_rows=59, n_landmarks=10, random_state=0)
    with pytest.warns(ApproximationWarning, match="60 rows, more than max_exact_rows=59"):
        model.fit(X, Y)
    assert model.is_approximate_
    assert model.model_.rows.shape == (10, 5)
    assert not CAMEL(max_exact_rows=60).fit(X, Y).is_approximate_


@pytest.mark.filterwarnings("ignore::protolabel.baselines.camel.ApproximationWarning")
def test_the_approximation_is_seeded(correlated):
    X, Y = correlated
    first, again, other = (
        CAMEL(max_exact_rows=10, n_landmarks=8, random_state=seed).fit(X, Y).decision_function(X)
        for seed in (0, 0, 1)
    )
    assert (first == again).all()
    assert np.abs(first - other).max() > 1e-3


def test_with_all_rows_as_landmarks_the_approximation_is_exact(correlated):
    X, Y = correlated
    signs = signs_of(Y)
    exact = exact_basis(X, signs)
    rng = np.random.default_rng(0)
    full = nystroem_basis(X, signs, 60, rng)
    S = label_collaboration(signs)
    scores = []
    for basis in (exact, full):
        weights, intercept = solve(basis, S, 0.3, 1.0, 0.1)
        scores.append(basis.project(X) @ weights + intercept)
    # Only the bandwidth differs: a mean over sampled pairs.
    assert abs(full.bandwidth / exact.bandwidth - 1) < 0.01
    assert np.abs(scores[0] - scores[1]).max() < 0.02


def test_sampled_bandwidth_is_the_mean_distance(correlated):
    X, _ = correlated
    rng = np.random.default_rng(0)
    sampled = sampled_mean_distance(sp.csr_array(X), 50_000, rng)
    assert sampled == pytest.approx(reference.mean_distance(X), rel=0.01)
    assert sampled_mean_distance(np.ones((5, 2)), 100, rng) == 1.0


def test_sparse_and_dense_rows_give_the_same_scores(correlated):
    X, Y = correlated
    X = np.where(X > 0.5, X, 0.0)
    dense = CAMEL(feature_scaling="unit").fit(X, Y).decision_function(X)
    sparse = (
        CAMEL(feature_scaling="unit").fit(sp.csr_array(X), Y).decision_function(sp.csr_array(X))
    )
    assert np.abs(dense - sparse).max() < 1e-9


def test_labels_of_one_side_are_left_out(correlated):
    X, Y = correlated
    wide = np.column_stack([Y, np.zeros(60, int), np.ones(60, int)])
    model = CAMEL().fit(X, wide)
    scores = model.decision_function(X)
    assert np.abs(scores[:, :4] - CAMEL().fit(X, Y).decision_function(X)).max() < 1e-12
    assert (scores[:, 4] < scores[:, :4].min(axis=1)).all()
    assert (scores[:, 5] > scores[:, :4].max(axis=1)).all()
    assert (model.predict(X) == (scores > 0)).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_degenerate_data_gives_finite_scores(sparse):
    for X, Y in (
        (np.ones((1, 2)), np.array([[1, 0]])),
        (np.ones((2, 2)), np.array([[1, 0], [0, 1]])),
        (np.zeros((6, 3)), np.tile([[1], [0]], (3, 1))),
        (np.repeat([[1.0, 0.0], [0.0, 0.0]], 4, axis=0), np.repeat([[1, 0], [0, 1]], 4, axis=0)),
    ):
        rows = sp.csr_array(X) if sparse else X
        scores = CAMEL().fit(rows, Y).decision_function(rows)
        assert scores.shape == Y.shape
        assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"collaboration": 1.5}, "collaboration=1.5 was given; expected a number from 0 to 1"),
        ({"ridge": 0}, "ridge=0 was given; expected a finite number above 0"),
        ({"fidelity": "x"}, "fidelity='x' was given"),
        ({"n_landmarks": 0}, "n_landmarks=0 was given; expected a whole number of at least 1"),
        ({"max_exact_rows": 2.5}, "max_exact_rows=2.5 was given"),
    ],
)
def test_wrong_parameters_are_refused(correlated, params, message):
    with pytest.raises(ValueError, match=message):
        CAMEL(**params).fit(*correlated)
