"""The format of a file, told from its content."""

from __future__ import annotations

import re
import zipfile
import zlib
from itertools import islice
from pathlib import Path
from typing import Literal

from protolabel.datasets.foreign_files import START_BYTES, foreign_archive, foreign_kind
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import iter_lines, open_binary, problem_at
from protolabel.datasets.readers.meka import has_label_count
from protolabel.datasets.readers.xmlc import HEADER
from protolabel.exceptions import DatasetError

Format = Literal["mulan", "meka", "xmlc", "libsvm", "csv", "parquet", "npz", "text"]
FORMATS: tuple[Format, ...] = (
    "mulan",
    "meka",
    "xmlc",
    "libsvm",
    "csv",
    "parquet",
    "npz",
    "text",
)
_LABELS = re.compile(r"\d+(?:,\d+)*,?", re.ASCII)
_FEATURE = re.compile(r"\d+:[-+.\deE]+", re.ASCII)
_TAG_NUMBERS = re.compile(r"\s*\d+(?:\s*,\s*\d+)*\s*", re.ASCII)
_MAX_LOOK = 50


def sniff_format(
    path: str | Path, *, encoding: str = "utf-8", limits: ReadLimits = DEFAULT_LIMITS
) -> Format:
    r"""Return the format of a file.

    Parameters
    ----------
    path : str or Path
        File to look into; its name only matters for a table of one column, as .csv or .tsv.
    encoding : str, default="utf-8"
        Encoding of text files.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    str
        One of mulan, meka, xmlc, libsvm, csv, parquet, npz, text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import sniff_format
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "no-ending"
    ...     _ = path.write_text("1 3 2\n0 1:0.5\n")
    ...     sniff_format(path)
    'xmlc'
    """
    path = Path(path)
    with open_binary(path) as file:
        try:
            start = file.read(START_BYTES)
        except (EOFError, OSError, zlib.error) as error:
            raise problem_at(path, 1, f"the compressed stream is damaged ({error})") from error
    if not start:
        raise DatasetError(f"{path} is empty; give a file with rows")
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK"):
        if not zipfile.is_zipfile(path):
            raise DatasetError(
                f"{path} starts like an archive but is not a whole one; fetch it again"
            )
        _refuse_foreign(path, foreign_archive(path))
        return "npz"
    _refuse_foreign(path, foreign_kind(start))
    return _sniff_text(path, encoding, limits)


def _refuse_foreign(path: Path, kind: str | None) -> None:
    if kind is not None:
        raise DatasetError(f"{path} is {kind}")


def _sniff_text(path: Path, encoding: str, limits: ReadLimits) -> Format:
    """Tell text formats apart by their first lines that are no comments."""
    has_hash_comment = False
    is_blank = True
    for line in islice(iter_lines(path, encoding=encoding, limits=limits), _MAX_LOOK):
        text = line.strip()
        is_blank &= not text
        if not text or text.startswith("%"):
            continue
        if text.startswith("#"):
            has_hash_comment = True
            continue
        if text.lower().startswith("@relation"):
            return "meka" if has_label_count(text.strip("'\" ")) else "mulan"
        if text.lower().startswith("@attribute"):
            return "mulan"
        if HEADER.fullmatch(text):
            return "xmlc"
        if _is_index_value_row(text):
            return "libsvm" if has_hash_comment or "#" in line else "xmlc"
        if _is_text_row(line):
            return "text"
        if any(delimiter in text for delimiter in "\t,;|"):
            return "csv"
        if path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
            return "csv"
        break
    if is_blank:
        raise DatasetError(f"{path} holds nothing but blank lines; give a file with rows")
    raise problem_at(
        path,
        1,
        f"the content is none of the formats {', '.join(FORMATS)}; name it if it is "
        "(format=, --format)",
    )


def _is_index_value_row(text: str) -> bool:
    """Tell whether a line starts like ``3,17 5:0.5`` or ``5:0.5``."""
    tokens = text.partition("#")[0].split(None, 3)[:3]
    if tokens and _LABELS.fullmatch(tokens[0]):
        tokens = tokens[1:]
    return bool(tokens) and all(_FEATURE.fullmatch(token) for token in tokens)


def _is_text_row(line: str) -> bool:
    """Tell whether a line is a text of some words, a tab and numbers."""
    cells = line.split("\t", 2)
    is_text = len(cells) >= 2 and " " in cells[0].strip()
    return is_text and _TAG_NUMBERS.fullmatch(cells[1]) is not None
