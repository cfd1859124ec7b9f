"""Files of formats that are not read: what they are, and what to do with them."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

_AS_TABLE = "write it as CSV or Parquet"
_PICKLE = (
    f"a pickle file, which is never read because it can run code; load it in Python and {_AS_TABLE}"
)
_UNPACK = "unpack it and give the file inside"
# The first bytes of a file, and what it is.
_KINDS = {
    b"ARROW1": f"a Feather or Arrow file; {_AS_TABLE}",
    b"FEA1": f"a Feather file; {_AS_TABLE}",
    **{bytes([0x80, version]): _PICKLE for version in range(2, 6)},
    b"\xd0\xcf\x11\xe0": "an Excel or other Office file; save its sheet as CSV",
    b"\x89HDF": f"an HDF5 file; {_AS_TABLE}",
    b"\x93NUMPY": "a single NumPy array; write features and labels as CSV, or with write_npz",
    b"SQLite format 3": f"an SQLite database; {_AS_TABLE}",
    b"BZh": f"compressed by bzip2; {_UNPACK}, or compress it by gzip",
    b"\xfd7zXZ": f"compressed by xz; {_UNPACK}, or compress it by gzip",
    b"\x28\xb5\x2f\xfd": f"compressed by zstd; {_UNPACK}, or compress it by gzip",
    b"7z\xbc\xaf": f"a 7z archive; {_UNPACK}",
    b"%PDF-": f"a PDF file; {_AS_TABLE}",
}
_JSON = re.compile(rb'\s*(\{\s*("|$)|\[\s*[\[{])')
# Enough for the longest of them, and for a few lines before the first bracket of a JSON file.
START_BYTES = 64


def foreign_kind(start: bytes) -> str | None:
    """What a file is that starts so and cannot be read, and the way out; None for others.

    Parameters
    ----------
    start : bytes
        Its first ``START_BYTES`` bytes.

    Examples
    --------
    >>> foreign_kind(b"FEA1....")
    'a Feather file; write it as CSV or Parquet'
    """
    if _JSON.match(start):
        return f"a JSON file; {_AS_TABLE}"
    return next((kind for begin, kind in _KINDS.items() if start.startswith(begin)), None)


def foreign_archive(path: Path) -> str | None:
    """What an archive is that holds no arrays, and the way out; None for one of arrays.

    Parameters
    ----------
    path : Path
        A ZIP archive.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None  # Its reader says what is wrong.
    if any(name.endswith(".npy") for name in names):
        return None
    if "[Content_Types].xml" in names:
        return "an Excel or other Office file; save its sheet as CSV"
    if "mimetype" in names:
        return "an OpenDocument file; save its sheet as CSV"
    return f"a ZIP archive of {len(names)} files; {_UNPACK}"
