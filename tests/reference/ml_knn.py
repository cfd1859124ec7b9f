"""ML-KNN as plain loops, for comparison with the vectorised code."""

import math


def neighbours(stored, query, k, skip=None):
    """Positions of the k nearest rows by (distance, position)."""
    order = []
    for i, row in enumerate(stored):
        if i != skip:
            distance = sum((a - b) ** 2 for a, b in zip(row, query, strict=True))
            order.append((round(distance, 9), i))
    return [i for _, i in sorted(order)[:k]]


def fit(X, Y, k, s, include_self=False):
    """Prior and likelihoods: P1[l], L1[l][j], L0[l][j]."""
    n, n_labels = len(X), len(Y[0])
    prior, with_label, without = [], [], []
    found = [neighbours(X, X[i], k, None if include_self else i) for i in range(n)]
    for label in range(n_labels):
        prior.append((s + sum(Y[i][label] for i in range(n))) / (2 * s + n))
        c1, c0 = [0] * (k + 1), [0] * (k + 1)
        for i in range(n):
            count = sum(Y[a][label] for a in found[i])
            if Y[i][label]:
                c1[count] += 1
            else:
                c0[count] += 1
        with_label.append([(s + c) / (s * (k + 1) + sum(c1)) for c in c1])
        without.append([(s + c) / (s * (k + 1) + sum(c0)) for c in c0])
    return prior, with_label, without


def scores(X, Y, X_new, k, s=1.0, include_self=False):
    """Posterior log-odds and joint probabilities of new rows."""
    prior, with_label, without = fit(X, Y, k, s, include_self)
    log_odds, joints = [], []
    for x in X_new:
        found = neighbours(X, x, k)
        odds_of_row, joints_of_row = [], []
        for label, p in enumerate(prior):
            count = sum(Y[a][label] for a in found)
            joint, other = p * with_label[label][count], (1 - p) * without[label][count]
            posterior = joint / (joint + other)
            odds_of_row.append(math.log(posterior / (1 - posterior)))
            joints_of_row.append(joint)
        log_odds.append(odds_of_row)
        joints.append(joints_of_row)
    return log_odds, joints
