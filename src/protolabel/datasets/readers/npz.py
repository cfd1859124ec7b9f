"""NPZ: the parts of two CSR matrices, with name lists beside or inside the file."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from protolabel.datasets.dataset import MultiLabelDataset, Provenance
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import iter_lines
from protolabel.datasets.names import NumberedNames
from protolabel.datasets.readers.npy_array import read_array
from protolabel.exceptions import DatasetError

_PARTS = tuple(f"{m}_{p}" for m in "XY" for p in ("data", "indices", "indptr", "shape"))
_NAME_PARTS = ("feature_names", "label_names")


def read_npz(
    path: str | Path,
    *,
    name: str | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    """Read an NPZ file of CSR parts, without ever running code from it.

    The file holds X_data, X_indices, X_indptr, X_shape and the same for Y. A dense X may be
    stored as one array X instead. Names come from the arrays feature_names and label_names
    (the bytes of a JSON list), else from features.txt and labels.txt in the same folder,
    else they are numbered.

    Parameters
    ----------
    path : str or Path
        NPZ file.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        The dataset; values become float64.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import load_dataset, read_npz, write_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_npz(load_dataset("yeast"), Path(folder) / "copy.npz")
    ...     read_npz(path)
    <MultiLabelDataset 'copy': 2417 samples, 103 dense features, 14 labels>
    """
    path = Path(path)
    parts = _read_arrays(path, limits)
    X = _dense(path, parts["X"]) if "X" in parts else _matrix(path, "X", parts, limits)
    X = X.astype(np.float64, copy=False)
    Y = _matrix(path, "Y", parts, limits)
    Y.eliminate_zeros()
    return MultiLabelDataset(
        name=name or path.stem,
        X=X,
        Y=Y,
        feature_names=_names(path, "feature", parts, X.shape[1], limits),
        label_names=_names(path, "label", parts, Y.shape[1], limits),
        provenance=Provenance(source=str(path)),
    )


def _read_arrays(path: Path, limits: ReadLimits) -> dict[str, NDArray[Any]]:
    """Read the known members; what else the archive holds is left alone."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
            is_dense = "X" in members
            needed = [part for part in _PARTS if not (is_dense and part.startswith("X_"))]
            lacking = [part for part in needed if part not in members]
            if lacking:
                raise DatasetError(
                    f"{path} lacks the arrays {', '.join(lacking)}; expected {', '.join(_PARTS)}. "
                    "An archive of other files is unpacked by unpack_archive"
                )
            wanted = needed + [part for part in ("X", *_NAME_PARTS) if part in members]
            total = sum(members[part].file_size for part in wanted)
            budget = limits.content_budget(path.stat().st_size)
            if total > budget:
                raise DatasetError(
                    f"{path} unpacks to {total} bytes, more than {budget}, the limit for a file "
                    "of this size; raise ReadLimits.max_ratio or max_bytes if you trust it"
                )
            arrays: dict[str, NDArray[Any]] = {}
            for part in wanted:
                with archive.open(members[part]) as member:
                    arrays[part] = read_array(
                        f"{path}: array {part}", member, members[part].file_size
                    )
            return arrays
    except DatasetError:
        raise
    except (
        OSError,
        EOFError,
        ValueError,
        KeyError,
        NotImplementedError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise DatasetError(f"{path} is not a whole NPZ file ({error}); fetch it again") from error


def _dense(path: Path, array: NDArray[Any]) -> NDArray[Any]:
    """Check a dense feature matrix."""
    if array.ndim != 2 or np.isinf(array).any():
        raise DatasetError(f"{path}: X has to be a two-dimensional array of finite numbers")
    return np.ascontiguousarray(array, dtype=np.float64)


def _matrix(path: Path, letter: str, parts: dict[str, NDArray[Any]], limits: ReadLimits) -> Any:
    """Check the parts of a CSR matrix as if an enemy had written them."""
    data, indices, indptr, shape = (
        parts[f"{letter}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    if any(array.ndim != 1 for array in (data, indices, indptr, shape)) or shape.size != 2:
        raise DatasetError(f"{path}: {letter}_data, _indices, _indptr and _shape must be flat")
    if any(array.dtype.kind not in "iu" for array in (indices, indptr, shape)):
        raise DatasetError(f"{path}: {letter}_indices, _indptr and _shape must hold integers")
    n_rows, n_columns = (int(length) for length in shape)
    if n_rows != indptr.size - 1 or not 0 <= n_columns <= limits.max_columns:
        raise DatasetError(
            f"{path}: {letter}_shape says {n_rows} x {n_columns} but {letter}_indptr has room "
            f"for {indptr.size - 1} rows and at most {limits.max_columns} columns are accepted"
        )
    if data.size != indices.size or indptr[0] != 0 or indptr[-1] != data.size:
        raise DatasetError(
            f"{path}: {letter}_indptr ends at {indptr[-1]} but {letter}_data has {data.size} and "
            f"{letter}_indices {indices.size} entries"
        )
    if (np.diff(indptr.astype(np.int64)) < 0).any():
        raise DatasetError(f"{path}: {letter}_indptr decreases")
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < n_columns:
        raise DatasetError(f"{path}: {letter}_indices points outside {n_columns} columns")
    # Whole numbers would be made of others below.
    if letter == "Y" and not ((data == 0) | (data == 1)).all():
        raise DatasetError(f"{path}: Y_data holds values other than 0 and 1")
    if data.dtype.kind == "f" and np.isinf(data).any():
        raise DatasetError(f"{path}: {letter}_data holds infinite values")
    index_type = np.int32 if data.size < np.iinfo(np.int32).max else np.int64
    matrix = sparse.csr_matrix(
        (
            data.astype(np.float64 if letter == "X" else np.int32, copy=False),
            indices.astype(index_type, copy=False),
            indptr.astype(index_type, copy=False),
        ),
        shape=(n_rows, n_columns),
    )
    matrix.sort_indices()
    # equal neighbours are fine where the second one starts a row
    seconds = np.flatnonzero(matrix.indices[1:] == matrix.indices[:-1]) + 1
    repeated = seconds[~np.isin(seconds, matrix.indptr)]
    if repeated.size:
        row = int(np.searchsorted(matrix.indptr, repeated[0], side="right")) - 1
        raise DatasetError(f"{path}: row {row} of {letter} names a column twice")
    return matrix


def _names(
    path: Path, kind: str, parts: dict[str, NDArray[Any]], count: int, limits: ReadLimits
) -> Any:
    """Take the names from the archive, from the file beside it, or number the columns."""
    part = f"{kind}_names"
    if part in parts:
        source = f"{path} ({part})"
        try:
            names = json.loads(parts[part].astype(np.uint8).tobytes())
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{source} is not a list of names ({error})") from error
        if isinstance(names, dict) and set(names) == {"prefix", "start"}:
            prefix, start = names["prefix"], names["start"]
            if isinstance(prefix, str) and type(start) is int:
                return NumberedNames(prefix, count, start)
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise DatasetError(f"{source} is not a list of names")
    else:
        beside = path.with_name("features.txt" if kind == "feature" else "labels.txt")
        if not beside.is_file():
            return NumberedNames("x" if kind == "feature" else "label", count)
        source = str(beside)
        names = list(iter_lines(beside, limits=limits))
    if len(names) != count:
        raise DatasetError(f"{source} has {len(names)} names for {count} columns")
    return tuple(names)
