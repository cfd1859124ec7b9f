"""The equations of the paper as plain loops, for comparison with the batched code."""

import math

import numpy as np


def distance(e, p, U):
    """Eq. 10."""
    total = 0.0
    for row in U:
        projected = 0.0
        for weight, a, b in zip(row, e, p, strict=True):
            projected += weight * (a - b)
        total += projected**2
    return math.sqrt(total)


def component_mean(embeddings, members):
    """Eq. 6 for one component."""
    total = np.zeros(embeddings.shape[1])
    count = 0
    for e, is_member in zip(embeddings, members, strict=True):
        if is_member:
            total += e
            count += 1
    return total / count


def printed_threshold(sigma, rho, alpha, dim):
    """Eq. 7 as printed."""
    return -2 * sigma * math.log(alpha / (1 + rho / sigma) ** (dim / 2))


def grow(embeddings, members, start, threshold, cap):
    """Rows that one component adds when it reads its members in order (step 3 of the paper)."""
    prototypes = [start]
    created = []
    for i, e in enumerate(embeddings):
        if not members[i]:
            continue
        nearest = min(sum((a - b) ** 2 for a, b in zip(e, p, strict=True)) for p in prototypes)
        if nearest > threshold and len(prototypes) < cap:
            prototypes.append(e)
            created.append(i)
    return created


def effective_rule(embeddings, labels, alpha):
    """Variance and threshold in the dimensions that the embeddings occupy, by loops."""
    dim = embeddings.shape[1]
    means, squares = [], []
    for k in range(labels.shape[1]):
        for side in (0, 1):
            members = labels[:, k] == side
            mean = component_mean(embeddings, members)
            means.append(mean)
            squares += [((e - mean) ** 2).sum() for e in embeddings[members]]
    means = np.array(means)
    rho = np.mean([means[:, j].var(ddof=1) for j in range(dim)])
    covariance = np.cov(embeddings.T)
    occupied = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    sigma = np.mean(squares) / occupied
    return sigma, printed_threshold(sigma, rho * dim / occupied, alpha, occupied)


def responsibilities(e, prototypes, temperature):
    """Soft assignment of one row over the prototypes of its component."""
    weights = [
        math.exp(-sum((a - b) ** 2 for a, b in zip(e, p, strict=True)) / temperature)
        for p in prototypes
    ]
    return [w / sum(weights) for w in weights]


def cluster_component(embeddings, members, threshold, temperature, cap, min_mass=1e-3):
    """One growth pass and one re-estimation of one component: prototypes and masses."""
    start = component_mean(embeddings, members)
    rows = grow(embeddings, members, start, threshold, cap)
    prototypes = [start] + [embeddings[i] for i in rows]
    sums = np.zeros((len(prototypes), embeddings.shape[1]))
    masses = np.zeros(len(prototypes))
    for i, e in enumerate(embeddings):
        if members[i]:
            for c, z in enumerate(responsibilities(e, prototypes, temperature)):
                sums[c] += z * e
                masses[c] += z
    kept = [c for c in range(len(masses)) if masses[c] > min_mass] or [int(masses.argmax())]
    return np.array([sums[c] / masses[c] for c in kept]), masses[kept]


def probability(e, positives, negatives, U):
    """Eq. 8 as printed, for one row and one label."""
    positive = sum(math.exp(-distance(e, p, U)) for p in positives) / len(positives)
    negative = sum(math.exp(-distance(e, p, U)) for p in negatives) / len(negatives)
    return positive / (positive + negative)


def cross_entropy(probabilities, labels):
    """Eq. 9."""
    total = 0.0
    for p_row, y_row in zip(probabilities, labels, strict=True):
        for p, y in zip(p_row, y_row, strict=True):
            total -= y * math.log(p) + (1 - y) * math.log(1 - p)
    return total


def metric_penalty(metrics):
    """Eq. 11."""
    return sum(float(value) ** 2 for U in metrics for row in U for value in row)


def correlation_penalty(means, correlations):
    """Eq. 12."""
    total = 0.0
    for j, mean_j in enumerate(means):
        for k, mean_k in enumerate(means):
            inner = sum(a * b for a, b in zip(mean_j, mean_k, strict=True))
            total += 0.5 * (1 - correlations[j, k]) * inner
    return total


def pearson(labels):
    """Correlation of label columns, 0 where undefined and 1 on the diagonal."""
    n_labels = labels.shape[1]
    result = np.eye(n_labels)
    for j in range(n_labels):
        for k in range(n_labels):
            a, b = labels[:, j] - labels[:, j].mean(), labels[:, k] - labels[:, k].mean()
            norm = math.sqrt((a**2).sum() * (b**2).sum())
            if j != k and norm > 1e-9:
                result[j, k] = (a * b).sum() / norm
    return result
