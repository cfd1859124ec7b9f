"""The wrappers take and give labels by name, as the classifiers of the package do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.multiclass import OneVsRestClassifier

from protolabel.decision import CalibratedMultilabelClassifier, ThresholdedClassifier

NAMES = ["a", "b", "c"]


@pytest.fixture(params=[ThresholdedClassifier, CalibratedMultilabelClassifier])
def wrapper(request):
    return request.param(OneVsRestClassifier(LogisticRegression()), cv=2, random_state=0)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(120, 3)) > [-0.7, 0.0, 0.7]).astype(int)
    return X, pd.DataFrame(Y, columns=NAMES)


def test_scores_go_by_the_names_of_the_labels(wrapper, rows):
    X, frame = rows
    model = wrapper.fit(X, frame)
    exact = (model.predict(X) == frame.to_numpy()).all(axis=1)
    sets = [{name for name in NAMES if row[name]} for _, row in frame.iterrows()]
    for truth in (frame, frame[["c", "a", "b"]], sets, pd.Series(sets), frame.to_numpy()):
        assert model.score(X, truth) == pytest.approx(exact.mean())
    weights = np.arange(len(X))
    assert model.score(X, sets, weights) == pytest.approx(np.average(exact, weights=weights))
    assert model.score(X, [{"z"}] * len(X)) == 0


def test_label_sets_have_the_names_of_the_predicted_labels(wrapper, rows):
    X, frame = rows
    model = wrapper.fit(X, frame)
    names = np.array(NAMES)
    expected = [set(names[row == 1]) for row in model.predict(X)]
    assert model.predict_label_sets(X) == expected


def test_classes_are_scored_as_before_and_have_no_label_sets(wrapper, rows):
    X, frame = rows
    y = np.where(frame["a"], "yes", "no")
    model = wrapper.set_params(estimator=LogisticRegression()).fit(X, y)
    assert model.score(X, y) == accuracy_score(y, model.predict(X))
    with pytest.raises(ValueError, match="is for multi-label models"):
        model.predict_label_sets(X)
