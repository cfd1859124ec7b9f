"""Scorers on label sets and frames: their labels are matched to those of the model by name."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

from protolabel.baselines.ml_knn import MLkNN
from protolabel.decision import ThresholdedClassifier
from protolabel.metrics import (
    METRICS,
    evaluate,
    evaluate_by_name,
    label_report,
    make_scorer,
    micro_f1,
)
from protolabel.metrics.truth import align_labels

NAMES = ["p", "q", "r"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    Y = (X[:, :3] + rng.normal(size=(90, 3)) > [-0.5, 0.0, 0.8]).astype(int)
    return X, Y


def as_sets(Y):
    return [{name for name, has in zip(NAMES, row, strict=True) if has} for row in Y]


def sets_in_all_forms(Y):
    sets, lists = as_sets(Y), [sorted(row) for row in as_sets(Y)]
    array = np.empty(len(sets), dtype=object)
    array[:] = sets
    return [sets, lists, [tuple(row) for row in lists], pd.Series(lists), pl.Series(lists), array]


@pytest.mark.parametrize("name", [name for name in METRICS if not name.endswith("_5")])
def test_label_sets_are_scored_as_their_matrix(rows, name):
    X, Y = rows
    model, score = MLkNN().fit(X[:60], as_sets(Y[:60])), make_scorer(name)
    expected = score(model, X[60:], Y[60:])
    for form in sets_in_all_forms(Y[60:]):
        assert score(model, X[60:], form) == expected


@pytest.mark.parametrize("name", ["micro_f1", "macro_auc"])
def test_frames_are_scored_by_the_names_of_their_columns(rows, name):
    X, Y = rows
    frame = pd.DataFrame(Y, columns=NAMES)
    model, score = MLkNN().fit(X, frame), make_scorer(name)
    expected = score(model, X, Y)
    turned = frame[["r", "p", "q"]]
    for form in (frame, turned, turned.astype("Int64"), pl.DataFrame(turned)):
        assert score(model, X, form) == expected
    assert score(model, X, turned.to_numpy()) != expected


def test_a_frame_of_other_labels_is_refused(rows):
    X, Y = rows
    model = MLkNN().fit(X, pd.DataFrame(Y, columns=NAMES))
    message = r"The columns of Y are \['p', 'q', 's'\]; the model has the labels \['p', 'q', 'r'\]"
    with pytest.raises(ValueError, match=message):
        make_scorer("micro_f1")(model, X, pd.DataFrame(Y, columns=["p", "q", "s"]))


def test_frames_are_taken_as_they_are_where_the_model_has_no_names(rows):
    X, Y = rows
    for model in (MLkNN(), OneVsRestClassifier(LogisticRegression())):
        found = make_scorer("micro_f1")(model.fit(X, Y), X, pd.DataFrame(Y, columns=NAMES))
        assert found == make_scorer("micro_f1")(model, X, Y)


@pytest.mark.parametrize("name", [name for name in METRICS if not name.endswith("_5")])
def test_a_label_that_the_model_has_not_seen_is_missed(rows, name):
    X, Y = rows
    model, metric = MLkNN().fit(X, as_sets(Y)), METRICS[name]
    has_more = X[:, 3] > 0
    sets = as_sets(Y)
    for row in np.flatnonzero(has_more):
        sets[row].add("new")
    truth = np.column_stack([Y, has_more])
    scores = np.column_stack([model.decision_function(X), np.full(len(X), -np.inf)])
    predicted = np.column_stack([model.predict(X), np.zeros(len(X), dtype=int)])
    expected = metric.function(truth, scores if metric.uses_scores else predicted)
    sign = 1 if metric.larger_is_better else -1
    assert np.isfinite(expected)
    assert make_scorer(name)(model, X, sets) == pytest.approx(sign * expected)


def test_names_are_refused_by_a_model_that_has_none(rows):
    X, Y = rows
    with pytest.raises(ValueError, match="which is not among the 3 labels of the model"):
        make_scorer("micro_f1")(MLkNN().fit(X, Y), X, as_sets(Y))


def test_pipelines_and_decision_rules_are_scored_by_name(rows):
    X, Y = rows
    for model in (make_pipeline(StandardScaler(), MLkNN()), ThresholdedClassifier(MLkNN(), cv=2)):
        model.fit(X, as_sets(Y))
        score = make_scorer("micro_f1")
        assert score(model, X, as_sets(Y)) == score(model, X, Y)


@pytest.mark.parametrize("form", [list, pd.Series])
def test_a_grid_search_on_label_sets_has_scores(rows, form):
    X, Y = rows
    sets = form(as_sets(Y))
    sets[0] = sets[0] | {"only here"}
    scoring = {name: make_scorer(name) for name in ("micro_f1", "average_precision")}
    search = GridSearchCV(
        MLkNN(), {"n_neighbors": [2, 10]}, scoring=scoring, refit="micro_f1", cv=KFold(3)
    ).fit(X, sets)
    for name in scoring:
        assert np.isfinite(search.cv_results_[f"mean_test_{name}"]).all()
    assert make_scorer("micro_f1")(search, X, sets) > 0


def test_numbers_are_labels_where_the_model_has_them_and_a_matrix_elsewhere():
    numbers = np.array([1, 2, 3], dtype=object)
    pairs = [[1, 2], [2, 3]]
    assert align_labels(pairs, numbers).toarray().tolist() == [[1, 1, 0], [0, 1, 1]]
    matrix = [[0, 1, 0], [1, 1, 0]]
    assert align_labels(matrix, numbers) is matrix
    assert align_labels(pairs, np.arange(2)) is pairs
    too_narrow = [[0, 1], [1, 0]]
    assert align_labels(too_narrow, np.array(NAMES, dtype=object)) is too_narrow


def test_a_missing_label_of_a_frame_is_refused(rows):
    X, Y = rows
    frame = pd.DataFrame(Y, columns=NAMES).astype("Int64")
    model = MLkNN().fit(X, frame)
    frame.loc[3, "q"] = pd.NA
    with pytest.raises(ValueError, match="Y_true contains cells that are no numbers"):
        make_scorer("micro_f1")(model, X, frame)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_label_of_a_set_is_refused_as_in_training(rows, missing):
    X, Y = rows
    model = MLkNN().fit(X, as_sets(Y))
    for form in (list, pd.Series):
        sets = form([{"p"}, {"q"}, {"p", missing}])
        for use in (model.fit, model.score, partial(make_scorer("macro_auc"), model)):
            with pytest.raises(ValueError, match=r"Row 2 of y has the label .*, which stands for"):
                use(X[:3], sets)


@pytest.mark.parametrize("missing", [None, float("nan"), "p"])
def test_a_row_without_a_set_is_refused_as_in_training(rows, missing):
    X, Y = rows
    model = MLkNN().fit(X, as_sets(Y))
    message = r"Row 1 of y is .* but other rows are lists or sets of labels; pass an empty list"
    matrix = [[0, 1], missing]
    for y in ([{"p"}, missing], [["p", "q"], missing], pd.Series([["p"], missing]), matrix):
        for use in (model.fit, model.score, partial(make_scorer("micro_f1"), model)):
            with pytest.raises(ValueError, match=message):
                use(X[:2], y)


def test_a_missing_cell_of_a_matrix_is_no_sign_of_other_codes(rows):
    X, Y = rows
    model = MLkNN().fit(X, as_sets(Y))
    with pytest.raises(ValueError, match="contains nan, expected only 0 and 1; leave out rows"):
        model.score(X[:2], [[0, 1, 0], [1, None, 0]])
    with pytest.raises(ValueError, match=r"contains -1.*convert \{-1, \+1\} targets"):
        model.score(X[:2], [[-1, 1, -1], [1, 1, -1]])


def test_metrics_say_how_label_sets_are_encoded(rows):
    X, Y = rows
    model = MLkNN().fit(X, as_sets(Y))
    for sets in sets_in_all_forms(Y):
        with pytest.raises(ValueError, match=r"Y_true consists of label sets.*MultiLabelBinarizer"):
            micro_f1(sets, model.predict(X))
        encoded = MultiLabelBinarizer(classes=model.label_names_).fit_transform(sets)
        assert micro_f1(encoded, model.predict(X)) == micro_f1(Y, model.predict(X))
    with pytest.raises(ValueError, match="Y_pred consists of label sets"):
        micro_f1(Y, model.predict_label_sets(X))


def test_a_single_label_is_still_asked_for_as_a_column():
    with pytest.raises(ValueError, match="a single label needs a column"):
        micro_f1([0, 1, 1], [0, 1, 0])


@pytest.mark.parametrize("function", [evaluate, evaluate_by_name, label_report])
def test_scores_without_names_beside_frames_of_different_orders_are_refused(function):
    truth = pd.DataFrame([[1, 0, 0], [0, 1, 1]], columns=NAMES)
    scores = pd.DataFrame([[0.9, 0.1, 0.2], [0.2, 0.6, 0.8]], columns=NAMES)
    other = truth[["r", "p", "q"]]
    expected = function(truth, truth, scores)
    assert function(truth, other, scores) == expected
    assert function(truth, truth.to_numpy(), scores.to_numpy()) == expected
    with pytest.raises(ValueError, match=r"it could follow either\. Give scores as a frame"):
        function(truth, other, scores.to_numpy())


def test_texts_of_zero_and_one_are_named_as_such():
    with pytest.raises(ValueError, match=r"contains texts such as '1'.*Y_true.astype\(int\)"):
        micro_f1(np.array([["1", "0"]]), [[1, 0]])


def test_rows_without_a_ranking_are_told_of_once():
    with pytest.warns(UndefinedMetricWarning) as told:
        found = evaluate([[1], [0]], [[1], [0]], [[1.0], [0.0]])
    assert len(told) == 1
    assert np.isnan([found["average_precision"], found["ranking_loss"]]).all()


def test_numbers_from_zero_in_label_sets_are_names(rows):
    X, Y = rows
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    model, score = MLkNN().fit(X, sets), make_scorer("micro_f1")
    frame = pd.DataFrame(Y)
    assert score(model, X, sets) == score(model, X, frame) == score(model, X, frame[[2, 0, 1]])
    sets[0] = sets[0] | {3}
    assert 0 < score(model, X, sets) < score(model, X, frame)


def test_a_number_and_its_text_are_two_labels():
    names = np.empty(2, dtype=object)
    names[:] = [1, "1"]
    frame = pd.DataFrame({"1": [1, 0], 1: [0, 0]})
    assert align_labels(frame, names).to_numpy().tolist() == [[0, 1], [0, 0]]
    with pytest.raises(ValueError, match="Pass one column for each of them"):
        align_labels(pd.DataFrame([[1, 0]], columns=["1", "2"]), names)
