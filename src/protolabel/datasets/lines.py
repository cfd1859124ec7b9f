"""Text files as a stream of lines, gzip or not, within stated limits."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.exceptions import DatasetError

GZIP_MAGIC = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
# Longer ones first: that of UTF-32 begins with that of UTF-16.
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DAMAGE = (EOFError, OSError, zlib.error)
_READ_BYTES = 64 * 1024


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text, with a ValueError.

    Parameters
    ----------
    encoding : str

    Examples
    --------
    >>> check_encoding("windows1252")
    Traceback (most recent call last):
    ValueError: The encoding 'windows1252' is unknown; give one that Python knows, for example ...
    """
    try:
        "\n".encode(encoding)
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"The encoding {encoding!r} is unknown; give one that Python knows, for example utf-8, "
            "latin-1, cp1252 or utf-16 (encoding=, --encoding)."
        ) from error


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
        How bytes become characters; the byte-order mark of UTF-16 or UTF-32 overrules it.
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
    with LineStream(path, encoding=encoding, limits=limits) as stream:
        yield from stream


class LineStream:
    """The lines of a text file, one by one or in blocks of bytes, within limits.

    Parameters
    ----------
    path : Path
        Plain or gzip-compressed text.
    encoding : str, default="utf-8"
        How bytes become characters; the byte-order mark of UTF-16 or UTF-32 overrules it.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.
    """

    def __init__(
        self, path: Path, *, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS
    ) -> None:
        self.path = path
        self.encoding = encoding
        self.limits = limits
        self.n_lines = 0
        self._spent = 0
        check_encoding(encoding)
        self._file = open_binary(path)
        self._budget = limits.content_budget(path.stat().st_size)
        self._read_as_utf8_if_needed()

    def __enter__(self) -> LineStream:
        """Return the stream itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        """Return the stream itself."""
        return self

    def __next__(self) -> str:
        """Return the next line without its line end."""
        raw = self._read_line()
        if not raw:
            raise StopIteration
        self.n_lines += 1
        if self.n_lines == 1 and raw.startswith(UTF8_MARK):
            raw = raw[3:]
        return self.decode(raw, self.n_lines)

    def read_block(self, n_bytes: int) -> bytes:
        """Return about so many bytes of whole lines, empty at the end of the file."""
        try:
            block = self._file.read(n_bytes)
        except (*_DAMAGE, UnicodeError) as error:
            raise self._damaged(error) from error
        self._spend(len(block))
        if block and not block.endswith(b"\n"):
            block += self._read_line()
        self.n_lines += block.count(b"\n") + (not block.endswith(b"\n") and block != b"")
        return block

    def decode(self, raw: bytes, number: int) -> str:
        """Return a line as text, without its line end."""
        try:
            return raw.rstrip(b"\r\n").decode(self.encoding)
        except UnicodeDecodeError as error:
            raise problem_at(
                self.path,
                number,
                f"byte 0x{raw[error.start]:02x} at position {error.start} is not valid "
                f"{self.encoding}; say in which encoding it is, for example latin-1 "
                "(encoding=, --encoding)",
            ) from error

    def _read_line(self) -> bytes:
        """Return the rest of the line, its end included."""
        longest = self.limits.max_line_bytes
        try:
            raw = self._file.readline(longest + 1)
        except (*_DAMAGE, UnicodeError) as error:
            raise self._damaged(error) from error
        if len(raw) > longest:
            raise problem_at(
                self.path, self.n_lines + 1, f"longer than {longest} bytes, the limit for one line"
            )
        self._spend(len(raw))
        return raw

    def _spend(self, n_bytes: int) -> None:
        """Count what was decompressed, and stop at the limit."""
        self._spent += n_bytes
        if self._spent > self._budget:
            raise problem_at(
                self.path,
                self.n_lines + 1,
                f"more than {self._budget} bytes after decompression, the limit for a file of "
                "this size; raise ReadLimits.max_ratio or max_bytes if you trust it",
            )

    def _read_as_utf8_if_needed(self) -> None:
        """Recode a file whose lines do not end in the byte of a line feed."""
        try:
            start = self._file.read(4)
            self._file.seek(0)
        except _DAMAGE as error:
            self._file.close()
            raise self._damaged(error) from error
        marked = (name for mark, name in _WIDE_MARKS.items() if start.startswith(mark))
        encoding = next(marked, self.encoding)
        if "\n".encode(encoding) != b"\n":
            self._file = cast("IO[bytes]", io.BufferedReader(_AsUtf8(self._file, encoding)))
            self.encoding = "utf-8"

    def _damaged(self, error: Exception) -> DatasetError:
        if isinstance(error, UnicodeError):
            return problem_at(
                self.path,
                self.n_lines + 1,
                f"the text is damaged or in another encoding ({error}); say in which it is "
                "(encoding=, --encoding)",
            )
        return problem_at(
            self.path,
            self.n_lines + 1,
            f"the compressed stream is damaged or cut short ({error}); fetch it again",
        )


class _AsUtf8(io.RawIOBase):
    """The bytes of a text file in UTF-8, whatever its own encoding."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            raw = self._file.read(_READ_BYTES)
            self._ready = self._decoder.decode(raw, final=not raw).encode("utf-8")
            if not raw:
                break
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
