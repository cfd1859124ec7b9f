"""Text files as a stream of lines, gzip or not, within stated limits."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.exceptions import DatasetError

GZIP_MAGIC = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"


def problem_at(path: Path, line_number: int, problem: str) -> DatasetError:
    """Return the error for a problem on one line of a file."""
    return DatasetError(f"{path}, line {line_number}: {problem}")


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading, through gzip when its first bytes say so."""
    try:
        with path.open("rb") as file:
            magic = file.read(2)
        if magic == GZIP_MAGIC:
            return cast("IO[bytes]", gzip.open(path, "rb"))
        return path.open("rb")
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be opened ({error.strerror or error}); check the path and its rights"
        ) from error


def iter_lines(
    path: Path, *, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[str]:
    r"""Yield the lines of a text file without their line ends, one at a time.

    Parameters
    ----------
    path : Path
        Plain or gzip-compressed text; the content decides, not the name.
    encoding : str, default="utf-8"
        How bytes become characters.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Yields
    ------
    str
        A line without its line feed or carriage return.

    Raises
    ------
    DatasetError
        With the line number, when a line is too long, the content too large, the compressed
        stream damaged or a byte not valid in the encoding.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets.lines import iter_lines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.txt"
    ...     _ = path.write_bytes(b"one\r\ntwo")
    ...     list(iter_lines(path))
    ['one', 'two']
    """
    with open_binary(path) as file:
        budget = limits.content_budget(path.stat().st_size)
        longest = limits.max_line_bytes
        spent = 0
        number = 0
        while True:
            number += 1
            try:
                raw = file.readline(longest + 1)
            except (EOFError, OSError, zlib.error) as error:
                raise problem_at(
                    path,
                    number,
                    f"the compressed stream is damaged or cut short ({error}); fetch it again",
                ) from error
            if not raw:
                return
            spent += len(raw)
            if len(raw) > longest:
                raise problem_at(
                    path, number, f"longer than {longest} bytes, the limit for one line"
                )
            if spent > budget:
                raise problem_at(
                    path,
                    number,
                    f"more than {budget} bytes after decompression, the limit for a file of "
                    "this size; raise ReadLimits.max_ratio or max_bytes if you trust it",
                )
            if number == 1 and raw.startswith(UTF8_MARK):
                raw = raw[3:]
            try:
                line = raw.rstrip(b"\r\n").decode(encoding)
            except UnicodeDecodeError as error:
                raise problem_at(
                    path,
                    number,
                    f"byte 0x{raw[error.start]:02x} at position {error.start} is not valid "
                    f"{encoding}; pass the encoding of the file, for example encoding='latin-1'",
                ) from error
            yield line
