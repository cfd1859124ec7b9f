"""Small datasets to write and read, and how they are compared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from protolabel.datasets import MultiLabelDataset


@pytest.fixture(scope="session")
def assert_same() -> Callable[[MultiLabelDataset, MultiLabelDataset], None]:
    """Return a check that two datasets have the same values, storage and names."""

    def check(left: MultiLabelDataset, right: MultiLabelDataset) -> None:
        assert sparse.issparse(left.X) == sparse.issparse(right.X)
        pairs = [(left.X, right.X), (left.Y, right.Y)]
        for mine, theirs in pairs:
            assert mine.shape == theirs.shape
            if not sparse.issparse(mine):
                np.testing.assert_array_equal(mine, theirs)
                continue
            for part in ("indptr", "indices", "data"):
                np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))
        assert list(left.feature_names) == list(right.feature_names)
        assert list(left.label_names) == list(right.label_names)

    return check


@pytest.fixture
def toy() -> MultiLabelDataset:
    """Return a dense dataset of four rows, one of them without a label."""
    return MultiLabelDataset(
        name="toy",
        X=np.array([[0.0, 1.5], [-2.0, 0.25], [0.0, 0.0], [1e-9, 3e7]]),
        Y=sparse.csr_matrix(np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]], dtype=np.int32)),
        feature_names=("width", "height"),
        label_names=("red", "green", "blue"),
    )


@pytest.fixture
def sparse_toy(toy: MultiLabelDataset) -> MultiLabelDataset:
    """Return the same values with sparse features."""
    return MultiLabelDataset(
        name="toy",
        X=sparse.csr_matrix(toy.X),
        Y=toy.Y,
        feature_names=toy.feature_names,
        label_names=toy.label_names,
    )
