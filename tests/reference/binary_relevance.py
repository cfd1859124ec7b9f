"""One network of binary relevance as plain loops, for comparison with the batched code."""

import math


def logit(x, A, a, u, v):
    """Output of one hidden layer with ReLU for one row."""
    total = v
    for m in range(len(u)):
        z = a[m] + sum(x[f] * A[f][m] for f in range(len(x)))
        total += max(z, 0.0) * u[m]
    return total


def loss(X, y, A, a, u, v):
    """Cross-entropy summed over rows."""
    total = 0.0
    for x, target in zip(X, y, strict=True):
        z = logit(x, A, a, u, v)
        p = 1 / (1 + math.exp(-z))
        total -= math.log(p) if target else math.log(1 - p)
    return total


def adam_step(theta, gradient, state, learning_rate, decay):
    """Change one number by Adam; ``state`` is (steps, mean, mean square) so far."""
    steps, mean, square = state
    gradient += decay * theta
    steps += 1
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient**2
    corrected = mean / (1 - 0.9**steps)
    root = math.sqrt(square / (1 - 0.999**steps))
    return theta - learning_rate * corrected / (root + 1e-8), (steps, mean, square)
