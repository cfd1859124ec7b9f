"""Made-up data of the size and skew of a catalogued dataset, for tests of scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.datasets.catalogue import find_spec
from protolabel.datasets.catalogue.spec import DatasetSpec
from protolabel.datasets.dataset import MultiLabelDataset, Provenance
from protolabel.datasets.names import NumberedNames
from protolabel.exceptions import DatasetError

_DENSE_FROM = 0.5
_HIGHEST_FREQUENCY = 0.9
_STEEPEST = 20.0
_ROWS_PER_BLOCK = 4096
# share of a row's features that come from its labels, the rest from the background
_SIGNAL = 0.5
_FEATURES_PER_LABEL = 30


def make_multilabel_like(
    name: str, n_samples: int | None = None, random_state: int = 0
) -> MultiLabelDataset:
    """Make a synthetic dataset with the shape of a catalogued one.

    It has the same number of features and labels, and on average the same cardinality,
    feature density and label imbalance. Label frequencies follow a power law whose exponent
    gives the declared mean imbalance ratio. Features depend on the labels, so a classifier
    can learn; nothing else is taken from the real dataset, and results on it say nothing about
    the real one.

    Parameters
    ----------
    name : str
        Name in the catalogue.
    n_samples : int, default=None
        Number of rows; None takes that of the real dataset.
    random_state : int, default=0
        Seed; the same seed gives the same data.

    Returns
    -------
    MultiLabelDataset
        Named ``synthetic-<name>``, with ``provenance.is_synthetic`` set. Sparse where the real
        dataset is.

    Examples
    --------
    >>> from protolabel.datasets import make_multilabel_like
    >>> make_multilabel_like("arts", n_samples=50)
    <synthetic MultiLabelDataset 'synthetic-arts': 50 samples, 462 sparse features, 26 labels>
    """
    spec = find_spec(name)
    n_rows = spec.n_samples if n_samples is None else n_samples
    if n_rows < 1:
        raise DatasetError(f"n_samples is {n_samples}; expected at least 1")
    rng = np.random.default_rng(random_state)
    frequencies = label_frequencies(spec)
    Y = _draw_labels(frequencies, n_rows, rng)
    if spec.feature_density >= _DENSE_FROM:
        X = _draw_dense_features(Y, spec.n_features, rng)
    else:
        X = _draw_sparse_features(Y, spec, rng)
    return MultiLabelDataset(
        name=f"synthetic-{spec.name}",
        X=X,
        Y=Y,
        feature_names=NumberedNames("x", spec.n_features),
        label_names=NumberedNames("label", spec.n_labels),
        provenance=Provenance(
            source=f"make_multilabel_like({spec.name!r}, {n_rows}, random_state={random_state})",
            notes=(f"synthetic: made to the measures of {spec.name}, holds none of its rows",),
            is_synthetic=True,
        ),
    )


def label_frequencies(spec: DatasetSpec) -> NDArray[np.float64]:
    """Return how often each label occurs, most frequent first.

    Parameters
    ----------
    spec : DatasetSpec
        Declares number of labels, cardinality and mean imbalance ratio.

    Returns
    -------
    ndarray of shape (n_labels,)
        Probabilities proportional to ``rank ** -exponent``, summing to the cardinality, none
        above 0.9.

    Examples
    --------
    >>> from protolabel.datasets import find_spec
    >>> from protolabel.datasets.synthetic import label_frequencies
    >>> round(float(label_frequencies(find_spec("bibtex")).sum()), 3)
    2.402
    """
    ranks = np.arange(1, spec.n_labels + 1, dtype=np.float64)
    low, high = 0.0, _STEEPEST
    for _ in range(40):
        middle = (low + high) / 2
        frequencies = _scale_to(ranks**-middle, spec.cardinality)
        if (frequencies[0] / frequencies).mean() < spec.mean_imbalance_ratio:
            low = middle
        else:
            high = middle
    return _scale_to(ranks**-low, spec.cardinality)


def _scale_to(weights: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """Scale decreasing weights, capped, so that they sum to a total."""
    low, high = 0.0, weights.size / float(weights.min())
    for _ in range(80):
        scale = (low + high) / 2
        if np.minimum(scale * weights, _HIGHEST_FREQUENCY).sum() < total:
            low = scale
        else:
            high = scale
    scaled: NDArray[np.float64] = np.minimum(high * weights, _HIGHEST_FREQUENCY)
    return scaled


def _draw_labels(frequencies: NDArray[Any], n_rows: int, rng: np.random.Generator) -> Any:
    """Give every label its exact share of rows, rounded at random, in random places."""
    counts = np.floor(frequencies * n_rows + rng.random(frequencies.size)).astype(np.int64)
    # a label of a real dataset occurs at least once
    counts = np.clip(counts, 1, n_rows)
    columns = np.repeat(np.arange(frequencies.size), counts)
    rows = np.concatenate([rng.choice(n_rows, size=count, replace=False) for count in counts])
    rows = _spread(rows, n_rows, rng)
    Y = sparse.csr_matrix(
        (np.ones(rows.size, dtype=np.int32), (rows, columns)), shape=(n_rows, frequencies.size)
    )
    Y.sort_indices()
    return Y


def _spread(rows: NDArray[Any], n_rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """Move labels from rows with several to rows without any, as far as there are enough."""
    order = rng.permutation(rows.size)
    _, first = np.unique(rows[order], return_index=True)
    is_spare = np.ones(rows.size, dtype=bool)
    is_spare[order[first]] = False
    empty = np.setdiff1d(np.arange(n_rows), rows)
    spare = rng.permutation(np.flatnonzero(is_spare))[: empty.size]
    spread = rows.copy()
    spread[spare] = empty[: spare.size]
    return spread


def _draw_dense_features(Y: Any, n_features: int, rng: np.random.Generator) -> NDArray[Any]:
    """Add a random direction for each label to noise."""
    directions = rng.normal(size=(Y.shape[1], n_features)) / np.sqrt(max(n_features, 1))
    noise: NDArray[Any] = rng.normal(scale=0.1, size=(Y.shape[0], n_features))
    return np.asarray(noise + Y @ directions)


def _draw_sparse_features(Y: Any, spec: DatasetSpec, rng: np.random.Generator) -> Any:
    """Draw words, half from the labels of the row and half from a skewed background."""
    n_rows, n_features = Y.shape[0], spec.n_features
    topics = rng.integers(n_features, size=(spec.n_labels, _FEATURES_PER_LABEL))
    background = np.cumsum(1.0 / np.arange(3, n_features + 3))
    background /= background[-1]
    wanted = spec.feature_density * n_features
    blocks = [
        _draw_block(Y[start : start + _ROWS_PER_BLOCK], topics, background, wanted, rng)
        for start in range(0, n_rows, _ROWS_PER_BLOCK)
    ]
    X = sparse.csr_matrix(sparse.vstack(blocks))
    X.sort_indices()
    return X


def _draw_block(
    Y: Any, topics: NDArray[Any], background: NDArray[Any], wanted: float, rng: np.random.Generator
) -> Any:
    """Draw the features of some rows: too many words first, then a cut to the wanted number."""
    n_rows, n_features = Y.shape[0], background.size
    targets = np.clip(rng.poisson(wanted, size=n_rows), 1, n_features)
    labels_per_row = np.diff(Y.indptr)
    filled = sparse.csr_matrix((n_rows, n_features), dtype=bool)
    for _ in range(20):
        lacking = np.maximum(targets - np.diff(filled.indptr), 0)
        if not lacking.any():
            break
        rows = np.repeat(np.arange(n_rows), 2 * lacking)
        words = np.searchsorted(background, rng.random(rows.size), side="right")
        from_label = (rng.random(rows.size) < _SIGNAL) & (labels_per_row[rows] > 0)
        chosen = rows[from_label]
        place = Y.indptr[chosen] + rng.integers(labels_per_row[chosen])
        topic_words = rng.integers(topics.shape[1], size=chosen.size)
        words[from_label] = topics[Y.indices[place], topic_words]
        drawn = sparse.csr_matrix((np.ones(rows.size, dtype=bool), (rows, words)), filled.shape)
        filled = (filled + drawn).astype(bool)
        filled.sum_duplicates()
    rows = np.repeat(np.arange(n_rows), np.diff(filled.indptr))
    # the order within a row is random, and the first `targets` of each row stay
    order = np.lexsort((rng.random(rows.size), rows))
    rank = np.arange(rows.size) - np.repeat(filled.indptr[:-1], np.diff(filled.indptr))
    keep = rank < targets[rows]
    return sparse.csr_matrix(
        (np.ones(int(keep.sum())), (rows[keep], filled.indices[order][keep])),
        shape=(n_rows, n_features),
    )
