"""Arrays in one safetensors file, checked in full before any of them is allocated.

The format allows more than a model needs: padding, holes in the names' meaning, equal sizes of
other shape. Here the header has to agree entry by entry with a schema that is known already.
One descriptor serves all checks and all reads.
"""

from __future__ import annotations

import hashlib
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
from safetensors.numpy import save_file

from protolabel.exceptions import ModelFileError
from protolabel.safefiles.strict_json import parse_object, shown

DTYPES: Mapping[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("<u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
_NAME_OF = {dtype: name for name, dtype in DTYPES.items()}
MAX_DIMENSIONS = 8
MAX_HEADER_BYTES = 8 * 2**20


@dataclass(frozen=True)
class TensorSpec:
    """Type and shape of one stored array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


def write_tensors(path: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, TensorSpec]:
    """Write arrays and return their schema.

    Parameters
    ----------
    path : Path
    arrays : mapping of str to ndarray
        Boolean, integer or floating-point arrays; floating-point ones have to be finite.
    """
    schema = {}
    for name, array in arrays.items():
        if array.dtype not in _NAME_OF or array.ndim > MAX_DIMENSIONS:
            raise TypeError(
                f"The array {name} of type {array.dtype} with {array.ndim} dimensions cannot be "
                f"stored; expected one of {', '.join(map(str, _NAME_OF))} with at most "
                f"{MAX_DIMENSIONS} dimensions."
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(
                f"The array {name} contains NaN or infinity, so the model would be refused when "
                "it is loaded; fit it again."
            )
        schema[name] = TensorSpec(_NAME_OF[array.dtype], tuple(array.shape))
    save_file({name: np.require(array, requirements="C") for name, array in arrays.items()}, path)
    return schema


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading, refusing pipes, devices and folders without waiting for them."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise ModelFileError(
            f"{path}: there is no such file. Check the folder, or save the model again."
        ) from None
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path}: cannot be opened ({error}). Check the file.") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ModelFileError(
            f"{path}: found something that is no regular file. Save or fetch the model again."
        )
    return os.fdopen(descriptor, "rb")


class TensorFile:
    """A tensor file whose size, header and checksum were found to be as announced.

    Every array can be read once: what a manifest mentions twice would cost memory that the
    file does not have.

    Parameters
    ----------
    path : Path
    schema : mapping of str to TensorSpec
        The arrays that have to be there, no more and no fewer.
    size : int
        Expected size of the file.
    sha256 : str
        Expected checksum of the file.
    """

    def __init__(
        self, path: Path, schema: Mapping[str, TensorSpec], size: int, sha256: str
    ) -> None:
        self.path = path
        self.schema = dict(schema)
        self._unread = set(schema)
        self._file = open_regular(path)
        try:
            self._offsets = self._checked_header(size)
            self._check_sum(sha256)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def spec(self, name: str) -> TensorSpec:
        """Type and shape of an array that was not read yet."""
        if name not in self._unread:
            problem = "twice" if name in self.schema else "but it is not there"
            self._refuse(f"the array {shown(name)} is used {problem}")
        return self.schema[name]

    def read(self, name: str) -> np.ndarray:
        """Allocate an array and fill it from the file."""
        spec = self.spec(name)
        self._unread.remove(name)
        try:
            array = np.empty(spec.shape, DTYPES[spec.dtype])
        except ValueError:  # Without cells no size is too large for the file.
            self._refuse(f"the array {shown(name)} has a shape that no array has, {spec.shape}")
        self._file.seek(self._offsets[name])
        if array.size and self._file.readinto(array.data.cast("B")) != spec.n_bytes:
            self._refuse(f"the array {shown(name)} ends before its announced size")
        if spec.dtype == "BOOL" and array.size and array.view(np.uint8).max() > 1:
            self._refuse(f"the array {shown(name)} holds bytes other than 0 and 1 as booleans")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            self._refuse(f"the array {shown(name)} contains NaN or infinity")
        return array

    def check_all_read(self) -> None:
        """Refuse a file with arrays that nothing asked for."""
        if self._unread:
            self._refuse(f"the array {shown(min(self._unread))} belongs to no part of the model")

    def _checked_header(self, size: int) -> dict[str, int]:
        """Start of each array in the file, after comparing the header with the schema."""
        found = os.fstat(self._file.fileno()).st_size
        if found != size:
            self._refuse(f"found {found} bytes, the manifest announces {size}")
        if size < 8:
            self._refuse(f"found {found} bytes, fewer than the length of a header takes")
        n_header = int.from_bytes(self._file.read(8), "little")
        if n_header > min(size - 8, MAX_HEADER_BYTES):
            self._refuse(
                f"the header announces {n_header} bytes, more than the file or the limit of "
                f"{MAX_HEADER_BYTES} allows"
            )
        header = parse_object(self._file.read(n_header), self.path)
        if set(header) != set(self.schema):
            odd = min(set(header) ^ set(self.schema))
            self._refuse(f"the array {shown(odd)} is in only one of header and manifest")
        begin = 8 + n_header
        spans = sorted((self._checked_entry(name, entry), name) for name, entry in header.items())
        position = 0
        for (start, end), name in spans:
            if start != position:
                self._refuse(f"the array {shown(name)} overlaps another one or leaves a hole")
            position = end
        if begin + position != size:
            self._refuse(f"the arrays end at byte {begin + position} of {size}")
        return {name: begin + start for (start, _), name in spans}

    def _checked_entry(self, name: str, entry: Any) -> tuple[int, int]:
        """Begin and end of one array within the data."""
        spec = self.schema[name]
        expected = {"dtype": spec.dtype, "shape": list(spec.shape)}
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not isinstance(offsets, list) or entry != expected | {"data_offsets": offsets}:
            self._refuse(f"the header of {shown(name)} does not agree with the manifest")
        if len(offsets) != 2 or any(type(n) is not int for n in [*offsets, *entry["shape"]]):
            self._refuse(f"the place of {shown(name)} is not given by whole numbers")
        start, end = offsets
        if start < 0 or end - start != spec.n_bytes:
            self._refuse(f"the place of {shown(name)} does not fit its type and shape")
        return start, end

    def _check_sum(self, sha256: str) -> None:
        self._file.seek(0)
        found = hashlib.file_digest(self._file, "sha256").hexdigest()
        if found != sha256:
            self._refuse(f"the SHA-256 is {found}, the manifest announces {shown(sha256)}")

    def _refuse(self, found: str) -> NoReturn:
        raise ModelFileError(
            f"{self.path}: {found}. The file is damaged or belongs to another manifest; save or "
            "fetch the model again."
        )
