"""Prototypes of a model fitted to all rows of a dataset, kept in one file to draw from."""

from __future__ import annotations

import io
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.datasets.writers.atomic import replace_when_done
from protolabel.experiments.configuration import build_estimator, describe_estimator
from protolabel.experiments.data import dataset_of
from protolabel.experiments.record import installed_versions
from protolabel.experiments.resources import one_thread, warm_up
from protolabel.experiments.unit import Arm, digest
from protolabel.preprocessing.features import FeatureScaler

FORMAT = 1


@dataclass(frozen=True)
class FittedPrototypes:
    """What is kept of a fit.

    Parameters
    ----------
    dataset : str
        Name.
    arm : Arm
        The method.
    seed : int
        Its seed.
    label_names : tuple of str
        Names of the labels.
    configuration : dict
        Class and parameters of the estimator.
    versions : dict
        Python and packages.
    seconds : float
        Time of the fit.
    positions : ndarray of shape (n_prototypes, dim)
        All prototypes, rounded to half precision.
    groups : ndarray of shape (n_prototypes,)
        The paper's number of each: 2 k for the positive component of label k, 2 k + 1 for its
        negative one.
    label_correlation : ndarray of shape (n_labels, n_labels)
        Correlation of the label columns; 0 where a label is constant.
    input_similarity : ndarray of shape (n_labels, n_labels)
        Similarity of the mean positive rows in the scaled input, see :func:`centred_cosine`.
    n_positives : ndarray of shape (n_labels,)
        Rows of each label.
    """

    dataset: str
    arm: Arm
    seed: int
    label_names: tuple[str, ...]
    configuration: dict[str, Any]
    versions: dict[str, str]
    seconds: float
    positions: NDArray[np.float64]
    groups: NDArray[np.int64]
    label_correlation: NDArray[np.float64]
    input_similarity: NDArray[np.float64]
    n_positives: NDArray[np.int64]

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.label_names)

    def means(self, *, positive: bool) -> NDArray[np.float64]:
        """Mean prototype of one side of each label, (n_labels, dim); NaN where there is none."""
        found = np.full((self.n_labels, self.positions.shape[1]), np.nan)
        for label in range(self.n_labels):
            chosen = self.groups == 2 * label + (not positive)
            if chosen.any():
                found[label] = self.positions[chosen].mean(axis=0)
        return found

    def save(self, path: Path) -> None:
        """Write one file without any code in it."""
        scale = float(np.abs(self.positions).max(initial=0.0)) or 1.0
        description = {
            "format": FORMAT,
            "dataset": self.dataset,
            "arm": self.arm.to_json(),
            "seed": self.seed,
            "label_names": list(self.label_names),
            "configuration": self.configuration,
            "versions": self.versions,
            "seconds": self.seconds,
            "scale": scale,
        }
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            description=np.frombuffer(json.dumps(description).encode(), dtype=np.uint8),
            # Two bytes a coordinate are plenty for a drawing and halve the file.
            positions=(self.positions / scale).astype(np.float16),
            groups=self.groups.astype(np.int32),
            label_correlation=self.label_correlation.astype(np.float32),
            input_similarity=self.input_similarity.astype(np.float32),
            n_positives=self.n_positives.astype(np.int32),
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_when_done(path) as partial:
            partial.write_bytes(buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read such a file."""
        with np.load(path, allow_pickle=False) as arrays:
            description: dict[str, Any] = json.loads(arrays["description"].tobytes())
            if description["format"] != FORMAT:
                raise ValueError(
                    f"{path} has format {description['format']}, expected {FORMAT}. It was "
                    "written by another version; delete it to fit the model anew."
                )
            return cls(
                dataset=description["dataset"],
                arm=Arm.from_json(description["arm"]),
                seed=description["seed"],
                label_names=tuple(description["label_names"]),
                configuration=description["configuration"],
                versions=description["versions"],
                seconds=description["seconds"],
                positions=arrays["positions"].astype(np.float64) * description["scale"],
                groups=arrays["groups"].astype(np.int64),
                label_correlation=arrays["label_correlation"].astype(np.float64),
                input_similarity=arrays["input_similarity"].astype(np.float64),
                n_positives=arrays["n_positives"].astype(np.int64),
            )


def fitted_path(run: Path, dataset: str, arm: Arm, seed: int) -> Path:
    """Where the prototypes of a fit are kept."""
    key = digest({"dataset": dataset, "arm": arm.to_json(), "seed": seed})
    return run / f"prototypes-{key}.npz"


def fit_prototypes(dataset: str, arm: Arm, seed: int) -> FittedPrototypes:
    """Fit a method to all rows of a dataset and keep its prototypes.

    Parameters
    ----------
    dataset : str
        Name, see :func:`protolabel.experiments.data.dataset_of`.
    arm : Arm
        A form of PNML with one embedding for all labels.
    seed : int
        Seed of the method.

    Returns
    -------
    FittedPrototypes
        Those of the first network where the method has several.
    """
    estimator = build_estimator(arm, seed)
    if not getattr(estimator, "shared_embedding", False):
        raise ValueError(
            f"{arm.method} has no embedding that its labels share, so its prototypes cannot be "
            "compared; use pnml-single or pnml-multiple."
        )
    data = dataset_of(dataset)
    warm_up()
    start = time.perf_counter()
    with one_thread():
        estimator.fit(data.X, data.Y)
    seconds = time.perf_counter() - start
    positions, groups = [], []
    found = [prototypes for prototypes in estimator.prototypes_ if prototypes.member == 0]
    for label, prototypes in enumerate(found):
        for side, points in enumerate((prototypes.positive, prototypes.negative)):
            positions.append(points)
            groups += [2 * label + side] * len(points)
    scaled = FeatureScaler("auto").fit(data.X).transform(data.X)
    return FittedPrototypes(
        dataset=dataset,
        arm=arm,
        seed=seed,
        label_names=tuple(str(name) for name in data.label_names),
        configuration=describe_estimator(estimator),
        versions=installed_versions(),
        seconds=seconds,
        positions=np.concatenate(positions).astype(np.float64),
        groups=np.array(groups, dtype=np.int64),
        label_correlation=column_correlation(data.Y),
        input_similarity=centred_cosine(_positive_means(scaled, data.Y)),
        n_positives=np.asarray(data.Y.sum(axis=0)).ravel().astype(np.int64),
    )


def column_correlation(Y: sparse.spmatrix) -> NDArray[np.float64]:
    """Pearson correlation of the columns of a 0/1 matrix; 1 on the diagonal, 0 if undefined.

    Examples
    --------
    >>> column_correlation(sparse.csr_matrix([[1, 0, 1], [0, 1, 1]])).round(3)
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  1.]])
    """
    counts = sparse.csr_matrix(Y).astype(np.float64)
    shares = np.asarray(counts.mean(axis=0)).ravel()
    covariance = np.asarray((counts.T @ counts).todense()) / counts.shape[0]
    covariance -= np.outer(shares, shares)
    deviation = np.sqrt(shares * (1 - shares))
    scale = np.outer(deviation, deviation)
    found: NDArray[np.float64] = np.divide(
        covariance, scale, out=np.zeros_like(covariance), where=scale > 0
    )
    np.fill_diagonal(found, 1.0)
    return found


def centred_cosine(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of points after their mean is taken away; 0 for rows that are not finite or zero.

    Without the mean, which all labels share, every pair would look alike.

    Examples
    --------
    >>> centred_cosine(np.array([[3.0, 1.0], [1.0, 1.0]])).round(3)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    known = np.isfinite(points).all(axis=1)
    centred = np.zeros_like(points)
    if known.any():
        centred[known] = points[known] - points[known].mean(axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)
    return np.asarray(unit @ unit.T)


def _positive_means(X: Any, Y: sparse.spmatrix) -> NDArray[np.float64]:
    """Mean row of each label, NaN for a label without rows."""
    sums = Y.T @ X
    dense = np.asarray(sums.todense() if sparse.issparse(sums) else sums, dtype=np.float64)
    counts = np.asarray(Y.sum(axis=0)).ravel().astype(np.float64)[:, None]
    return np.divide(dense, counts, out=np.full_like(dense, np.nan), where=counts > 0)
