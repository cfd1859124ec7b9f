"""Datasets and folds of an experiment, kept while consecutive units share them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets import MultiLabelDataset, find_spec, load_dataset, make_multilabel_like
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

_SYNTHETIC = "synthetic-"
Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


def check_dataset(name: str) -> None:
    """Refuse a name that is not in the catalogue, without reading any data."""
    find_spec(_source_of(name)[0])


@lru_cache(maxsize=2)
def dataset_of(name: str) -> MultiLabelDataset:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        A name of the catalogue; or ``synthetic-<name>``, made-up data of its measures, with
        ``:<rows>`` for a smaller number of rows.

    Returns
    -------
    MultiLabelDataset
        The data.

    Examples
    --------
    >>> dataset_of("synthetic-emotions:50").n_samples
    50
    """
    source, n_samples = _source_of(name)
    if name.startswith(_SYNTHETIC):
        return make_multilabel_like(source, n_samples)
    return load_dataset(name)


@lru_cache(maxsize=4)
def folds_of(name: str, n_folds: int, seed: int) -> tuple[Fold, ...]:
    """Folds of a dataset; they depend on nothing else, so all methods share them."""
    dataset = dataset_of(name)
    splitter = MultilabelStratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return tuple(splitter.split(dataset.X, dataset.Y))


def _source_of(name: str) -> tuple[str, int | None]:
    """Name in the catalogue and number of rows."""
    if not name.startswith(_SYNTHETIC):
        return name, None
    source, colon, rows = name.removeprefix(_SYNTHETIC).partition(":")
    if colon and not (rows.isdecimal() and int(rows) > 0):
        raise ValueError(f"{name!r} does not end in a number of rows, as synthetic-yeast:200 does.")
    return source, int(rows) if colon else None
