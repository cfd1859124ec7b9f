"""MLTSVM: certified solutions, equal solvers, the rule of prediction, degenerate data."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from protolabel.baselines import _twin_interior
from protolabel.baselines._twin_dual import TwinProblem, solution_of, solve_lbfgs, solve_sor
from protolabel.baselines._twin_gram import PositiveGram, weighted_gram, with_constant
from protolabel.baselines._twin_interior import solve_interior
from protolabel.baselines.mltsvm import MLTSVM
from protolabel.datasets import load_dataset
from reference import mltsvm as naive

SETTINGS = [(0.25, 1.0), (4.0, 0.25), (16.0, 2**-6)]


@pytest.fixture
def rows():
    """Rows with a constant column, and the members of one label."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 6))
    is_positive = X[:, 0] + 0.5 * rng.normal(size=120) > 0.5
    return with_constant(X), is_positive


def problem_of(rows, is_positive, c, penalty, form="auto"):
    return TwinProblem(rows[~is_positive], PositiveGram(rows[is_positive], penalty, form), c)


def sparse_data(n_samples=90, n_features=40, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n_samples, n_features), density=0.15, rng=rng, format="csr")
    scores = X @ rng.normal(size=(n_features, 3))
    return X, (scores > np.quantile(scores, 0.7, axis=0)).astype(int)


@pytest.mark.parametrize(("c", "penalty"), SETTINGS)
def test_objectives_agree_with_loops(rows, c, penalty):
    X, is_positive = rows
    H, G = X[is_positive], X[~is_positive]
    dual = np.random.default_rng(0).uniform(0, c, len(G))
    solution = solution_of(problem_of(X, is_positive, c, penalty), dual)
    Q, M = naive.dual_matrix(H, G, penalty)
    np.testing.assert_allclose(solution.hyperplane, -np.linalg.inv(M) @ G.T @ dual, rtol=1e-8)
    primal = naive.primal_value(H, G, penalty, c, solution.hyperplane)
    gap = (primal - naive.dual_value(Q, dual)) / primal
    np.testing.assert_allclose(solution.gap, gap, rtol=1e-8)


@pytest.mark.parametrize(("c", "penalty"), [(0.25, 1.0), (1.0, 1.0)])
def test_all_solvers_find_the_hyperplane_of_the_naive_loop(rows, c, penalty):
    X, is_positive = rows
    expected, _ = naive.hyperplane_by_sor(X[is_positive], X[~is_positive], penalty, c, sweeps=60)
    problem = problem_of(X, is_positive, c, penalty)
    for solve in (solve_interior, solve_lbfgs, solve_sor):
        solution = solve(problem, 1e-9, 3000)
        np.testing.assert_allclose(solution.hyperplane, expected, atol=1e-3, err_msg=str(solve))


@pytest.mark.parametrize(("c", "penalty"), SETTINGS)
def test_sor_and_lbfgs_and_interior_point_agree(rows, c, penalty):
    problem = problem_of(*rows, c, penalty)
    interior = solve_interior(problem, 1e-8, 100)
    assert interior.gap <= 1e-8
    np.testing.assert_allclose(
        solve_sor(problem, 1e-8, 5000).hyperplane, interior.hyperplane, atol=1e-3
    )
    np.testing.assert_allclose(
        solve_lbfgs(problem, 1e-8, 5000).hyperplane, interior.hyperplane, atol=1e-3
    )


@pytest.mark.parametrize(("c", "penalty"), [(0.25, 1.0), (1.0, 1.0), (1.0, 2**-6)])
def test_interior_point_meets_the_optimality_conditions(rows, c, penalty):
    problem = problem_of(*rows, c, penalty)
    solution = solve_interior(problem, 1e-10, 100)
    values = problem.negatives @ solution.hyperplane
    at_zero = solution.dual < 1e-4 * c
    at_c = solution.dual > (1 - 1e-4) * c
    assert at_zero.any()
    assert at_c.any()
    assert (~at_zero & ~at_c).any()
    assert (values[at_zero] <= -1 + 1e-3).all()
    assert (values[at_c] >= -1 - 1e-3).all()
    np.testing.assert_allclose(values[~at_zero & ~at_c], -1, atol=1e-3)


@pytest.mark.parametrize(("c", "penalty"), SETTINGS)
def test_systems_of_rows_and_of_columns_give_the_same_hyperplane(rows, c, penalty):
    X, is_positive = rows
    problem = problem_of(X, is_positive, c, penalty)
    by_rows = solve_interior(problem, 1e-8, 100, system="rows")
    by_columns = solve_interior(problem, 1e-8, 100, system="columns")
    assert by_rows.gap <= 1e-8
    np.testing.assert_allclose(by_rows.hyperplane, by_columns.hyperplane, atol=1e-4)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_woodbury_form_equals_the_direct_one(make):
    rng = np.random.default_rng(0)
    H = make(rng.normal(size=(4, 9)))
    z = rng.normal(size=(9, 2))
    direct, woodbury = PositiveGram(H, 0.3, "direct"), PositiveGram(H, 0.3, "woodbury")
    np.testing.assert_allclose(woodbury.solve(z), direct.solve(z), rtol=1e-10)
    np.testing.assert_allclose(direct.multiply(direct.solve(z)), z, rtol=1e-10)
    np.testing.assert_allclose(direct.dense() @ z, direct.multiply(z), rtol=1e-10)


def test_the_smaller_system_is_factored():
    assert PositiveGram(np.ones((2, 5)), 1.0).form == "woodbury"
    assert PositiveGram(np.ones((5, 2)), 1.0).form == "direct"


@pytest.mark.parametrize("density", [0.01, 0.5])
def test_weighted_gram_of_sparse_rows_equals_the_dense_one(density):
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 12), density=density, rng=rng, format="csr")
    weights = rng.uniform(size=3000)
    expected = X.toarray().T @ np.diag(weights) @ X.toarray()
    np.testing.assert_allclose(weighted_gram(X, weights), expected, atol=1e-10)
    np.testing.assert_allclose(weighted_gram(X.toarray(), weights), expected, atol=1e-10)


def test_one_label_of_two_rows_has_the_hand_computed_hyperplane():
    # The positive row is at 0, the negative at 1. With lambda = 1, H = [0 1], G = [1 1]:
    # M = diag(1, 2), Q = 1 + 1/2, so a = 1 / 1.5 below c, and v = -[a, a / 2] = -[2/3, 1/3].
    model = MLTSVM(c=5.0, feature_scaling="none", tol=1e-10).fit([[0.0], [1.0]], [[1], [0]])
    np.testing.assert_allclose(model.model_.weights, [[-2 / 3]], atol=1e-6)
    np.testing.assert_allclose(model.model_.offsets, [-1 / 3], atol=1e-6)
    np.testing.assert_allclose(model.model_.radius, 1.5, atol=1e-6)
    # The hyperplane is x = -1/2, where the score is the radius.
    np.testing.assert_allclose(
        model.decision_function([[-0.5], [0.0], [2.0]]), [[1.5], [1.0], [-1.0]], atol=1e-5
    )


def test_default_fit_has_a_small_duality_gap_and_no_warning(labelled):
    X, Y = labelled
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MLTSVM().fit(X, Y)
    assert (model.model_.duality_gaps <= 1e-4).all()
    assert 1 <= model.n_iter_ <= 300


def test_a_hyperplane_depends_on_the_negatives_of_its_own_label_only(labelled):
    X, Y = labelled
    before = MLTSVM().fit(X, Y).model_
    changed = Y.copy()
    changed[:, 1] = 1 - changed[:, 1]
    after = MLTSVM().fit(X, changed).model_
    np.testing.assert_array_equal(after.weights[:, [0, 2]], before.weights[:, [0, 2]])
    assert not np.allclose(after.weights[:, 1], before.weights[:, 1])


def test_predictions_follow_the_common_radius(labelled):
    X, Y = labelled
    model = MLTSVM(feature_scaling="none").fit(X, Y)
    expected, distances = naive.decide(model.model_.weights, model.model_.offsets, X)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_allclose(model.decision_function(X), model.model_.radius - distances)
    np.testing.assert_array_equal(model.predict_proba(X) > 0.5, expected == 1)


@pytest.mark.parametrize("solver", ["interior_point", "lbfgs", "sor"])
@pytest.mark.parametrize("n_features", [40, 150])
def test_sparse_and_dense_input_give_the_same_scores(solver, n_features):
    X, Y = sparse_data(n_features=n_features)
    sparse = MLTSVM(solver=solver, feature_scaling="unit", tol=1e-6, max_iter=5000).fit(X, Y)
    dense = MLTSVM(solver=solver, feature_scaling="unit", tol=1e-6, max_iter=5000).fit(
        X.toarray(), Y
    )
    np.testing.assert_allclose(
        sparse.decision_function(X), dense.decision_function(X.toarray()), rtol=1e-3, atol=1e-3
    )


def test_auto_is_lbfgs_where_that_suffices(labelled, monkeypatch):
    X, Y = labelled
    chosen = MLTSVM(solver="lbfgs").fit(X, Y).model_
    np.testing.assert_array_equal(MLTSVM().fit(X, Y).model_.weights, chosen.weights)
    monkeypatch.setattr("protolabel.baselines.mltsvm._LARGEST_SYSTEM", 3)
    np.testing.assert_array_equal(MLTSVM().fit(X, Y).model_.weights, chosen.weights)


def test_auto_ends_with_the_interior_point_method_where_lbfgs_is_slow(labelled, monkeypatch):
    X, Y = labelled
    monkeypatch.setattr("protolabel.baselines.mltsvm._QUICK_STEPS", 2)
    chosen = MLTSVM(solver="interior_point").fit(X, Y).model_
    np.testing.assert_array_equal(MLTSVM().fit(X, Y).model_.weights, chosen.weights)


def test_permuting_labels_permutes_the_scores(labelled):
    X, Y = labelled
    order = [2, 0, 1]
    scores = MLTSVM().fit(X, Y).decision_function(X)
    permuted = MLTSVM().fit(X, Y[:, order]).decision_function(X)
    np.testing.assert_allclose(permuted, scores[:, order])


def test_labels_with_one_side_are_never_or_always_predicted(labelled):
    X, Y = labelled
    n = len(X)
    wide = np.hstack([np.zeros((n, 1), int), Y, np.ones((n, 1), int)])
    model = MLTSVM().fit(X, wide)
    scores = model.decision_function(X)
    assert (model.predict(X)[:, 0] == 0).all()
    assert (model.predict(X)[:, 4] == 1).all()
    assert (scores.argmin(axis=1) == 0).all()
    assert (scores.argmax(axis=1) == 4).all()
    np.testing.assert_array_equal(scores[:, 1:4], MLTSVM().fit(X, Y).decision_function(X))


def test_a_label_without_hyperplane_is_scored_last_and_not_predicted():
    # All rows are alike, so that no direction separates anything.
    model = MLTSVM().fit(np.ones((6, 2)), [[1, 0], [0, 1], [1, 0], [0, 0], [1, 0], [1, 1]])
    scores = model.decision_function(np.ones((2, 2)))
    np.testing.assert_array_equal(scores, -1.0)
    assert model.predict(np.ones((1, 2))).sum() == 0


def test_no_learned_label_still_predicts(labelled):
    X, _ = labelled
    model = MLTSVM().fit(X, np.zeros((len(X), 2), int))
    assert model.predict(X).sum() == 0
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("solver", ["interior_point", "lbfgs", "sor"])
def test_duplicate_and_zero_rows_are_solved(solver):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(10, 3)), 4, axis=0)
    X[:4] = 0.0
    Y = (X[:, :2] > 0).astype(int)
    model = MLTSVM(solver=solver, feature_scaling="none", max_iter=5000).fit(X, Y)
    assert (model.model_.duality_gaps <= 1e-4).all()


def test_assign_nearest_gives_every_row_a_label(labelled):
    X, Y = labelled
    far = np.vstack([X, 100 * X])
    plain = MLTSVM().fit(X, Y).predict(far)
    filled = MLTSVM(assign_nearest=True).fit(X, Y)
    empty = plain.sum(axis=1) == 0
    assert empty.any()
    predictions = filled.predict(far)
    assert (predictions[empty].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(predictions[~empty], plain[~empty])
    nearest = filled.decision_function(far)[empty].argmax(axis=1)
    np.testing.assert_array_equal(predictions[empty].argmax(axis=1), nearest)


def test_an_open_gap_is_warned_of(labelled):
    X, Y = labelled
    with pytest.warns(ConvergenceWarning, match=r"3 of 3 labels .* solver='sor' in max_iter=1"):
        MLTSVM(solver="sor", max_iter=1).fit(X, Y)


def test_a_system_that_cannot_be_factored_ends_with_the_best_point(rows, monkeypatch):
    def fail(*_args, **_options):
        raise np.linalg.LinAlgError("not positive definite")

    problem = problem_of(*rows, 1.0, 1.0)
    monkeypatch.setattr(_twin_interior, "cho_factor", fail)
    solution = solve_interior(problem, 1e-6, 10)
    assert solution.n_iter == 0
    assert solution.gap > 1e-6
    np.testing.assert_array_equal(solution.dual, 0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"c": 0.0}, r"c=0\.0; expected a finite number above 0"),
        ({"c": "1"}, r"c='1'; expected a finite number above 0"),
        ({"norm_penalty": -1.0}, r"norm_penalty=-1\.0; expected a finite number above 0"),
        ({"tol": float("nan")}, r"tol=nan; expected a finite number above 0"),
        ({"solver": "smo"}, r"solver='smo' is unknown; use one of"),
        ({"max_iter": 2.5}, r"max_iter=2\.5; expected a whole number of at least 1"),
    ],
)
def test_wrong_parameters_are_refused(labelled, parameters, message):
    with pytest.raises(ValueError, match=message):
        MLTSVM(**parameters).fit(*labelled)


def test_hard_settings_on_real_text_are_solved_to_the_tolerance(benchmark_data):
    data = load_dataset("arts", data_home=benchmark_data)
    X, Y = sp.csr_array(data.X)[:1500], data.Y[:1500, :3]
    model = MLTSVM(c=16.0, norm_penalty=2**-6).fit(X, Y)
    assert (model.model_.duality_gaps <= 1e-4).all()
    by_newton = MLTSVM(c=16.0, norm_penalty=2**-6, solver="interior_point").fit(X, Y)
    assert (by_newton.model_.duality_gaps <= 1e-4).all()
    assert by_newton.n_iter_ < 30
