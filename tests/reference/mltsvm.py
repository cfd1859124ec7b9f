"""Twin hyperplanes with every matrix formed and every coordinate in a loop."""

import math

import numpy as np


def with_constant(X):
    return np.array([[*row, 1.0] for row in X])


def dual_matrix(H, G, penalty):
    """``Q = G (H'H + lambda I)^-1 G'``."""
    M = penalty * np.eye(H.shape[1])
    for row in H:
        M += np.outer(row, row)
    return G @ np.linalg.inv(M) @ G.T, M


def primal_value(H, G, penalty, c, v):
    total = 0.5 * penalty * sum(value**2 for value in v)
    for row in H:
        total += 0.5 * (row @ v) ** 2
    for row in G:
        total += c * max(0.0, 1.0 + row @ v)
    return total


def dual_value(Q, a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        for j in range(len(a)):
            total -= 0.5 * a[i] * Q[i, j] * a[j]
    return total


def hyperplane_by_sor(H, G, penalty, c, sweeps):
    """Projected Gauss-Seidel on the explicit dual."""
    Q, M = dual_matrix(H, G, penalty)
    a = np.zeros(len(G))
    for _ in range(sweeps):
        for i in range(len(G)):
            slope = -1.0
            for j in range(len(G)):
                slope += Q[i, j] * a[j]
            a[i] = min(max(a[i] - slope / Q[i, i], 0.0), c)
    return -np.linalg.inv(M) @ G.T @ a, a


def decide(weights, offsets, X):
    """Labels within Delta of their hyperplane, and the distances."""
    norms = [math.sqrt(sum(value**2 for value in w)) for w in weights.T]
    radius = min(1.0 / norm for norm in norms)
    distances = np.empty((len(X), len(norms)))
    for i, row in enumerate(X):
        for k, norm in enumerate(norms):
            distances[i, k] = abs(row @ weights[:, k] + offsets[k]) / norm
    return (distances < radius).astype(int), distances
