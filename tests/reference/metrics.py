"""Every metric once more as plain loops over rows and labels, written from the definitions."""

import itertools
import math


def counts_of_label(Y, P, k):
    hits = sum(1 for y, p in zip(Y, P, strict=True) if y[k] == 1 and p[k] == 1)
    false_alarms = sum(1 for y, p in zip(Y, P, strict=True) if y[k] == 0 and p[k] == 1)
    misses = sum(1 for y, p in zip(Y, P, strict=True) if y[k] == 1 and p[k] == 0)
    return hits, false_alarms, misses


def sets(Y):
    return [{k for k, value in enumerate(row) if value == 1} for row in Y]


def f1(hits, false_alarms, misses, if_undefined=0.0):
    total = 2 * hits + false_alarms + misses
    return 2 * hits / total if total else if_undefined


def accuracy(Y, P, empty_value=0.0):
    values = [
        len(true & guess) / len(true | guess) if true | guess else empty_value
        for true, guess in zip(sets(Y), sets(P), strict=True)
    ]
    return sum(values) / len(values)


def micro_f1(Y, P):
    parts = [counts_of_label(Y, P, k) for k in range(len(Y[0]))]
    return f1(*(sum(part[i] for part in parts) for i in range(3)))


def macro_f1(Y, P, if_undefined=0.0):
    values = [f1(*counts_of_label(Y, P, k), if_undefined) for k in range(len(Y[0]))]
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values)


def example_f1(Y, P):
    values = [
        2 * len(true & guess) / (len(true) + len(guess)) if true or guess else 0.0
        for true, guess in zip(sets(Y), sets(P), strict=True)
    ]
    return sum(values) / len(values)


def hamming_loss(Y, P):
    wrong = [a != b for y, p in zip(Y, P, strict=True) for a, b in zip(y, p, strict=True)]
    return sum(wrong) / len(wrong)


def subset_accuracy(Y, P):
    return sum(list(y) == list(p) for y, p in zip(Y, P, strict=True)) / len(Y)


def over_ranked_rows(Y, S, value_of_row, edge_value, edge):
    values = []
    for true, scores in zip(sets(Y), S, strict=True):
        if 0 < len(true) < len(scores):
            values.append(value_of_row(true, list(scores)))
        elif edge == "sklearn":
            values.append(edge_value(true, list(scores)))
    return sum(values) / len(values) if values else math.nan


def rank(scores, k):
    return sum(1 for other in scores if other >= scores[k])


def average_precision(Y, S, edge="exclude"):
    def of_row(true, scores):
        total = 0.0
        for k in true:
            above = sum(1 for other in true if scores[other] >= scores[k])
            total += above / rank(scores, k)
        return total / len(true)

    return over_ranked_rows(Y, S, of_row, lambda *_: 1.0, edge)


def ranking_loss(Y, S, edge="exclude"):
    def of_row(true, scores):
        false = set(range(len(scores))) - true
        wrong = sum(1 for k in true for j in false if scores[k] <= scores[j])
        return wrong / (len(true) * len(false))

    return over_ranked_rows(Y, S, of_row, lambda *_: 0.0, edge)


def coverage(Y, S, edge="exclude"):
    def of_row(true, scores):
        return max((rank(scores, k) for k in true), default=0) - 1

    return over_ranked_rows(Y, S, of_row, of_row, edge)


def one_error(Y, S, edge="exclude"):
    def of_row(true, scores):
        top = {k for k, score in enumerate(scores) if score == max(scores)}
        return 0.0 if top <= true else 1.0

    return over_ranked_rows(Y, S, of_row, of_row, edge)


def auc(truth, scores):
    pairs = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for (t, a), (u, b) in itertools.product(zip(truth, scores, strict=True), repeat=2)
        if t == 1 and u == 0
    ]
    return sum(pairs) / len(pairs) if pairs else math.nan


def macro_auc(Y, S):
    n_labels = len(Y[0])
    values = [auc([y[k] for y in Y], [s[k] for s in S]) for k in range(n_labels)]
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


def micro_auc(Y, S):
    return auc([v for y in Y for v in y], [v for s in S for v in s])


def expectation_over_tie_orders(scores, worth_of_order):
    """Average over every order of the labels that the scores allow."""
    labels = range(len(scores))
    values = [
        worth_of_order(order)
        for order in itertools.permutations(labels)
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    return sum(values) / len(values)


def precision_at_k(Y, S, k):
    values = [
        expectation_over_tie_orders(s, lambda order, y=y: sum(y[j] for j in order[:k]) / k)
        for y, s in zip(Y, S, strict=True)
    ]
    return sum(values) / len(values)


def ndcg_at_k(Y, S, k, edge="exclude"):
    values = []
    for y, s in zip(Y, S, strict=True):
        if sum(y):

            def gain(order, y=y):
                return sum(y[j] / math.log2(place + 2) for place, j in enumerate(order[:k]))

            best = gain(sorted(range(len(y)), key=lambda j, y=y: -y[j]))
            values.append(expectation_over_tie_orders(s, gain) / best)
        elif edge == "sklearn":
            values.append(0.0)
    return sum(values) / len(values) if values else math.nan


def propensity_scored_precision_at_k(Y, S, propensities, k):
    reached = possible = 0.0
    for y, s in zip(Y, S, strict=True):
        gains = [value / p for value, p in zip(y, propensities, strict=True)]
        reached += expectation_over_tie_orders(
            s, lambda order, g=gains: sum(g[j] for j in order[:k])
        )
        possible += sum(sorted(gains, reverse=True)[:k])
    return reached / possible if possible else math.nan


def expected_calibration_error(Y, Q, n_bins):
    cells = [
        (q, y) for y_row, q_row in zip(Y, Q, strict=True) for y, q in zip(y_row, q_row, strict=True)
    ]
    error = 0.0
    for number in range(n_bins):
        low, high = number / n_bins, (number + 1) / n_bins
        inside = [(q, y) for q, y in cells if low < q <= high or (number == 0 and q == 0)]
        if inside:
            gap = sum(q for q, _ in inside) - sum(y for _, y in inside)
            error += abs(gap) / len(cells)
    return error
