"""The tests on result tables against SciPy, published tables, loops and simple truths."""

import math
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from protolabel.experiments.statistics import (
    bayesian_signed_rank,
    compare_with_control,
    correlated_t_test,
    critical_difference,
    critical_difference_diagram,
    friedman_test,
    holm,
    rank_methods,
    sign_test,
    sign_threshold,
    similar_groups,
    wilcoxon_all_pairs,
)

# q_alpha of Demsar (2006), k = 2 .. 10
Q_05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
Q_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]


def test_sign_thresholds_are_the_printed_ones():
    assert sign_threshold(75) == pytest.approx(45.987, abs=5e-4)
    assert sign_threshold(30) == pytest.approx(20.368, abs=5e-4)
    assert sign_threshold(15) == pytest.approx(11.295, abs=1e-3)


def test_sign_test_counts_and_exact_probability():
    test = sign_test([2, 2, 2, 2, 2, 1, 1], [1, 1, 1, 1, 1, 1, 2])
    assert (test.wins, test.ties, test.losses, test.n_cases) == (5, 1, 1, 7)
    assert str(test) == "5/1/1"
    # The one tie is dropped: 5 of 6, two-sided.
    assert test.p_value == pytest.approx(2 * (6 + 1) / 2**6)


def test_an_even_number_of_ties_is_split_between_the_sides():
    test = sign_test([1, 1, 1, 0, 0], [0, 0, 0, 0, 0])
    assert test.p_value == pytest.approx(stats.binomtest(4, 5).pvalue)


def test_the_threshold_is_met_by_reaching_it():
    first = np.r_[np.ones(12), np.zeros(3)]
    assert sign_test(first, 1 - first).is_superior
    fewer = np.r_[np.ones(11), np.zeros(4)]
    assert not sign_test(fewer, 1 - fewer).is_superior


def test_methods_that_never_differ_are_not_significant():
    test = sign_test([1.0], [1.0])
    assert (test.ties, test.p_value, test.is_superior) == (1, 1.0, False)


def test_ranks_by_hand_with_both_tie_rules_and_both_directions():
    values = [[0.9, 0.7, 0.7, 0.1]]
    assert_array_equal(rank_methods(values), [[1, 2.5, 2.5, 4]])
    assert_array_equal(rank_methods(values, ties="min"), [[1, 2, 2, 4]])
    assert_array_equal(rank_methods(values, larger_is_better=False), [[4, 2.5, 2.5, 1]])


def test_means_of_the_same_values_in_another_order_tie():
    means = np.mean([0.1, 0.2, 0.3]), np.mean([0.3, 0.2, 0.1]), np.mean([0.2, 0.3, 0.1])
    assert len(set(means)) > 1
    assert rank_methods([means]).tolist() == [[2.0, 2.0, 2.0]]
    for first in means:
        assert str(sign_test([first], [means[0]])) == "0/1/0"


def test_friedman_equals_scipy_without_ties():
    values = np.random.default_rng(0).normal(size=(12, 5)) + np.arange(5) * 0.3
    found = friedman_test(rank_methods(values))
    expected = stats.friedmanchisquare(*values.T)
    assert found.chi_square == pytest.approx(expected.statistic)
    assert found.p_chi_square == pytest.approx(expected.pvalue)


def test_friedman_reproduces_the_worked_example_of_demsar():
    """Demsar (2006), table 6: average ranks of four methods on 14 datasets."""
    mean_ranks = np.array([3.143, 2.000, 2.893, 1.964])
    found = friedman_test(np.tile(mean_ranks, (14, 1)))
    assert found.chi_square == pytest.approx(9.28, abs=0.02)
    assert found.f_statistic == pytest.approx(3.69, abs=0.02)


def test_friedman_is_exact_when_all_datasets_agree():
    found = friedman_test(np.tile([1.0, 2.0, 3.0], (10, 1)))
    assert found.f_statistic == math.inf
    assert found.p_f == pytest.approx(1 / 6**9)
    assert friedman_test([[1, 2], [1, 2]]).p_f == 0.5
    same = friedman_test(np.full((10, 3), 2.0))
    assert (same.chi_square, same.p_chi_square) == (0.0, 1.0)


@pytest.mark.parametrize(("alpha", "quantiles"), [(0.05, Q_05), (0.10, Q_10)])
def test_critical_differences_follow_the_printed_quantiles(alpha, quantiles):
    for n_methods, quantile in enumerate(quantiles, start=2):
        expected = quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * 15))
        # The printed table has one entry that is off by one in the last digit.
        found = critical_difference(n_methods, 15, alpha=alpha)
        assert found == pytest.approx(expected, abs=1.6e-3)


def test_control_comparisons_use_the_normal_distribution_of_ranks():
    ranks = np.array([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    second, third = compare_with_control(ranks, control=0)
    error = math.sqrt(3 * 4 / (6 * 4))
    assert second.z == pytest.approx((2.0 - 1.25) / error)
    assert third.p_value == pytest.approx(2 * stats.norm.sf((2.75 - 1.25) / error))
    assert third.p_holm == pytest.approx(2 * third.p_value)
    assert second.p_holm == pytest.approx(second.p_value)
    assert second.p_bonferroni == pytest.approx(2 * second.p_value)


def test_holm_equals_its_definition():
    rng = np.random.default_rng(0)
    for _ in range(50):
        raw = rng.random(6) ** 3
        order = np.argsort(raw)
        running, expected = 0.0, np.empty(6)
        for step, index in enumerate(order):
            running = max(running, min(1.0, (6 - step) * raw[index]))
            expected[index] = running
        assert_allclose(holm(raw), expected)


def test_wilcoxon_equals_scipy_and_is_corrected_for_all_pairs():
    values = np.random.default_rng(0).normal([0.0, 0.5, 1.5], size=(15, 3))
    pairs = wilcoxon_all_pairs(values)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1), (0, 2), (1, 2)]
    raw = [stats.wilcoxon(values[:, a] - values[:, b]).pvalue for a, b in [(0, 1), (0, 2), (1, 2)]]
    assert_allclose([pair.p_value for pair in pairs], raw)
    assert_allclose([pair.p_holm for pair in pairs], holm(raw))
    assert pairs[1].mean_difference < 0
    flipped = wilcoxon_all_pairs(values, larger_is_better=False)
    assert flipped[1].mean_difference == pytest.approx(-pairs[1].mean_difference)
    assert flipped[1].p_value == pytest.approx(pairs[1].p_value)


def test_equal_values_take_part_in_the_ranks():
    differences = np.array([0.0, 0.0, 0.1, 0.2, 0.4, -0.3, 0.5, 0.6])
    [pair] = wilcoxon_all_pairs(np.column_stack([differences, np.zeros(8)]))
    with_zeros = stats.wilcoxon(differences, zero_method="pratt").pvalue
    assert pair.p_value == pytest.approx(with_zeros)
    assert with_zeros != pytest.approx(stats.wilcoxon(differences, zero_method="wilcox").pvalue)


def test_wilcoxon_warns_of_nothing_with_ties_and_equal_methods():
    values = np.array([[0.5, 0.5, 0.4], [0.6, 0.6, 0.6], [0.7, 0.7, 0.6], [0.9, 0.9, 0.7]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = wilcoxon_all_pairs(values)
    assert pairs[0].p_value == 1.0


def naive_signed_rank(differences, rope, strength, n_draws, rng):
    values = [0.0, *differences]
    credit = [0, 0, 0]
    for weights in rng.dirichlet([strength] + [1.0] * len(differences), size=n_draws):
        masses = [0.0, 0.0, 0.0]
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                side = 0 if a + b > 2 * rope else 2 if a + b < -2 * rope else 1
                masses[side] += weights[i] * weights[j]
        credit[masses.index(max(masses))] += 1
    return [count / n_draws for count in credit]


def test_the_bayesian_signed_rank_equals_the_loops():
    differences = [0.031, -0.012, 0.024, 0.003, 0.041, -0.002]
    found = bayesian_signed_rank(differences, n_draws=400, rng=np.random.default_rng(5))
    expected = naive_signed_rank(differences, 0.01, 0.5, 400, np.random.default_rng(5))
    assert [found.first_better, found.equivalent, found.second_better] == pytest.approx(expected)


def test_the_bayesian_signed_rank_tells_better_equal_and_worse():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.002, 15)
    assert bayesian_signed_rank(0.05 + noise).decide() == "first"
    assert bayesian_signed_rank(-0.05 + noise).decide() == "second"
    assert bayesian_signed_rank(noise).decide() == "equivalent"
    assert bayesian_signed_rank(0.01 + 10 * noise).decide() == "undecided"
    one = bayesian_signed_rank([0.0])
    assert (one.first_better, one.equivalent, one.second_better) == (0.0, 1.0, 0.0)


def test_the_bayesian_signed_rank_is_antisymmetric_and_seeded():
    differences = np.random.default_rng(3).normal(0.01, 0.02, 10)
    there, back = bayesian_signed_rank(differences), bayesian_signed_rank(-differences)
    assert there.first_better == pytest.approx(back.second_better)
    assert there == bayesian_signed_rank(differences)
    total = there.first_better + there.equivalent + there.second_better
    assert total == pytest.approx(1)


def test_the_correlated_t_test_equals_the_formula():
    differences = np.array([0.02, 0.03, 0.01, 0.025, 0.015])
    found = correlated_t_test(differences, n_folds=5, rope=0.01)
    scale = math.sqrt((1 / 5 + 0.2 / 0.8) * differences.var(ddof=1))
    assert found.first_better == pytest.approx(stats.t.sf((0.01 - 0.02) / scale, 4))
    assert found.second_better == pytest.approx(stats.t.cdf((-0.01 - 0.02) / scale, 4))
    total = found.first_better + found.equivalent + found.second_better
    assert total == pytest.approx(1)


def test_the_correlation_of_folds_makes_the_t_test_more_careful():
    differences = [0.02, 0.03, 0.01, 0.025, 0.015]
    few, many = (correlated_t_test(differences, n_folds=n).first_better for n in (2, 100))
    assert few < many


def test_equal_differences_are_decided_without_a_distribution():
    assert correlated_t_test([0.02, 0.02], n_folds=2).decide() == "first"
    assert correlated_t_test([0.0, 0.0], n_folds=2).decide() == "equivalent"
    assert correlated_t_test([-0.02, -0.02], n_folds=2).decide() == "second"


def test_groups_are_maximal_runs_within_the_critical_difference():
    ranks = {"a": 1.0, "b": 1.5, "c": 2.4, "d": 4.0}
    assert similar_groups(ranks, 1.0) == (("a", "b"), ("b", "c"))
    assert similar_groups(ranks, 10.0) == (("a", "b", "c", "d"),)
    assert similar_groups(ranks, 0.1) == ()


def test_ranks_exactly_one_critical_difference_apart_differ():
    assert similar_groups({"a": 1.0, "b": 2.0}, 1.0) == ()


def test_the_diagram_is_well_formed_and_places_methods_by_rank():
    drawing = critical_difference_diagram(
        {"ours <new>": 1.2, "b & c": 2.1, "d": 2.7}, 1.0, title="AP & RL"
    )
    root = ElementTree.fromstring(drawing)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "ours <new> 1.20" in texts
    assert "b & c 2.10" in texts
    assert "CD = 1.000" in texts
    thick = [
        line
        for line in root.iter("{http://www.w3.org/2000/svg}line")
        if line.attrib["stroke-width"] == "4"
    ]
    assert len(thick) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test([1, 2], [1]), r"values of shape \(2,\) and \(1,\)"),
        (lambda: sign_test([np.nan], [1]), "a value is missing or infinite"),
        (lambda: rank_methods([[1.0]]), r"values has shape \(1, 1\), expected"),
        (lambda: rank_methods([[1.0, np.nan]]), r"1 value\(s\) are missing or infinite"),
        (lambda: rank_methods([[1, 2]], ties="max"), "ties is 'max', expected 'average' or 'min'"),
        (lambda: friedman_test([[1, 2]]), r"ranks of 1 dataset\(s\) were given"),
        (lambda: critical_difference(1, 5), r"got 1 method\(s\) on 5 dataset\(s\)"),
        (lambda: compare_with_control([[1, 2]], 2), "control is column 2, expected 0 to 1"),
        (lambda: wilcoxon_all_pairs([[1.0, np.nan]]), r"1 missing value\(s\)"),
        (lambda: bayesian_signed_rank([]), r"differences has shape \(0,\), expected one finite"),
        (lambda: bayesian_signed_rank([0.1], rope=-1), "expected rope >= 0"),
        (lambda: correlated_t_test([0.1], n_folds=5), r"got 1 difference\(s\) of 5 fold\(s\)"),
        (lambda: critical_difference_diagram({"a": 1.0}, 1.0), "a diagram needs at least two"),
    ],
)
def test_bad_input_is_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()
