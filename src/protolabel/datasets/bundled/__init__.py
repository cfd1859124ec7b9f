"""The one dataset that comes with the package: yeast."""

from __future__ import annotations

from importlib import resources

import numpy as np
from scipy import sparse

from protolabel.datasets.dataset import MultiLabelDataset, Provenance

BUNDLED_NAMES = ("yeast",)
# The source has six decimals; as integers they are stored without loss in a third of the space.
_UNITS = 1_000_000


def load_bundled(name: str) -> MultiLabelDataset:
    """Return a dataset from inside the package.

    Parameters
    ----------
    name : {"yeast"}
        Name of the dataset.

    Returns
    -------
    MultiLabelDataset
        Without split: the catalogue declares it.

    Examples
    --------
    >>> from protolabel.datasets.bundled import load_bundled
    >>> load_bundled("yeast")
    <MultiLabelDataset 'yeast': 2417 samples, 103 dense features, 14 labels>
    """
    if name not in BUNDLED_NAMES:
        raise ValueError(f"{name!r} is not bundled; bundled are {', '.join(BUNDLED_NAMES)}")
    file = resources.files("protolabel.datasets.bundled") / f"{name}.npz"
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as parts:
        millionths = parts["X_millionths"]
        labels = np.unpackbits(parts["Y_bits"], axis=1, count=int(parts["n_labels"]))
    return MultiLabelDataset(
        name=name,
        X=millionths / _UNITS,
        Y=sparse.csr_matrix(labels, dtype=np.int32),
        feature_names=tuple(f"Att{i}" for i in range(1, millionths.shape[1] + 1)),
        label_names=tuple(f"Class{i}" for i in range(1, labels.shape[1] + 1)),
        provenance=Provenance(source=f"bundled with protolabel ({name}.npz)"),
    )
