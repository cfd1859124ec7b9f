import numpy as np
import pytest

from protolabel.companions.exact_kernel import ExactKernel
from protolabel.companions.kernel_choice import PRECISIONS, RIDGES, best_of_grid, descend
from protolabel.companions.row_distances import own_distances, row_kernel


@pytest.mark.parametrize("lowest", range(5))
@pytest.mark.parametrize("start", range(5))
def test_the_lowest_point_is_found_from_any_start_without_going_far_beyond_it(lowest, start):
    asked = []

    def error(value):
        asked.append(value)
        return (value - lowest) ** 2

    assert descend(error, range(5), start) == lowest
    assert len(asked) == len(set(asked)) <= abs(start - lowest) + 3


@pytest.mark.parametrize("distance", ["squared", "absolute"])
@pytest.mark.parametrize("kind", ["learnable", "noise", "repeated"])
def test_the_precision_and_ridge_of_the_grid_have_the_smallest_error(kind, distance):
    X = np.random.default_rng(3).normal(size=(60, 4))
    Y = (np.column_stack([X[:, 0], X[:, 1] * X[:, 2], X[:, 3] ** 2 - 1]) > 0).astype(int)
    if kind == "noise":
        Y = np.random.default_rng(0).integers(2, size=Y.shape)
    if kind == "repeated":
        X, Y = np.repeat(X[:20], 3, axis=0), np.repeat(Y[:20], 3, axis=0)
    targets = Y.astype(float)
    distances = own_distances(X, distance=distance)
    found = best_of_grid(distances, targets, unit=0.2, distance=distance)
    errors = {}
    for factor in PRECISIONS[distance]:
        kernel = row_kernel(X, X, 0.2 * factor, distance=distance)
        regression = ExactKernel(kernel, targets)
        errors |= {(factor, ridge): regression.error(ridge) for ridge in RIDGES}
    assert (found.factor, found.ridge) == min(errors, key=errors.get)
    assert found.error == pytest.approx(min(errors.values()))
    assert found.distance == distance
    expected = {"learnable": 0.3, "noise": 10.0, "repeated": 0.01}
    if distance == "squared":
        assert found.ridge == expected[kind]
