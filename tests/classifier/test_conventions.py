"""What users of scikit-learn expect of a classifier."""

import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from protolabel import PNMLClassifier
from quick_models import quick, quick_paper


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_give_names_and_the_same_model(labelled, frame):
    X, Y = labelled
    names = [f"x{i}" for i in range(6)]
    features = frame(dict(zip(names, X.T, strict=True)))
    labels = frame(dict(zip("abc", Y.T, strict=True)))
    model = quick().fit(features, labels)
    assert model.feature_names_in_.tolist() == names
    assert model.label_names_.tolist() == ["a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = model.decision_function(features)
    assert np.array_equal(scores, quick().fit(X, Y).decision_function(X))


def test_columns_in_another_order_are_refused(labelled):
    X, Y = labelled
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = quick().fit(frame, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("fedcba")])


def test_single_precision_input_is_accepted(labelled):
    X, Y = labelled
    model = quick().fit(X.astype(np.float32), Y)
    assert model.predict(X.astype(np.float32)).shape == Y.shape


def test_label_sets_are_learned_under_their_names(labelled):
    X, Y = labelled
    sets = [{name for name, y in zip("abc", row, strict=True) if y} for row in Y]
    model = quick().fit(X, sets)
    assert model.label_names_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.decision_function(X), quick().fit(X, Y).decision_function(X))


def test_predicted_sets_hold_the_names_of_the_predicted_columns(labelled):
    X, Y = labelled
    model = quick().fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    for names, row in zip(model.predict_label_sets(X), model.predict(X), strict=True):
        assert names == {name for name, predicted in zip("abc", row, strict=True) if predicted}
    with pytest.raises(ValueError, match="is for multi-label models"):
        quick().fit(X, Y[:, 0]).predict_label_sets(X)


def test_scores_go_by_the_names_of_the_labels(labelled):
    X, Y = labelled
    frame = pd.DataFrame(Y, columns=["a", "b", "c"])
    model = quick(n_trees=10).fit(X, frame)
    expected = (model.predict(X) == Y).all(axis=1).mean()
    sets = [{name for name in "abc" if row[name]} for _, row in frame.iterrows()]
    forms = [frame, frame[["c", "a", "b"]], sets, pd.Series(sets), Y, Y.astype(object)]
    forms += [frame.astype(kind) for kind in ("Int64", "boolean", "category", object)]
    for truth in forms:
        assert model.score(X, truth) == pytest.approx(expected)
    weights = np.arange(len(X))
    exact = (model.predict(X) == Y).all(axis=1)
    assert model.score(X, sets, weights) == pytest.approx(np.average(exact, weights=weights))
    assert model.score(X, [{"z"}] * len(X)) == 0


def test_a_fold_with_a_label_that_training_lacks_is_scored(labelled):
    X, _ = labelled
    sets = np.array([{"warm"} if row[0] > 0 else set() for row in X], dtype=object)
    assert quick(n_trees=0).fit(X, sets).score(X, sets) > 0.5
    sets[0] = {"rare"}
    scores = cross_val_score(quick(n_trees=0), X, sets, cv=KFold(3))
    assert np.isfinite(scores).all()


def test_outputs_have_one_column_per_label(labelled):
    X, Y = labelled
    model = quick().fit(X, Y)
    assert model.predict(X).dtype == np.int64
    assert model.predict_proba(X).min() >= 0
    assert model.predict_proba(X).max() <= 1
    assert np.allclose(model.predict_proba(X), 1 / (1 + np.exp(-model.decision_function(X))))
    assert model.transform(X).shape == (200, 5 * 72)
    assert 0 <= model.score(X, Y) <= 1
    assert len(model.get_feature_names_out()) == 5 * 72


def test_one_label_column_stays_a_column(labelled):
    X, Y = labelled
    model = quick().fit(X, Y[:, :1])
    assert model.predict(X).shape == (200, 1)
    assert model.decision_function(X).shape == (200, 1)


def test_a_binary_target_is_one_label(labelled):
    X, Y = labelled
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = quick().fit(X, y)
    assert set(model.predict(X)) <= {"yes", "no"}
    assert model.predict_proba(X).shape == (200, 2)
    assert model.decision_function(X).shape == (200,)


def test_a_multiclass_target_predicts_one_class(labelled):
    X, _ = labelled
    y = np.array(["a", "b", "c"])[np.clip((X[:, 0] + 1).astype(int), 0, 2)]
    model = quick(max_epochs=30).fit(X, y)
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(1), 1)
    assert np.array_equal(model.predict(X), model.classes_[probabilities.argmax(1)])
    assert (model.predict(X) == y).mean() > 0.8


def test_clone_pickle_pipeline_and_searches(labelled):
    X, Y = labelled
    model = quick_paper()
    fitted = clone(model).fit(X, Y)
    restored = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(restored.decision_function(X), fitted.decision_function(X))
    assert make_pipeline(MinMaxScaler(), model).fit(X, Y).predict(X).shape == Y.shape
    assert cross_val_predict(model, X, Y, cv=2, method="predict_proba").shape == Y.shape
    search = GridSearchCV(model, {"metric_penalty": [1e-4, 1e-2]}, cv=2).fit(X, Y)
    assert search.best_params_["metric_penalty"] in (1e-4, 1e-2)


def test_fitting_warns_of_nothing_and_prints_nothing(labelled, capsys):
    X, Y = labelled
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(prototypes="multiple").fit(X, Y)
        quick_paper("multiple").fit(sp.csr_array(np.maximum(X, 0)), Y)
    assert capsys.readouterr() == ("", "")


def test_documented_defaults_are_the_real_ones():
    signature = inspect.signature(PNMLClassifier.__init__).parameters
    documentation = inspect.getdoc(PNMLClassifier).split("Attributes\n")[0]
    documentation = re.sub(r"\\\n\s+", "", documentation)
    for names, text in re.findall(r"^(\w[\w, ]*) : .*default=(.*)$", documentation, re.MULTILINE):
        values = text.split(" and ")
        for position, name in enumerate(names.split(", ")):
            documented = values[min(position, len(values) - 1)]
            default = signature[name].default
            assert documented.strip('"') == str(default) or float(documented) == default
    documented_names = set(re.findall(r"^(\w[\w, ]*) : ", documentation, re.MULTILINE))
    assert {n for names in documented_names for n in names.split(", ")} == set(signature) - {"self"}
