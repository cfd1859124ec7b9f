"""Every metric equals its definition as loops, on a thousand cases with ties and edge rows."""

import math
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

import protolabel.metrics as ours
from reference import metrics as naive

N_CASES = 1000
OF_LABELS = ["accuracy", "micro_f1", "macro_f1", "example_f1", "hamming_loss", "subset_accuracy"]
OF_RANKINGS = ["average_precision", "ranking_loss", "coverage", "one_error"]
OF_ROC = ["macro_auc", "micro_auc"]


def draw_case(seed):
    """Draw few rows and labels, with rounded scores and rows and labels without a problem."""
    rng = np.random.default_rng(seed)
    shape = (rng.integers(1, 7), rng.integers(1, 6))
    Y = (rng.random(shape) < rng.uniform(0.1, 0.9)).astype(int)
    P = (rng.random(shape) < rng.uniform(0.1, 0.9)).astype(int)
    S = rng.normal(size=shape).round(int(rng.integers(0, 2)))
    if rng.random() < 0.5:
        Y[rng.integers(shape[0])] = rng.integers(2)
    if rng.random() < 0.3:
        P[rng.integers(shape[0])] = 0
    if rng.random() < 0.3:
        Y[:, rng.integers(shape[1])] = rng.integers(2)
    if rng.random() < 0.1:
        S[:] = 0
    if rng.random() < 0.1:
        S[rng.integers(shape[0]), rng.integers(shape[1])] = -np.inf
    return Y, P, S


CASES = [draw_case(seed) for seed in range(N_CASES)]


def value_of(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return function(*arguments, **options)


def assert_same(ours_value, naive_value, case):
    assert ours_value == pytest.approx(naive_value, abs=1e-12, nan_ok=True), case


@pytest.mark.parametrize("name", OF_LABELS)
def test_label_set_metrics_equal_the_loops(name):
    for number, (Y, P, _) in enumerate(CASES):
        expected = getattr(naive, name)(Y.tolist(), P.tolist())
        assert_same(getattr(ours, name)(Y, P), expected, number)


@pytest.mark.parametrize("edge", ["exclude", "sklearn"])
@pytest.mark.parametrize("name", OF_RANKINGS)
def test_ranking_metrics_equal_the_double_loop(name, edge):
    for number, (Y, _, S) in enumerate(CASES):
        expected = getattr(naive, name)(Y.tolist(), S.tolist(), edge)
        assert_same(value_of(getattr(ours, name), Y, S, edge=edge), expected, number)


@pytest.mark.parametrize("name", OF_ROC)
def test_areas_equal_the_loop_over_pairs(name):
    for number, (Y, _, S) in enumerate(CASES):
        expected = getattr(naive, name)(Y.tolist(), S.tolist())
        assert_same(value_of(getattr(ours, name), Y, S), expected, number)


def test_metrics_at_k_equal_the_mean_over_all_orders_of_ties():
    for number, (Y, _, S) in enumerate(CASES):
        k = 1 + number % Y.shape[1]
        assert_same(
            ours.precision_at_k(Y, S, k=k), naive.precision_at_k(Y.tolist(), S.tolist(), k), number
        )
        for edge in ("exclude", "sklearn"):
            expected = naive.ndcg_at_k(Y.tolist(), S.tolist(), k, edge)
            assert_same(value_of(ours.ndcg_at_k, Y, S, k=k, edge=edge), expected, number)
        propensities = ours.label_propensities(Y)
        expected = naive.propensity_scored_precision_at_k(Y.tolist(), S.tolist(), propensities, k)
        found = ours.propensity_scored_precision_at_k(Y, S, propensities, k=k)
        assert_same(found, expected, number)


def test_calibration_error_equals_the_loop():
    for number, (Y, _, _) in enumerate(CASES):
        probabilities = np.random.default_rng(number).random(Y.shape).round(2)
        expected = naive.expected_calibration_error(Y.tolist(), probabilities.tolist(), 7)
        found = ours.expected_calibration_error(Y, probabilities, n_bins=7)
        # 7 bins: no rounded probability but 0 and 1 lies on an edge
        assert_same(found, expected, number)


@pytest.mark.parametrize("edge", ["exclude", "sklearn"])
def test_evaluate_equals_the_five_metrics_in_their_order(edge):
    for number, (Y, P, S) in enumerate(CASES):
        found = value_of(ours.evaluate, Y, P, S, edge=edge)
        truth, guess, scores = Y.tolist(), P.tolist(), S.tolist()
        expected = {
            "accuracy": naive.accuracy(truth, guess),
            "micro_f1": naive.micro_f1(truth, guess),
            "macro_f1": naive.macro_f1(truth, guess),
            "average_precision": naive.average_precision(truth, scores, edge),
            "ranking_loss": naive.ranking_loss(truth, scores, edge),
        }
        assert list(found) == list(expected)
        for name, value in expected.items():
            assert_same(found[name], value, number)


def test_sparse_labels_give_the_same_values():
    for Y, P, S in CASES[:200]:
        dense = value_of(ours.evaluate, Y, P, S)
        for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
            mixed = value_of(ours.evaluate, form(Y), form(P), S)
            assert mixed == pytest.approx(dense, nan_ok=True)


def test_blocks_of_rows_give_the_same_values_as_all_at_once():
    rng = np.random.default_rng(0)
    Y, P = ((rng.random((90, 8)) < 0.3).astype(int) for _ in range(2))
    S = rng.normal(size=Y.shape).round(1)
    evaluation = ours.StreamingEvaluation()
    for rows in np.array_split(np.arange(90), 7):
        evaluation.update(sparse.csr_matrix(Y[rows]), P[rows], S[rows])
    assert evaluation.result() == pytest.approx(ours.evaluate(Y, P, S))


def test_ranking_blocks_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(1)
    Y = (rng.random((50, 6)) < 0.4).astype(int)
    S = rng.normal(size=Y.shape).round(1)
    whole = ours.average_precision(Y, S)
    monkeypatch.setattr("protolabel.metrics.ranking.CELLS_PER_BLOCK", 30)
    assert ours.average_precision(Y, S) == pytest.approx(whole)


def test_empty_value_decides_about_rows_empty_on_both_sides():
    Y, P = np.array([[0, 0], [1, 0], [0, 0]]), np.array([[0, 0], [1, 0], [0, 1]])
    assert ours.accuracy(Y, P) == pytest.approx(1 / 3)
    assert ours.accuracy(Y, P, empty_value=1.0) == pytest.approx(2 / 3)
    assert ours.count_edge_cases(Y, P).rows_empty_in_both == 1


def test_zero_division_decides_about_labels_absent_on_both_sides():
    Y, P = np.array([[1, 0, 0], [1, 0, 0]]), np.array([[1, 0, 1], [1, 0, 0]])
    assert ours.macro_f1(Y, P) == pytest.approx(1 / 3)
    assert ours.macro_f1(Y, P, zero_division=1.0) == pytest.approx(2 / 3)
    assert ours.macro_f1(Y, P, zero_division=math.nan) == pytest.approx(1 / 2)
    cases = ours.count_edge_cases(Y, P)
    assert (cases.labels_never_true, cases.labels_absent_in_both) == (2, 1)


def test_macro_f1_is_not_the_f1_of_mean_precision_and_recall():
    Y, P = np.array([[1, 1], [1, 0], [1, 0]]), np.array([[1, 1], [0, 1], [0, 1]])
    assert ours.macro_f1(Y, P) == pytest.approx((0.5 + 0.5) / 2)
    precision, recall = (1 + 1 / 3) / 2, (1 / 3 + 1) / 2
    assert ours.macro_f1(Y, P) != pytest.approx(2 * precision * recall / (precision + recall))


def test_no_rankable_row_gives_nan_with_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="edge='sklearn'"):
        assert math.isnan(ours.average_precision([[0, 0], [1, 1]], [[1, 2], [1, 2]]))
    with pytest.warns(UndefinedMetricWarning, match="No label"):
        assert math.isnan(ours.macro_auc([[1, 0]], [[1, 2]]))


def test_label_report_equals_the_loops():
    for Y, P, S in CASES[:100]:
        for k, line in enumerate(ours.label_report(Y, P, S)):
            hits, false_alarms, misses = naive.counts_of_label(Y.tolist(), P.tolist(), k)
            assert (line.n_hits, line.n_true) == (hits, hits + misses)
            assert line.n_predicted == hits + false_alarms
            assert line.f1 == pytest.approx(naive.f1(hits, false_alarms, misses))
            assert line.precision == pytest.approx(hits / max(hits + false_alarms, 1))
            assert line.recall == pytest.approx(hits / max(hits + misses, 1))
            expected = naive.auc(Y[:, k].tolist(), S[:, k].tolist())
            assert line.auc == pytest.approx(expected, nan_ok=True)


def test_quantile_bins_hold_equally_many_cells_and_curves_are_exact():
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.3, 4, size=(400, 5))
    Y = (rng.random(probabilities.shape) < probabilities).astype(int)
    curve = ours.reliability_curve(Y, probabilities, n_bins=10, strategy="quantile")
    assert np.ptp(curve.counts) <= 1
    assert (curve.counts * curve.observed).sum() == pytest.approx(Y.sum())
    assert (curve.counts * curve.predicted).sum() == pytest.approx(probabilities.sum())
    assert curve.error < 0.05
    macro = ours.expected_calibration_error(Y, probabilities, average="macro")
    each = [ours.expected_calibration_error(Y[:, [k]], probabilities[:, [k]]) for k in range(5)]
    assert macro == pytest.approx(np.mean(each))


def test_labels_that_nobody_has_may_be_left_out_of_macro_f1():
    truth, predicted = np.array([[1, 0, 0], [0, 1, 0]]), np.array([[1, 0, 0], [0, 0, 0]])
    found = ours.evaluate_by_name(
        truth, predicted, predicted, names=["macro_f1", "macro_f1_of_present"]
    )
    assert found == {"macro_f1": pytest.approx(1 / 3), "macro_f1_of_present": 0.5}
