"""JFSC: the objective against loops, its gradient and limits, the descent, degenerate labels."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from protolabel.baselines import _ridge_start
from protolabel.baselines._fisher import DiagonalScatter, FullScatter, label_unlikeness
from protolabel.baselines._joint_regression import JointRegression, descend
from protolabel.baselines._ridge_start import ridge_by_conjugate_gradients, ridge_weights
from protolabel.baselines._twin_gram import with_constant
from protolabel.baselines.jfsc import JFSC, best_threshold
from reference import jfsc as naive

SCATTERS = {"diagonal": DiagonalScatter, "full": FullScatter}


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 5))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(60, 3)) > 0.4).astype(float)
    return with_constant(X), Y


def regression(X, Y, penalties=(0.0, 0.0, 0.0), loss="l21", fisher="diagonal"):
    scatter = SCATTERS[fisher].of(X, Y)
    return JointRegression(X, Y, label_unlikeness(Y), scatter, *penalties, loss)


def test_label_unlikeness_agrees_with_the_loop(data):
    _, Y = data
    with_empty = np.hstack([Y, np.zeros((len(Y), 1))])
    np.testing.assert_allclose(label_unlikeness(with_empty), naive.unlikeness(with_empty))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_scatter_agrees_with_the_loop(data, make):
    X, Y = data
    Y = np.hstack([Y, np.zeros((len(Y), 1)), np.ones((len(Y), 1))])  # one-sided labels have none
    matrices = [naive.scatter_matrix(X, y) for y in Y.T]
    diagonal = DiagonalScatter.of(make(X), Y)
    np.testing.assert_allclose(diagonal.diagonals, np.array([np.diag(S) for S in matrices]).T)
    V = np.random.default_rng(0).normal(size=(X.shape[1], Y.shape[1]))
    full = FullScatter.of(make(X), Y)
    expected = np.column_stack([S @ v for S, v in zip(matrices, V.T, strict=True)])
    np.testing.assert_allclose(full.multiply(V, X @ V), expected, atol=1e-9)
    np.testing.assert_allclose(full.quadratic(V, X @ V), np.sum(V * expected))
    largest = max(np.abs(np.linalg.eigvalsh(S)).max() for S in matrices)
    np.testing.assert_allclose(full.largest_curvature(), largest, rtol=0.02)


def test_a_feature_that_keeps_the_classes_apart_has_negative_scatter():
    X = np.array([[5.0, 1.0], [5.0, -1.0], [0.0, 1.0], [0.0, -1.0]])
    scatter = DiagonalScatter.of(X, np.array([[1.0], [1.0], [0.0], [0.0]]))
    # Feature 0: no spread within, 2 * 5**2 between. Feature 1: 2 + (2/2) * 2 within, 0 between.
    np.testing.assert_allclose(scatter.diagonals, [[-50.0], [4.0]])


@pytest.mark.parametrize("fisher", ["diagonal", "full"])
@pytest.mark.parametrize("loss", ["l21", "squared"])
def test_objective_agrees_with_the_loop(data, loss, fisher):
    X, Y = data
    W = np.random.default_rng(1).normal(size=(X.shape[1], Y.shape[1]))
    penalties = (0.3, 0.2, 0.1)
    problem = regression(X, Y, penalties, loss, fisher)
    expected = naive.objective(X, Y, W, penalties, loss, fisher)
    np.testing.assert_allclose(problem.objective(W, X @ W), expected)


@pytest.mark.parametrize("fisher", ["diagonal", "full"])
@pytest.mark.parametrize("loss", ["l21", "squared"])
def test_gradient_agrees_with_finite_differences(data, loss, fisher):
    # At the point where the row weights are taken the majorising squares touch the loss, so
    # that both have the same gradient.
    X, Y = data
    W = np.random.default_rng(1).normal(size=(X.shape[1], Y.shape[1]))
    problem = regression(X, Y, (0.3, 0.2, 0.0), loss, fisher)
    gradient = problem.gradient(W, X @ W, problem.row_weights(X @ W))
    for index in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[index] = 1e-6
        ahead, behind = W + step, W - step
        slope = (problem.objective(ahead, X @ ahead) - problem.objective(behind, X @ behind)) / 2e-6
        np.testing.assert_allclose(gradient[index], slope, rtol=1e-5, atol=1e-5)


def test_gradient_for_fixed_row_weights_is_that_of_weighted_squares(data):
    X, Y = data
    rng = np.random.default_rng(1)
    V, row_weights = rng.normal(size=(X.shape[1], Y.shape[1])), rng.uniform(1, 2, len(X))
    gradient = regression(X, Y).gradient(V, X @ V, row_weights)

    def weighted_squares(W):
        return 0.5 * np.sum(row_weights[:, None] * (X @ W - Y) ** 2)

    for index in np.ndindex(V.shape):
        step = np.zeros_like(V)
        step[index] = 1e-5
        slope = (weighted_squares(V + step) - weighted_squares(V - step)) / 2e-5
        np.testing.assert_allclose(gradient[index], slope, rtol=1e-6, atol=1e-6)


def test_curvature_bounds_the_change_of_the_gradient(data):
    X, Y = data
    rng = np.random.default_rng(2)
    problem = regression(X, Y, (0.3, 0.2, 0.1))
    row_weights = rng.uniform(1, 2, len(X))
    curvature = problem.curvature(row_weights)
    for _ in range(20):
        U, V = rng.normal(size=(2, X.shape[1], Y.shape[1]))
        change = problem.gradient(U, X @ U, row_weights) - problem.gradient(V, X @ V, row_weights)
        assert np.linalg.norm(change) <= 1.01 * curvature * np.linalg.norm(U - V)


def test_squared_loss_without_penalties_converges_to_least_squares(data):
    X, Y = data
    start = ridge_weights(X, Y, 100.0)
    W = descend(regression(X, Y, loss="squared"), start, 0.0, 2000).W
    np.testing.assert_allclose(W, np.linalg.lstsq(X, Y, rcond=None)[0], atol=1e-5)


def test_large_sparsity_leaves_the_constant_feature_only(data):
    X, Y = data
    for loss in ("l21", "squared"):
        problem = regression(X, Y, (0.0, 0.0, 1e4), loss)
        W = descend(problem, ridge_weights(X, Y, 1.0), 1e-9, 500).W
        assert (W[:-1] == 0).all()
        assert (W[-1] > 0).all()
    np.testing.assert_allclose(W[-1], Y.mean(axis=0), atol=1e-6)  # squared loss


@pytest.mark.parametrize("loss", ["l21", "squared"])
def test_objective_never_rises_in_a_convex_case(data, loss):
    X, Y = data
    problem = regression(X, Y, (0.0, 0.1, 0.5), loss)
    scatter = DiagonalScatter(np.abs(problem.scatter.diagonals))
    problem = JointRegression(X, Y, problem.unlikeness, scatter, 0.0, 0.1, 0.5, loss)
    course = descend(problem, ridge_weights(X, Y, 1.0), 1e-10, 300).objectives
    assert len(course) > 5
    assert (np.diff(course) <= 0).all()
    # No random start finds anything lower.
    rng = np.random.default_rng(0)
    for _ in range(3):
        other = descend(problem, rng.normal(size=(X.shape[1], 3)), 1e-10, 3000)
        np.testing.assert_allclose(other.objectives[-1], course[-1], rtol=1e-3)


def test_sparsity_grows_with_its_penalty(labelled):
    models = [JFSC(fisher_penalty=0.0, sparsity_penalty=value) for value in (0.0, 5.0, 50.0)]
    counts = [np.count_nonzero(model.fit(*labelled).model_.weights) for model in models]
    assert counts[0] == 18
    assert counts[0] > counts[1] > counts[2]


def test_an_unbounded_objective_ends_the_descent_with_a_warning(labelled):
    X, Y = labelled
    with pytest.warns(ConvergenceWarning, match="has no minimum.*Lower correlation_penalty"):
        model = JFSC(correlation_penalty=1e4).fit(X, Y)
    assert model.model_.objectives[-1] <= 0
    assert (model.model_.objectives[1:-1] > 0).all()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_ridge_start_solves_the_normal_equations(shape, make, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=shape), rng.normal(size=(shape[0], 3))
    Y[:, 1] = 0.0
    expected = np.linalg.solve(X.T @ X + 0.7 * np.eye(shape[1]), X.T @ Y)
    np.testing.assert_allclose(ridge_weights(make(X), Y, 0.7), expected, atol=1e-10)
    iterated = ridge_by_conjugate_gradients(make(X), Y, 0.7, tol=1e-10)
    np.testing.assert_allclose(iterated, expected, atol=1e-8)
    monkeypatch.setattr(_ridge_start, "_LARGEST_SYSTEM", 2)
    np.testing.assert_allclose(ridge_weights(make(X), Y, 0.7), expected, atol=1e-4)


@pytest.mark.parametrize("fisher", ["diagonal", "full"])
@pytest.mark.parametrize("loss", ["l21", "squared"])
def test_permuting_labels_permutes_the_scores(labelled, loss, fisher):
    X, Y = labelled
    order = [2, 0, 1]
    scores = JFSC(loss=loss, fisher=fisher).fit(X, Y).decision_function(X)
    permuted = JFSC(loss=loss, fisher=fisher).fit(X, Y[:, order]).decision_function(X)
    np.testing.assert_allclose(permuted, scores[:, order], atol=1e-8)


@pytest.mark.parametrize("fisher", ["diagonal", "full"])
def test_sparse_and_dense_input_give_the_same_scores(fisher):
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 30), density=0.2, rng=rng, format="csr")
    Y = (X @ rng.normal(size=(30, 3)) > 0.2).astype(int)
    sparse = JFSC(feature_scaling="unit", fisher=fisher).fit(X, Y)
    dense = JFSC(feature_scaling="unit", fisher=fisher).fit(X.toarray(), Y)
    np.testing.assert_allclose(
        sparse.decision_function(X), dense.decision_function(X.toarray()), atol=1e-8
    )


def test_predictions_are_regressions_above_the_threshold(labelled):
    X, Y = labelled
    model = JFSC(feature_scaling="none").fit(X, Y)
    outputs = X @ model.model_.weights + model.model_.offsets
    np.testing.assert_array_equal(model.predict(X), outputs > 0.5)
    lower = JFSC(feature_scaling="none", threshold=0.2).fit(X, Y)
    np.testing.assert_array_equal(lower.predict(X), outputs > 0.2)
    assert (model.predict(X) == Y).mean() > 0.85


def test_the_tuned_threshold_has_the_best_training_micro_f1(labelled):
    X, Y = labelled
    fixed = JFSC().fit(X, Y)
    tuned = JFSC(threshold="tune").fit(X, Y)
    outputs = fixed.decision_function(X) + 0.5
    expected = naive.best_threshold(outputs, Y)
    np.testing.assert_allclose(tuned.model_.threshold, expected)
    assert best_threshold(np.full((2, 1), -1.0), np.ones((2, 1))) == 0.0


def test_labels_with_one_side_are_left_out_and_poison_nothing(labelled):
    X, Y = labelled
    n = len(X)
    wide = np.hstack([np.zeros((n, 1), int), Y, np.ones((n, 1), int)])
    model = JFSC().fit(X, wide)
    scores = model.decision_function(X)
    assert (model.predict(X)[:, 0] == 0).all()
    assert (model.predict(X)[:, 4] == 1).all()
    assert (scores.argmin(axis=1) == 0).all()
    assert (scores.argmax(axis=1) == 4).all()
    np.testing.assert_array_equal(scores[:, 1:4], JFSC().fit(X, Y).decision_function(X))


@pytest.mark.filterwarnings("ignore:The objective fell to -")  # two rows are easily kept apart
@pytest.mark.parametrize("loss", ["l21", "squared"])
def test_degenerate_data_is_fitted(loss):
    for X, Y in (
        (np.ones((4, 2)), [[1], [0], [1], [0]]),
        (np.zeros((3, 2)), [[1, 0], [0, 1], [0, 0]]),
        (np.array([[1.0], [2.0]]), [[1], [0]]),
        (np.array([[1.0]]), [[1]]),
        (np.ones((3, 1)), np.zeros((3, 2), int)),
    ):
        model = JFSC(loss=loss).fit(X, Y)
        assert np.isfinite(model.decision_function(X)).all()


def test_rows_that_fit_exactly_do_not_stop_the_descent():
    # Half of the rows have no features and no labels: their residual can be exactly zero.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 3)), np.zeros((40, 3))])
    Y = np.vstack([(X[:40, :2] > 0).astype(int), np.zeros((40, 2), int)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = JFSC(feature_scaling="none").fit(X, Y)
    course = model.model_.objectives
    assert (np.diff(course) <= 0).all()
    assert model.n_iter_ > 10


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"correlation_penalty": -1.0}, r"correlation_penalty=-1\.0; expected a finite number"),
        ({"fisher_penalty": "a"}, r"fisher_penalty='a'; expected a finite number"),
        ({"sparsity_penalty": float("inf")}, r"sparsity_penalty=inf; expected a finite number"),
        ({"start_ridge": 0.0}, r"start_ridge=0\.0; expected a finite number above 0"),
        ({"loss": "hinge"}, r"loss='hinge' is unknown; use one of"),
        ({"fisher": "none"}, r"fisher='none' is unknown; use one of"),
        ({"threshold": "best"}, r"threshold='best'; expected a finite number.*or 'tune'"),
        ({"max_iter": 0}, r"max_iter=0; expected a whole number of at least 1"),
    ],
)
def test_wrong_parameters_are_refused(labelled, parameters, message):
    with pytest.raises(ValueError, match=message):
        JFSC(**parameters).fit(*labelled)
