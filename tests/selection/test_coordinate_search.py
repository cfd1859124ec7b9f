import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from protolabel.selection.coordinate_search import coordinate_search


class Dial(ClassifierMixin, BaseEstimator):
    """Predicts the truth, spoilt by the distance of its settings from a hidden best."""

    fits = 0

    def __init__(self, a=0, b=0):
        self.a = a
        self.b = b

    def fit(self, X, y):
        Dial.fits += 1
        return self

    def decision_function(self, X):
        spoilt = np.random.default_rng(0).normal(size=X.shape)
        return (2 * X - 1) + (abs(self.a - 2) + abs(self.b - 5)) * spoilt

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


@pytest.fixture
def truth():
    return np.random.default_rng(1).integers(0, 2, size=(400, 6))


def test_the_best_value_of_each_coordinate_is_found(truth):
    result = coordinate_search(Dial(), truth, truth, {"a": [0, 1, 2, 3], "b": [0, 5, 9]})
    assert result.best_params == {"a": 2, "b": 5}
    best = max(result.trials, key=lambda trial: trial.score)
    assert dict(best.params) == {"a": 2, "b": 5}


def test_no_setting_is_tried_twice(truth):
    Dial.fits = 0
    result = coordinate_search(Dial(), truth, truth, {"a": [0, 1, 2], "b": [0, 5]}, n_splits=2)
    assert Dial.fits == 2 * len(result.trials)
    assert len({tuple(t.params.items()) for t in result.trials}) == len(result.trials)


def test_an_empty_space_keeps_the_estimator_as_it_is(truth):
    result = coordinate_search(Dial(), truth, truth, {})
    assert result.best_params == {}
    assert result.trials == ()
