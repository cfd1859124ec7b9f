"""CAMEL step by step: lasso by ADMM, the alternating minimisation, and its fixed point."""

import numpy as np
from scipy.linalg import solve_sylvester


def admm_lasso(A, target, penalty, n_iterations=20000, tolerance=1e-12):
    n_columns = A.shape[1]
    rho = float(len(A))
    factor = np.linalg.inv(A.T @ A + rho * np.eye(n_columns))
    z, u = np.zeros(n_columns), np.zeros(n_columns)
    for _ in range(n_iterations):
        s = factor @ (A.T @ target + rho * (z - u))
        old = z
        z = np.sign(s + u) * np.maximum(np.abs(s + u) - penalty / rho, 0)
        u = u + s - z
        if np.abs(s - z).max() < tolerance and np.abs(z - old).max() < tolerance:
            break
    return z


def collaboration(signs):
    n_labels = signs.shape[1]
    S = np.zeros((n_labels, n_labels))
    for j in range(n_labels):
        others = [i for i in range(n_labels) if i != j]
        if not others:
            continue
        penalty = max(abs(signs[:, i] @ signs[:, j]) for i in others) / 100
        S[others, j] = admm_lasso(signs[:, others], signs[:, j], penalty)
    return S


def kernel(A, B, bandwidth):
    return np.array([[np.exp(-((a - b) ** 2).sum() / (2 * bandwidth**2)) for b in B] for a in A])


def mean_distance(X):
    n = len(X)
    return sum(np.linalg.norm(a - b) for a in X for b in X) / (n * (n - 1))


def regression(K, Z, ridge):
    """Dual coefficients A and intercept b of kernel ridge regression of Z."""
    n = len(K)
    H = np.linalg.inv(K / ridge + np.eye(n))
    one = np.ones(n)
    b = (one @ H @ Z) / (one @ H @ one)
    return H @ (Z - b), b


def objective(K, Y, G, Z, A, b, fidelity, ridge):
    fit = K @ A / ridge + b
    norm = np.trace(A.T @ K @ A) / ridge**2
    return ((Z - fit) ** 2).sum() / 2 + fidelity / 2 * ((Z @ G - Y) ** 2).sum() + ridge / 2 * norm


def alternation(K, Y, G, fidelity, ridge, n_iterations):
    """Z, and the objective after each half step."""
    Z = Y.copy()
    course = []
    inverse = np.linalg.inv(np.eye(len(G)) + fidelity * G @ G.T)
    for _ in range(n_iterations):
        A, b = regression(K, Z, ridge)
        course.append(objective(K, Y, G, Z, A, b, fidelity, ridge))
        Z = ((Z - A) + fidelity * Y @ G.T) @ inverse
        course.append(objective(K, Y, G, Z, A, b, fidelity, ridge))
    return Z, course


def fixed_point(K, Y, G, fidelity, ridge):
    n = len(K)
    H = np.linalg.inv(K / ridge + np.eye(n))
    one = np.ones(n)
    Q = H - np.outer(H @ one, one @ H) / (one @ H @ one)
    return solve_sylvester(Q, fidelity * G @ G.T, fidelity * Y @ G.T)


def scores(X, Y01, X_new, alpha, ridge, fidelity, S=None):
    Y = 2.0 * Y01 - 1
    bandwidth = mean_distance(X)
    K = kernel(X, X, bandwidth)
    S = collaboration(Y) if S is None else S
    G = (1 - alpha) * np.eye(Y.shape[1]) + alpha * S
    A, b = regression(K, fixed_point(K, Y, G, fidelity, ridge), ridge)
    return (kernel(X_new, X, bandwidth) @ A / ridge + b) @ G
