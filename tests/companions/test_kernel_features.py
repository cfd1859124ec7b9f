import numpy as np
import pytest

from protolabel.companions import kernel_features
from protolabel.companions.kernel_features import KernelFeatures
from protolabel.companions.kernel_ridge import row_kernel


@pytest.fixture
def regression():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    landmarks = X[::4]
    targets = (X[:, :2] > 0).astype(float)
    kernels = row_kernel(X, landmarks, 0.2), row_kernel(landmarks, landmarks, 0.2)
    return *kernels, targets


def ridge_by_one_system(kernel, of_landmarks, targets, ridge):
    """Coefficients and free intercept of the smallest |Kc + b - t|^2 + ridge c'Lc."""
    n_landmarks = len(of_landmarks)
    design = np.hstack([kernel, np.ones((len(kernel), 1))])
    penalty = np.zeros((n_landmarks + 1, n_landmarks + 1))
    penalty[:-1, :-1] = ridge * of_landmarks
    solution = np.linalg.solve(design.T @ design + penalty, design.T @ targets)
    return solution[:-1], solution[-1]


@pytest.mark.parametrize("ridge", [0.1, 3.0])
def test_the_solution_is_that_of_the_penalised_linear_system(regression, ridge):
    kernel, of_landmarks, targets = regression
    coefficients, intercept = KernelFeatures.of(kernel, of_landmarks, targets).solve(ridge)
    expected = ridge_by_one_system(kernel, of_landmarks, targets, ridge)
    assert np.allclose(
        kernel @ coefficients + intercept, kernel @ expected[0] + expected[1], atol=1e-4
    )


def test_leave_one_out_values_are_those_of_fits_without_each_row(regression):
    kernel, of_landmarks, targets = regression
    values = KernelFeatures.of(kernel, of_landmarks, targets).leave_one_out(0.3)
    for row in (0, 41, 79):
        others = np.arange(len(kernel)) != row
        coefficients, intercept = ridge_by_one_system(
            kernel[others], of_landmarks, targets[others], 0.3
        )
        assert np.allclose(values[row], kernel[row] @ coefficients + intercept, atol=1e-4)


def test_values_without_each_group_are_those_of_fits_without_it(regression):
    kernel, of_landmarks, targets = regression
    groups = np.arange(80) // 3
    values = KernelFeatures.of(kernel, of_landmarks, targets, groups).leave_one_out(0.3)
    for row in (0, 41, 79):
        others = groups != groups[row]
        coefficients, intercept = ridge_by_one_system(
            kernel[others], of_landmarks, targets[others], 0.3
        )
        assert np.allclose(values[row], kernel[row] @ coefficients + intercept, atol=1e-4)


def test_single_precision_chooses_and_predicts_the_same(regression, monkeypatch):
    double = KernelFeatures.of(*regression)
    monkeypatch.setattr(kernel_features, "_MIN_ROWS_OF_SINGLE_PRECISION", 0)
    single = KernelFeatures.of(*regression)
    assert single.axes.dtype == np.float32
    for ridge in (0.01, 1.0):
        assert single.error(ridge) == pytest.approx(double.error(ridge), rel=1e-2)
        values = [regression[0] @ f.solve(ridge)[0] + f.solve(ridge)[1] for f in (single, double)]
        assert np.allclose(*values, atol=5e-3)


@pytest.mark.parametrize("threshold", [0, 1000])
def test_equal_landmarks_do_no_harm(regression, monkeypatch, threshold):
    monkeypatch.setattr(kernel_features, "_MIN_ROWS_OF_SINGLE_PRECISION", threshold)
    kernel, of_landmarks, targets = regression
    twice = KernelFeatures.of(np.tile(kernel, 2), np.tile(of_landmarks, (2, 2)), targets)
    once = KernelFeatures.of(kernel, of_landmarks, targets)
    assert np.allclose(twice.leave_one_out(0.3), once.leave_one_out(0.3), atol=1e-3)
