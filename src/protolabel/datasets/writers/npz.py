"""Write a dataset as NPZ: CSR parts and names, no pickles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.names import NumberedNames
from protolabel.datasets.writers.atomic import replace_when_done


def write_npz(dataset: MultiLabelDataset, path: str | Path) -> Path:
    """Write a dataset so that ``read_npz`` gives the same one back.

    Parameters
    ----------
    dataset : MultiLabelDataset
        What to write.
    path : str or Path
        Where; an existing file is replaced once the new one is whole.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import load_dataset, write_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npz(load_dataset("yeast"), Path(folder) / "yeast.npz").name
    'yeast.npz'
    """
    path = Path(path)
    arrays: dict[str, NDArray[Any]] = {}
    if sparse.issparse(dataset.X):
        arrays |= _csr_parts("X", dataset.X)
    else:
        arrays["X"] = dataset.X
    arrays |= _csr_parts("Y", dataset.Y.astype(np.uint8))
    for part, names in (
        ("feature_names", dataset.feature_names),
        ("label_names", dataset.label_names),
    ):
        arrays[part] = _as_bytes(names.rule if isinstance(names, NumberedNames) else list(names))
    with replace_when_done(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return path


def _csr_parts(letter: str, matrix: Any) -> dict[str, NDArray[Any]]:
    """Name the arrays of a CSR matrix."""
    return {
        f"{letter}_data": matrix.data,
        f"{letter}_indices": matrix.indices,
        f"{letter}_indptr": matrix.indptr,
        f"{letter}_shape": np.array(matrix.shape, dtype=np.int64),
    }


def _as_bytes(names: list[str] | dict[str, Any]) -> NDArray[np.uint8]:
    """Return the names, or the rule that makes them, as the bytes of JSON."""
    return np.frombuffer(json.dumps(names).encode("ascii"), dtype=np.uint8)
