import numpy as np
import pytest

from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_ridge import row_kernel


def naive_values(kernel, targets, ridge, used, row):
    """Value of a row from the regression on other rows, by the conditions of its optimum."""
    n = len(used)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = kernel[np.ix_(used, used)] + ridge * np.eye(n)
    system[n, n] = 0
    right = np.vstack([targets[used], np.zeros((1, targets.shape[1]))])
    solution = np.linalg.solve(system, right)
    return kernel[row, used] @ solution[:n] + solution[n]


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3))
    X[7] = X[3]
    return row_kernel(X, X, 0.4), (rng.random((30, 4)) > 0.6).astype(float)


@pytest.mark.parametrize("ridge", [0.01, 0.3, 10.0])
def test_values_without_each_row_are_those_of_fits_without_it(problem, ridge):
    kernel, targets = problem
    found = ExactKernel(kernel, targets).leave_one_out(ridge)
    for row in range(30):
        others = np.delete(np.arange(30), row)
        expected = naive_values(kernel, targets, ridge, others, row)
        assert np.allclose(found[row], expected, atol=1e-9)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-4)])
@pytest.mark.parametrize("ridge", [0.03, 0.3, 10.0])
def test_values_without_each_group_are_those_of_fits_without_it(problem, ridge, dtype, tolerance):
    kernel, targets = problem
    groups = np.array([0, 1, 1, 2, 3, 3, 3, 2, *range(4, 10), *[10] * 9, *[11] * 7])
    found = ExactKernel(kernel.astype(dtype), targets, groups).leave_one_out(ridge)
    for row in range(30):
        others = np.flatnonzero(groups != groups[row])
        expected = naive_values(kernel, targets, ridge, others, row)
        assert np.allclose(found[row], expected, atol=tolerance)


def test_groups_of_one_row_are_left_out_as_rows(problem):
    kernel, targets = problem
    alone = ExactKernel(kernel, targets).leave_one_out(0.3)
    found = ExactKernel(kernel, targets, np.arange(30)).leave_one_out(0.3)
    assert np.allclose(found, alone, atol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("ridge", [0.01, 1.0])
def test_coefficients_give_the_values_of_the_fit_to_all_rows(problem, ridge, dtype, tolerance):
    kernel, targets = problem
    coefficients, intercept = ExactKernel(kernel.astype(dtype), targets).solve(ridge)
    fitted = kernel @ coefficients + intercept
    for row in range(30):
        expected = naive_values(kernel, targets, ridge, np.arange(30), row)
        assert np.allclose(fitted[row], expected, atol=tolerance)
    assert np.allclose(coefficients.sum(axis=0), 0.0, atol=tolerance)


def test_a_small_ridge_of_many_rows_keeps_its_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    targets = (rng.random((1000, 2)) > 0.6).astype(float)
    kernel = row_kernel(X, X, 0.02)
    exact = ExactKernel(kernel, targets).leave_one_out(0.01)
    found = ExactKernel(kernel.astype(np.float32), targets).leave_one_out(0.01)
    assert np.abs(found - exact).max() < 3e-4


def test_the_error_is_that_of_the_values_without_each_row(problem):
    kernel, targets = problem
    regression = ExactKernel(kernel, targets)
    values = regression.leave_one_out(0.3)
    squares = sum((values[i, k] - targets[i, k]) ** 2 for i in range(30) for k in range(4))
    assert regression.error(0.3) == pytest.approx(squares)


def test_a_single_row_and_equal_rows_have_finite_values():
    alone = ExactKernel(np.ones((1, 1)), np.ones((1, 2)))
    assert np.allclose(alone.leave_one_out(0.1), 1.0)
    equal = ExactKernel(np.ones((6, 6)), np.eye(6)[:, :2])
    # Without a row, the mean of the others is left.
    assert np.allclose(equal.leave_one_out(0.1)[0], [0.0, 0.2])


def test_the_kernel_and_the_targets_are_left_as_they_are(problem):
    kernel, targets = problem
    before = kernel.copy(), targets.copy()
    ExactKernel(kernel, targets).leave_one_out(0.3)
    assert np.array_equal(kernel, before[0])
    assert np.array_equal(targets, before[1])


def test_a_kernel_that_is_none_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        ExactKernel(-5 * np.eye(3), np.ones((3, 1))).error(0.1)


@pytest.mark.parametrize("ridge", [0.03, 0.3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_ridge_is_solved_in_the_place_of_the_kernel(problem, ridge, dtype):
    kernel, targets = problem
    kernel = kernel.astype(dtype)
    expected = ExactKernel(kernel, targets).leave_one_out(ridge)
    once = ExactKernel(np.triu(kernel), targets, of_one_ridge=True)
    assert np.array_equal(once.leave_one_out(ridge), expected)
    # The same ridge may be asked for again, no other.
    coefficients, _ = once.solve(ridge)
    assert np.array_equal(coefficients, ExactKernel(kernel, targets).solve(ridge)[0])
    with pytest.raises(ValueError, match="used up by the one ridge"):
        once.leave_one_out(1.0)
