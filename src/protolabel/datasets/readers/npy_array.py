"""One array of an NPZ file, read without trusting what its header says."""

from __future__ import annotations

import ast
import math
import re
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from protolabel.exceptions import DatasetError

_MAGIC = b"\x93NUMPY"
_MAX_HEADER_BYTES = 4096
_MAX_DIMENSIONS = 2
_PIECE_BYTES = 1024 * 1024
_NUMBER_TYPE = re.compile(r"[<>|=]?[fiub][1248]")


def read_array(where: str, member: IO[bytes], size: int) -> NDArray[Any]:
    """Read an array of numbers whose declared shape agrees with the bytes that are there.

    NumPy's own reader allocates what the header declares, and accepts Python objects.

    Parameters
    ----------
    where : str
        File and array, for errors.
    member : binary file
        NPY content.
    size : int
        Its number of bytes.

    Returns
    -------
    ndarray
        The array.

    Raises
    ------
    DatasetError
        When the header is malformed, declares anything but numbers, or disagrees with the
        content.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from protolabel.datasets.readers.npy_array import read_array
    >>> buffer = io.BytesIO()
    >>> np.save(buffer, np.array([1, 2]))
    >>> size = buffer.tell()
    >>> _ = buffer.seek(0)
    >>> read_array("here", buffer, size).tolist()
    [1, 2]
    """
    shape, dtype, is_fortran = _read_header(where, member)
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes > size:
        raise DatasetError(f"{where} declares shape {shape} but holds {size} bytes")
    array: NDArray[Any] = np.empty(math.prod(shape), dtype=dtype)
    content = array.view(np.uint8)
    filled = 0
    # piece by piece, for a ZIP member makes a copy of what it reads
    while piece := member.read(min(_PIECE_BYTES, n_bytes - filled)):
        content[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        filled += len(piece)
    if filled != n_bytes or member.read(1):
        raise DatasetError(f"{where} is cut short or has bytes left over")
    return array.reshape(shape, order="F" if is_fortran else "C")


def _read_header(where: str, member: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Parse magic, version and the dictionary of type, order and shape."""
    start = member.read(8)
    if start[:6] != _MAGIC or start[6:] not in (b"\x01\x00", b"\x02\x00"):
        raise DatasetError(f"{where} is not an NPY array of version 1.0 or 2.0")
    length_bytes = 2 if start[6] == 1 else 4
    length = int.from_bytes(member.read(length_bytes), "little")
    if length > _MAX_HEADER_BYTES:
        raise DatasetError(f"{where} has a header of {length} bytes; at most {_MAX_HEADER_BYTES}")
    try:
        header = ast.literal_eval(member.read(length).decode("latin-1").strip())
        descr, is_fortran, shape = header["descr"], header["fortran_order"], header["shape"]
    except (
        ValueError,
        SyntaxError,
        TypeError,
        KeyError,
        IndexError,
        MemoryError,
        RecursionError,
    ) as error:
        raise DatasetError(f"{where} has a damaged header ({error})") from error
    if not (isinstance(descr, str) and _NUMBER_TYPE.fullmatch(descr)):
        raise DatasetError(
            f"{where} has type {str(descr)[:40]!r}; expected numbers, and never Python objects"
        )
    is_shape = isinstance(shape, tuple) and len(shape) <= _MAX_DIMENSIONS
    if not is_shape or not all(type(length) is int and length >= 0 for length in shape):
        raise DatasetError(f"{where} has shape {str(shape)[:40]}; expected one or two lengths")
    try:
        dtype = np.dtype(descr)
    except TypeError as error:
        raise DatasetError(f"{where} has the unknown type {descr!r}") from error
    return shape, dtype, bool(is_fortran)
