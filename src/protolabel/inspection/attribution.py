"""Pulls of features on the log-odds of a fitted model: integrated gradients and jumps.

The pulls of all features add up to the log-odds of the row minus those of the baseline, without
what the sets of labels add to either. For the networks and the kernel regression they are
integrals of the exact gradient along the straight line from the baseline to the row (Sundararajan,
Taly, Yan: Axiomatic Attribution for Deep Networks, ICML 2017), in scaled features; a forest has
jumps in place of a gradient.
"""

from __future__ import annotations

import numpy as np

from protolabel.companions.forest import Forest
from protolabel.companions.kernel_ridge import KernelRidge
from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.fitted_model import FittedModel
from protolabel.inspection.forest_jumps import forest_pulls
from protolabel.inspection.gradients import kernel_gradients, network_gradients
from protolabel.inspection.prototype_jumps import prototype_forest_pulls
from protolabel.inspection.straight_path import StraightPath


def feature_pulls(
    model: FittedModel, path: StraightPath, labels: np.ndarray, *, n_steps: int = 64
) -> np.ndarray:
    """What each feature adds to the log-odds on the way from the baseline to the row.

    Parameters
    ----------
    model : FittedModel
    path : StraightPath
        From the scaled baseline to the scaled row.
    labels : ndarray of int, shape (n_wanted,)
        Positions of labels.
    n_steps : int, default=64
        Points of the numerical integration.

    Returns
    -------
    ndarray of shape (n_wanted, n_features)
    """
    pulls = np.zeros((len(labels), len(path.start)))
    columns = path.columns
    if len(columns) == 0:
        return pulls
    points = path.points(n_steps)
    way = (path.end - path.start)[columns]
    weights = learner_weights(model, labels)
    mean = network_gradients(model.network, points, columns, labels).mean(axis=1)
    pulls[:, columns] = weights[0][:, None] * mean * way
    for companion, weight in zip(model.companions, weights[1:], strict=True):
        # Companions need not know a label in which they have no say.
        heard = np.flatnonzero(weight)
        if isinstance(companion, Forest):
            found = forest_pulls(companion, path.start, path.end, labels[heard])
            pulls[heard] += weight[heard, None] * found
        elif isinstance(companion, PrototypeForest):
            found = prototype_forest_pulls(companion, path.start, path.end, labels[heard])
            pulls[heard] += weight[heard, None] * found
        else:
            found = kernel_pulls(companion, path, labels[heard], n_steps)
            pulls[np.ix_(heard, columns)] += weight[heard, None] * found
    return pulls


def kernel_pulls(
    model: KernelRidge, path: StraightPath, labels: np.ndarray, n_steps: int
) -> np.ndarray:
    """Pulls of the columns that differ on a kernel regression, (n_wanted, n_columns).

    Its log-odds bend sharply beside a landmark. So what the gradient in the middle of a step misses
    of the change along it is shared out among the columns, by how much each pulls there.
    """
    columns = path.columns
    step = (path.end - path.start)[columns] / n_steps
    gradients = kernel_gradients(model, path.points(n_steps), columns, labels, steps=step)
    pulls = gradients * step  # (n_wanted, n_steps, n_columns)
    changes = np.diff(model.scores(path.ends(n_steps))[:, labels], axis=0).T
    sizes = np.abs(pulls)
    total = sizes.sum(axis=2)
    missed = (changes - pulls.sum(axis=2)) / np.where(total > 0, total, 1.0)
    return np.asarray((pulls + missed[:, :, None] * sizes).sum(axis=1))


def smooth_gradient(model: FittedModel, row: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Gradient of the log-odds at a scaled row, of all learners that have one.

    Parameters
    ----------
    model : FittedModel
    row : ndarray of shape (n_features,)
    labels : ndarray of int, shape (n_wanted,)

    Returns
    -------
    ndarray of shape (n_wanted, n_features)
        A forest is flat almost everywhere: it adds nothing.
    """
    points, columns = row[None], np.arange(len(row))
    weights = learner_weights(model, labels)
    gradient = weights[0][:, None] * network_gradients(model.network, points, columns, labels)[:, 0]
    for companion, weight in zip(model.companions, weights[1:], strict=True):
        heard = np.flatnonzero(weight)
        if isinstance(companion, KernelRidge):
            found = kernel_gradients(companion, points, columns, labels[heard])[:, 0]
            gradient[heard] += weight[heard, None] * found
    return np.asarray(gradient)


def learner_weights(model: FittedModel, labels: np.ndarray) -> np.ndarray:
    """Factor of the score of each learner in the log-odds, (n_learners, n_wanted)."""
    if model.fusion is None:
        return np.ones((1, len(labels)))
    weights = np.repeat(np.asarray(model.fusion.slopes)[:, None], len(labels), axis=1)
    # A label that was never or always there keeps the score of the networks.
    constant = ~np.asarray(model.fusion.learned)[labels]
    weights[0, constant], weights[1:, constant] = 1.0, 0.0
    return weights
