"""Write a dataset in the text format of the extreme-classification collections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.writers.atomic import write_text_bytes
from protolabel.datasets.writers.mulan import number_text
from protolabel.exceptions import DatasetError


def write_xmlc(dataset: MultiLabelDataset, path: str | Path) -> Path:
    """Write a dataset with a header line, so that ``read_xmlc`` gives the same values back.

    The format has no names: those of features and labels are lost.

    Parameters
    ----------
    dataset : MultiLabelDataset
        What to write; missing values cannot be.
    path : str or Path
        Where; a name ending in ``.gz`` compresses. An existing file is replaced once the new
        one is whole.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import load_dataset, read_xmlc, write_xmlc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_xmlc(write_xmlc(load_dataset("yeast"), Path(folder) / "copy.txt"))
    <MultiLabelDataset 'copy': 2417 samples, 103 sparse features, 14 labels>
    """
    path = Path(path)
    X = sparse.csr_matrix(dataset.X)
    Y = dataset.Y
    if not np.isfinite(X.data).all():
        raise DatasetError(
            f"dataset {dataset.name!r} has missing or infinite features, which this format "
            "cannot hold; impute them or write NPZ"
        )
    with write_text_bytes(path) as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode("ascii"))
        for row in range(X.shape[0]):
            labels = np.sort(Y.indices[Y.indptr[row] : Y.indptr[row + 1]]).tolist()
            part = slice(X.indptr[row], X.indptr[row + 1])
            features = " ".join(
                f"{column}:{number_text(value)}"
                for column, value in zip(
                    X.indices[part].tolist(), X.data[part].tolist(), strict=True
                )
                if value != 0
            )
            file.write(f"{','.join(map(str, labels))} {features}\n".encode("ascii"))
    return path
