"""Files of features that are larger than memory, opened as sources of rows."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from protolabel.datasets.row_files import DenseFile, FileArray, RowFile, SparseFile, mapped_rows
from protolabel.datasets.row_source import RowSource

_LOCAL_HEADER_BYTES = 30


def open_rows(path: str | Path, *, columns: list[str] | None = None) -> RowSource:
    """Open a file of features without reading it into memory.

    Parameters
    ----------
    path : str or path
        ``.npy``: a matrix in C order. ``.npz``: a CSR matrix as ``scipy.sparse.save_npz`` writes
        it; a compressed one is unpacked into a temporary file. ``.parquet``: numeric columns,
        copied by row groups into a temporary file, because a row group is too much to read for
        one row; in single precision where that holds all of them.
    columns : list of str or None, default=None
        Parquet: the columns to use, in this order; None for all.

    Returns
    -------
    RowSource
        For ``fit`` and the predictions of :class:`protolabel.PNMLClassifier`. Its files must not
        change while it is in use; temporary ones vanish with it.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "features.npy"
    ...     np.save(path, np.eye(3))
    ...     open_rows(path).read_rows(np.array([2, 0])).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    path = Path(path)
    if columns is not None and path.suffix != ".parquet":
        raise ValueError(f"columns={columns[:3]} are chosen in Parquet files; {path} is none.")
    try:
        if path.suffix == ".npy":
            return _npy_rows(path)
        if path.suffix == ".npz":
            return _npz_rows(path)
        if path.suffix == ".parquet":
            return _parquet_rows(path, columns)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        if str(path) in str(error):
            raise
        raise ValueError(
            f"{path} is damaged or of another kind: {error}; write it again."
        ) from error
    raise ValueError(
        f"{path} cannot be read by rows; expected .npy, .npz (a CSR matrix) or .parquet."
    )


def _npy_rows(path: Path) -> DenseFile:
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{path} is no .npy file of numbers: {error}") from error
    source = mapped_rows(matrix) if matrix.size else None
    if matrix.ndim == 2 and not matrix.size:
        raise ValueError(
            f"{path} holds a matrix of shape {matrix.shape}; expected rows and columns."
        )
    if matrix.dtype.kind not in "fiu":
        raise ValueError(
            f"{path} holds values of type {matrix.dtype}; expected numbers, as X.astype(float)."
        )
    if not isinstance(source, DenseFile):
        raise ValueError(
            f"{path} holds {matrix.dtype} numbers of shape {matrix.shape}; expected a matrix of "
            "numbers in C order, as numpy.save(path, numpy.ascontiguousarray(X)) writes it."
        )
    return source


def _npz_rows(path: Path) -> SparseFile:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        expected = {"data.npy", "indices.npy", "indptr.npy", "shape.npy", "format.npy"}
        if not expected <= names:
            raise ValueError(
                f"{path} lacks {sorted(expected - names)}; expected a CSR matrix as "
                "scipy.sparse.save_npz writes it."
            )
        kind = _small_array(archive, "format.npy").item()
        if kind not in (b"csr", "csr"):
            raise ValueError(f"{path} holds a {kind!r} matrix; convert it with tocsr() first.")
        n_rows, n_features = (int(size) for size in _small_array(archive, "shape.npy"))
        return SparseFile(
            _npz_member(archive, path, "data.npy"),
            _npz_member(archive, path, "indices.npy"),
            _small_array(archive, "indptr.npy"),
            (n_rows, n_features),
        )


def _small_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _npz_member(archive: zipfile.ZipFile, path: Path, name: str) -> FileArray:
    """Numbers of a member where they lie, or in a temporary file where it is compressed."""
    entry = archive.getinfo(name)
    if entry.compress_type == zipfile.ZIP_STORED:
        with path.open("rb") as file:
            file.seek(entry.header_offset)
            header = file.read(_LOCAL_HEADER_BYTES)
            # The lengths of name and extra field; those of the central directory may differ.
            skipped = int.from_bytes(header[26:28], "little") + int.from_bytes(
                header[28:30], "little"
            )
            file.seek(entry.header_offset + _LOCAL_HEADER_BYTES + skipped)
            shape, _, dtype = _npy_header(file, path)
            return FileArray.at(path, file.tell(), dtype, int(np.prod(shape)))
    with archive.open(name) as member, tempfile.TemporaryFile() as spooled:
        shape, _, dtype = _npy_header(member, path)
        shutil.copyfileobj(member, spooled, 2**20)
        return FileArray(RowFile.of(spooled), 0, dtype, int(np.prod(shape)))


def _npy_header(file: IO[bytes], path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        header = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        header = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"{path} has arrays of format version {version}; save it again.")
    if header[2].kind not in "fiu":
        raise ValueError(f"{path} holds values of type {header[2]}; expected numbers.")
    return header


def _parquet_rows(path: Path, columns: list[str] | None) -> DenseFile:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ImportError(
            f"reading {path} needs pyarrow; install it with: pip install 'protolabel[frames]'"
        ) from error
    with pq.ParquetFile(path) as file, tempfile.TemporaryFile() as spooled:
        names = file.schema_arrow.names
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{path} has more than one column named {repeated[0]!r}; rename one.")
        chosen = names if columns is None else columns
        missing = [name for name in chosen if name not in file.schema_arrow.names]
        if missing or not chosen:
            raise ValueError(f"{path} has no column {missing[:3]}; name columns of the file.")
        n_rows, dtype = 0, _dtype_of([file.schema_arrow.field(name).type for name in chosen])
        for batch in file.iter_batches(batch_size=4096, columns=chosen):
            numbers = np.empty((batch.num_rows, len(chosen)), dtype=dtype)
            for place, name in enumerate(chosen):
                numbers[:, place] = _numbers_of(batch.column(name), name, path)
            spooled.write(numbers.data)
            n_rows += batch.num_rows
        size = n_rows * len(chosen)
        stored = FileArray(RowFile.of(spooled), 0, dtype, size)
        return DenseFile(stored, (n_rows, len(chosen)))


def _dtype_of(types: list[Any]) -> np.dtype[Any]:
    """Single precision where it holds the numbers of all columns as they are."""
    exact = {"float", "halffloat", "int8", "uint8", "int16", "uint16", "bool"}
    return np.dtype(np.float32 if {str(kind) for kind in types} <= exact else np.float64)


def _numbers_of(column: Any, name: str, path: Path) -> np.ndarray:
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"column {name!r} of {path} holds {column.type}, not numbers; leave it out with "
            "columns=[...]."
        )
    return np.asarray(values)
