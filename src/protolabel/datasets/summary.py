"""The statistics by which multi-label datasets are compared."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class DatasetSummary:
    """Statistics of one dataset.

    Parameters
    ----------
    name : str
        Name of the dataset.
    n_samples, n_features, n_labels : int
        Sizes.
    cardinality : float
        Mean number of labels a row.
    density : float
        Cardinality divided by the number of labels.
    distinct_label_sets : int
        Number of different rows of Y.
    positives_min, positives_median, positives_max : float
        Positives per label.
    mean_imbalance_ratio : float
        Mean over the labels with positives of (most frequent label's count / own count),
        the MeanIR of Charte et al., Neurocomputing 163, 2015.
    rows_without_labels : int
        Rows of Y that are all zero.
    rows_without_features : int
        Rows of X that are all zero.
    labels_without_positives : int
        Columns of Y that are all zero.
    feature_density : float
        Share of the cells of X that are not zero.
    missing_values : int
        Cells of X that are NaN.
    """

    name: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    distinct_label_sets: int
    positives_min: int
    positives_median: float
    positives_max: int
    mean_imbalance_ratio: float
    rows_without_labels: int
    rows_without_features: int
    labels_without_positives: int
    feature_density: float
    missing_values: int

    def as_dict(self) -> dict[str, Any]:
        """Return the statistics by name, ready for JSON."""
        return asdict(self)


def summarise(name: str, X: Any, Y: Any) -> DatasetSummary:
    """Compute the statistics of a feature matrix and a label matrix.

    Parameters
    ----------
    name : str
        Name to put into the result.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features.
    Y : CSR matrix of shape (n_samples, n_labels)
        Labels, 0 and 1.

    Returns
    -------
    DatasetSummary
        The statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from protolabel.datasets.summary import summarise
    >>> summarise("toy", np.eye(2), sparse.csr_matrix([[1, 1], [1, 0]])).mean_imbalance_ratio
    1.5
    """
    n_samples, n_features = X.shape
    n_labels = Y.shape[1]
    rows, labels = Y.nonzero()
    positives = np.bincount(labels, minlength=n_labels)
    labels_per_row = np.bincount(rows, minlength=n_samples)
    present = positives[positives > 0]
    cardinality = float(labels.size / n_samples) if n_samples else 0.0
    if sparse.issparse(X):
        filled_per_row = np.bincount(X.nonzero()[0], minlength=n_samples)
        n_missing = int(np.isnan(X.data).sum())
    else:
        filled_per_row = np.count_nonzero(X, axis=1)
        n_missing = int(np.isnan(X).sum())
    n_cells = n_samples * n_features
    return DatasetSummary(
        name=name,
        n_samples=int(n_samples),
        n_features=int(n_features),
        n_labels=int(n_labels),
        cardinality=cardinality,
        density=cardinality / n_labels if n_labels else 0.0,
        distinct_label_sets=_count_label_sets(rows, labels, n_samples),
        positives_min=int(positives.min()) if n_labels else 0,
        positives_median=float(np.median(positives)) if n_labels else 0.0,
        positives_max=int(positives.max()) if n_labels else 0,
        mean_imbalance_ratio=float((present.max() / present).mean()) if present.size else 0.0,
        rows_without_labels=int((labels_per_row == 0).sum()),
        rows_without_features=int((filled_per_row == 0).sum()),
        labels_without_positives=int((positives == 0).sum()),
        feature_density=float(filled_per_row.sum() / n_cells) if n_cells else 0.0,
        missing_values=n_missing,
    )


def _count_label_sets(rows: Any, labels: Any, n_samples: int) -> int:
    """Count the different rows of Y from its non-zero coordinates."""
    order = np.lexsort((labels, rows))
    ends = np.cumsum(np.bincount(rows, minlength=n_samples))
    sorted_labels = labels[order].astype(np.int64)
    starts = np.concatenate(([0], ends[:-1])) if n_samples else ends
    return len(
        {
            sorted_labels[start:end].tobytes()
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        }
    )
