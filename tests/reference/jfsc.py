"""The objective of JFSC as plain loops."""

import math

import numpy as np


def unlikeness(Y):
    n_labels = Y.shape[1]
    R = np.zeros((n_labels, n_labels))
    for j in range(n_labels):
        for k in range(n_labels):
            if j == k:
                continue
            both = sum(Y[i, j] * Y[i, k] for i in range(len(Y)))
            lengths = math.sqrt(Y[:, j].sum()) * math.sqrt(Y[:, k].sum())
            R[j, k] = 1.0 - (both / lengths if lengths > 0 else 0.0)
    return R


def scatter_matrix(X, y):
    """S of one label; zero if it has one side only."""
    dim = X.shape[1]
    positives = [x for x, is_member in zip(X, y, strict=True) if is_member]
    negatives = [x for x, is_member in zip(X, y, strict=True) if not is_member]
    S = np.zeros((dim, dim))
    if not positives or not negatives:
        return S
    positive_mean, negative_mean = np.mean(positives, axis=0), np.mean(negatives, axis=0)
    for x in positives:
        S += np.outer(x - positive_mean, x - positive_mean)
    for x in negatives:
        deviation = x - negative_mean
        S += len(positives) / len(negatives) * np.outer(deviation, deviation)
    apart = positive_mean - negative_mean
    return S - len(positives) * np.outer(apart, apart)


def objective(X, Y, W, penalties, loss, fisher):
    """F; the last column of X is constant."""
    correlation_penalty, fisher_penalty, sparsity_penalty = penalties
    total = 0.0
    for x, y in zip(X, Y, strict=True):
        squares = sum((x @ W[:, k] - y[k]) ** 2 for k in range(Y.shape[1]))
        total += 0.5 * squares if loss == "squared" else math.sqrt(squares)
    R = unlikeness(Y)
    for j in range(Y.shape[1]):
        for k in range(Y.shape[1]):
            total += 0.5 * correlation_penalty * R[j, k] * (W[:, j] @ W[:, k])
        S = scatter_matrix(X, Y[:, j])
        if fisher == "diagonal":
            S = np.diag(np.diag(S))
        total += 0.5 * fisher_penalty * (W[:, j] @ S @ W[:, j])
    for row in W[:-1]:
        for weight in row:
            total += sparsity_penalty * abs(weight)
    return total


def best_threshold(outputs, labels):
    """First of 50 values with the best micro-F1."""
    best, best_f1 = 0.0, -1.0
    for threshold in np.linspace(0.0, max(outputs.max(), 0.0), 50):
        predicted = outputs > threshold
        hits = (predicted & (labels > 0)).sum()
        f1 = 2.0 * hits / (predicted.sum() + labels.sum())
        if f1 > best_f1:
            best, best_f1 = threshold, f1
    return best
