"""Where scikit-learn agrees, where it differs, and what it gets silently wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.svm import SVC

import protolabel.metrics as ours


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 8)) < 0.2).astype(int)
    P = (rng.random(Y.shape) < 0.3).astype(int)
    S = (rng.normal(size=Y.shape) + Y).round(1)
    return Y, P, S


@pytest.fixture
def case_without_edge_rows(case):
    Y, P, S = case
    kept = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 8)
    return Y[kept], P[kept], S[kept]


def test_label_set_metrics_agree(case):
    Y, P, _ = case
    assert ours.accuracy(Y, P) == pytest.approx(
        sk.jaccard_score(Y, P, average="samples", zero_division=0)
    )
    assert ours.accuracy(Y, P, empty_value=1.0) == pytest.approx(
        sk.jaccard_score(Y, P, average="samples", zero_division=1)
    )
    assert ours.micro_f1(Y, P) == pytest.approx(sk.f1_score(Y, P, average="micro"))
    for undefined in (0.0, 1.0, np.nan):
        assert ours.macro_f1(Y, P, zero_division=undefined) == pytest.approx(
            sk.f1_score(Y, P, average="macro", zero_division=undefined)
        )
    assert ours.example_f1(Y, P) == pytest.approx(
        sk.f1_score(Y, P, average="samples", zero_division=0)
    )
    assert ours.hamming_loss(Y, P) == pytest.approx(sk.hamming_loss(Y, P))
    assert ours.subset_accuracy(Y, P) == pytest.approx(sk.accuracy_score(Y, P))


def test_accuracy_is_not_scikit_learns_accuracy_score(case):
    Y, P, _ = case
    assert ours.accuracy(Y, P) > sk.accuracy_score(Y, P)


def test_macro_f1_agrees_when_a_label_is_absent_on_both_sides(case):
    Y, P, _ = case
    Y[:, 3] = P[:, 3] = 0
    for undefined in (0.0, 1.0, np.nan):
        assert ours.macro_f1(Y, P, zero_division=undefined) == pytest.approx(
            sk.f1_score(Y, P, average="macro", zero_division=undefined)
        )


def test_ranking_metrics_agree_with_the_sklearn_edge_convention(case):
    Y, _, S = case
    assert ours.count_edge_cases(Y, Y).rows_without_labels > 50
    assert ours.average_precision(Y, S, edge="sklearn") == pytest.approx(
        sk.label_ranking_average_precision_score(Y, S)
    )
    assert ours.ranking_loss(Y, S, edge="sklearn") == pytest.approx(sk.label_ranking_loss(Y, S))
    assert ours.coverage(Y, S, edge="sklearn") == pytest.approx(sk.coverage_error(Y, S) - 1)


def test_excluding_rows_without_labels_makes_a_visible_difference(case):
    Y, _, S = case
    assert ours.average_precision(Y, S) < ours.average_precision(Y, S, edge="sklearn") - 0.02
    assert ours.ranking_loss(Y, S) > ours.ranking_loss(Y, S, edge="sklearn") + 0.02


def test_both_conventions_agree_when_every_row_poses_a_problem(case_without_edge_rows):
    Y, _, S = case_without_edge_rows
    for name in ("average_precision", "ranking_loss", "coverage", "one_error"):
        metric = getattr(ours, name)
        assert metric(Y, S) == pytest.approx(metric(Y, S, edge="sklearn"))


def test_ties_are_full_ranking_errors_in_both_libraries():
    Y = np.array([[1, 0, 0]])
    one_tie, all_tied = np.array([[0.5, 0.5, 0.1]]), np.array([[0.5, 0.5, 0.5]])
    assert ours.ranking_loss(Y, one_tie) == sk.label_ranking_loss(Y, one_tie) == 0.5
    assert ours.ranking_loss(Y, all_tied) == sk.label_ranking_loss(Y, all_tied) == 1.0


def test_hard_predictions_have_ranking_loss_one_minus_recall_times_specificity(
    case_without_edge_rows,
):
    Y, P, _ = case_without_edge_rows
    recall = (Y * P).sum(axis=1) / Y.sum(axis=1)
    specificity = ((1 - Y) * (1 - P)).sum(axis=1) / (1 - Y).sum(axis=1)
    assert ours.ranking_loss(Y, P) == pytest.approx((1 - recall * specificity).mean())


def test_areas_and_ndcg_agree(case_without_edge_rows):
    Y, _, S = case_without_edge_rows
    assert ours.macro_auc(Y, S) == pytest.approx(sk.roc_auc_score(Y, S, average="macro"))
    assert ours.micro_auc(Y, S) == pytest.approx(sk.roc_auc_score(Y, S, average="micro"))
    for k in (1, 3, 8):
        assert ours.ndcg_at_k(Y, S, k=k) == pytest.approx(sk.ndcg_score(Y, S, k=k))


def test_ndcg_agrees_on_empty_rows_with_the_sklearn_convention(case):
    Y, _, S = case
    assert ours.ndcg_at_k(Y, S, k=3, edge="sklearn") == pytest.approx(sk.ndcg_score(Y, S, k=3))


def test_minus_one_plus_one_targets_are_refused_where_scikit_learn_gives_nonsense(case):
    Y, _, S = case
    assert sk.label_ranking_average_precision_score(2 * Y - 1, S) == 1.0
    with pytest.raises(ValueError, match=r"Y_true contains -1, expected only 0 and 1"):
        ours.average_precision(2 * Y - 1, S)


def test_a_single_label_works_where_scikit_learn_raises():
    Y, P, S = np.array([[1], [0]]), np.array([[1], [1]]), np.array([[0.3], [0.1]])
    with pytest.raises(ValueError, match="binary format is not supported"):
        sk.label_ranking_loss(Y, S)
    assert ours.micro_f1(Y, P) == pytest.approx(2 / 3)
    assert ours.average_precision(Y, S, edge="sklearn") == 1.0


def test_infinite_scores_are_ranked_and_nan_is_refused():
    Y = np.array([[1, 0, 0]])
    assert ours.ranking_loss(Y, [[0.5, -np.inf, -np.inf]]) == 0.0
    assert ours.macro_auc([[1], [0]], [[np.inf], [0.0]]) == 1.0
    with pytest.raises(ValueError, match=r"scores contains 1 NaN value\(s\)"):
        ours.ranking_loss(Y, [[np.nan, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ours.accuracy([1, 0], [1, 0]), r"Y_true has shape \(2,\), expected"),
        (lambda: ours.accuracy([[1, 0]], [[1]]), r"Y_true has shape \(1, 2\) but Y_pred has"),
        (lambda: ours.ranking_loss([[1, 0]], [[1.0]]), r"scores has shape \(1, 1\) but Y_true"),
        (lambda: ours.ranking_loss([[1, 0]], [[1, 2]], edge="zero"), "edge is 'zero', expected"),
        (lambda: ours.precision_at_k([[1, 0]], [[1, 2]], k=3), "k is 3, expected a whole number"),
        (lambda: ours.precision_at_k([[1, 0]], [[1, 2]], k=1.5), "k is 1.5, expected a whole num"),
        (lambda: ours.accuracy([[0.5, 0]], [[1, 0]]), "Y_true contains 0.5, expected only 0"),
        (lambda: ours.get_metric("f1"), "there is no metric 'f1'; choose from accuracy"),
        (
            lambda: ours.expected_calibration_error([[1, 0]], [[2.0, 0.0]]),
            r"probabilities lie between 0 and 2, expected \[0, 1\]",
        ),
        (
            lambda: ours.propensity_scored_precision_at_k([[1, 0]], [[1, 2]], [1.0, 0.0], k=1),
            r"expected \(2,\) with values in \(0, 1\]",
        ),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_frames_are_accepted():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    Y, P = np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]])
    expected = ours.evaluate(Y, P, [[0.9, 0.1], [0.2, 0.7]], edge="sklearn")
    for frame in (pandas.DataFrame, lambda array: polars.DataFrame(array, schema=["a", "b"])):
        scores = frame(np.array([[0.9, 0.1], [0.2, 0.7]]))
        assert ours.evaluate(frame(Y), frame(P), scores, edge="sklearn") == expected


def test_stored_zeros_and_duplicates_of_sparse_labels_are_understood_and_left_alone():
    stored = sparse.csr_matrix(
        (np.array([1, 0]), (np.array([0, 1]), np.array([0, 1]))), shape=(2, 2)
    )
    assert ours.micro_f1(stored, [[1, 0], [0, 0]]) == 1.0
    assert stored.nnz == 2
    twice = sparse.coo_array((np.array([1, 1]), (np.array([0, 0]), np.array([0, 0]))), shape=(2, 2))
    with pytest.raises(ValueError, match="Y_true contains 2, expected only 0 and 1"):
        ours.micro_f1(twice, [[1, 0], [0, 0]])


def test_propensities_follow_the_published_formula():
    Y = np.zeros((100, 2), dtype=int)
    Y[:10, 0] = Y[:60, 1] = 1
    scale = (np.log(100) - 1) * 2.5**0.55
    expected = [1 / (1 + scale * np.exp(-0.55 * np.log(n + 1.5))) for n in (10, 60)]
    assert ours.label_propensities(Y) == pytest.approx(expected)


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression(max_iter=500)),  # both kinds of scores
        RandomForestClassifier(10, random_state=0),  # a list of probabilities
        RidgeClassifier(),  # a decision function alone
    ],
    ids=lambda model: type(model).__name__,
)
def test_scorers_equal_the_metric_of_the_predictions(model):
    X, Y = make_multilabel_classification(n_samples=120, n_classes=4, random_state=0)
    model.fit(X, Y)
    scores = ours.label_scores(model, X, n_labels=4)
    for name, metric in ours.METRICS.items():
        if name.endswith("_5"):
            continue
        value = metric.function(Y, scores if metric.uses_scores else model.predict(X))
        sign = 1 if metric.larger_is_better else -1
        assert ours.make_scorer(name)(model, X, Y) == pytest.approx(sign * value)


def test_scorers_choose_the_best_in_a_grid_search():
    X, Y = make_multilabel_classification(n_samples=150, n_classes=4, random_state=0)
    names = ["macro_f1", "ranking_loss", "precision_at_1"]
    search = GridSearchCV(
        OneVsRestClassifier(LogisticRegression(max_iter=500)),
        {"estimator__C": [1e-4, 1.0]},
        scoring={name: ours.make_scorer(name) for name in names},
        refit="ranking_loss",
        cv=3,
    ).fit(X, Y)
    assert search.best_params_ == {"estimator__C": 1.0}
    assert (search.cv_results_["mean_test_ranking_loss"] < 0).all()


def test_a_binary_target_is_scored_as_one_label():
    X, Y = make_multilabel_classification(n_samples=60, n_classes=1, n_labels=1, random_state=0)
    found = cross_validate(
        LogisticRegression(max_iter=500), X, Y[:, 0], scoring=ours.make_scorer("micro_auc"), cv=3
    )
    assert np.isfinite(found["test_score"]).all()


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_frames_go_by_their_names(as_frame):
    rng = np.random.default_rng(0)
    truth = pd.DataFrame(rng.integers(0, 2, (40, 3)), columns=list("abc"))
    scores = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    expected = ours.evaluate(truth.to_numpy(), scores.to_numpy() > 0, scores.to_numpy())
    turned = as_frame(scores[list("cab")])
    decisions = as_frame((scores > 0)[list("cab")])
    assert ours.evaluate(as_frame(truth), decisions, turned) == expected
    for metric in (ours.macro_auc, ours.ranking_loss):
        value = metric(truth.to_numpy(), scores.to_numpy())
        assert metric(as_frame(truth), turned) == pytest.approx(value)
    likely = scores.rank(pct=True)
    error = ours.expected_calibration_error(truth.to_numpy(), likely.to_numpy())
    by_name = ours.expected_calibration_error(as_frame(truth), as_frame(likely[list("cab")]))
    assert by_name == pytest.approx(error)
    unnamed = pd.DataFrame(scores.to_numpy())
    assert ours.evaluate(truth, unnamed > 0, unnamed) == expected


def test_one_label_that_no_row_has_gets_no_probability():
    X = np.arange(6.0)[:, None]
    forest = RandomForestClassifier(5, random_state=0)
    for value in (0, 1):
        model = clone(forest).fit(X, np.full(6, value))
        assert (ours.label_scores(model, X, n_labels=1) == value).all()
    chain = ClassifierChain(forest).fit(X, (X > 2).astype(int))
    assert ours.label_scores(chain, X[-1:], n_labels=1).tolist() == [[1.0]]


def test_ours_number_their_labels_from_zero():
    class Sure(BaseEstimator):
        classes_, label_names_ = np.array([0]), np.array(["only"])

        def predict_proba(self, X):
            return np.ones((len(X), 1))

    assert ours.label_scores(Sure(), [[1]], n_labels=1).tolist() == [[1.0]]


def test_an_estimator_without_scores_is_named_in_the_error():
    class Mute:
        def predict(self, X):
            return X

    with pytest.raises(TypeError, match="Mute has neither decision_function nor predict_proba"):
        ours.label_scores(Mute(), [[1]], n_labels=1)
    three_classes = SVC().fit(np.eye(6), [0, 0, 1, 1, 2, 2])
    with pytest.raises(ValueError, match="SVC gave scores of shape"):
        ours.label_scores(three_classes, np.eye(6), n_labels=2)


def test_the_named_evaluation_covers_every_metric():
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 6)) < 0.4).astype(int)
    S = rng.normal(size=Y.shape)
    found = ours.evaluate_by_name(Y, (S > 0).astype(int), S)
    assert list(found) == list(ours.METRICS)
    assert all(np.isfinite(value) for value in found.values())
    small = ours.evaluate_by_name(Y[:, :2], Y[:, :2], S[:, :2])
    assert "precision_at_3" not in small
