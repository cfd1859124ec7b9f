"""The cells of a Parquet file as text, block by block."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protolabel.datasets.limits import ReadLimits
from protolabel.datasets.readers.csv_blocks import Block
from protolabel.datasets.readers.tag_column import LIST_SEPARATOR
from protolabel.exceptions import DatasetError
from protolabel.missing_labels import is_missing

_BLOCK_ROWS = 1000
_THRIFT_BYTES = 16 * 1024 * 1024
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class ParquetTable:
    """An opened Parquet file: the names of its columns and its rows, to be read once.

    Parameters
    ----------
    header : list of str
        Names of the columns.
    blocks : iterator of Block
    list_columns : frozenset of str
        Columns whose cells are lists, joined by ``LIST_SEPARATOR``.
    index_columns : frozenset of str
        Columns that pandas stored the names of the rows in.
    """

    header: list[str]
    blocks: Iterator[Block]
    list_columns: frozenset[str]
    index_columns: frozenset[str]


@contextmanager
def open_parquet(path: Path, limits: ReadLimits) -> Iterator[ParquetTable]:
    """Open a Parquet file; while it is open, what pyarrow raises becomes a DatasetError."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise DatasetError(
            f"reading {path} needs pyarrow; install it with: pip install 'protolabel[frames]'"
        ) from error
    try:
        with pq.ParquetFile(
            path,
            thrift_string_size_limit=_THRIFT_BYTES,
            thrift_container_size_limit=_THRIFT_BYTES,
            page_checksum_verification=True,
        ) as file:
            _check_size(path, file.metadata, limits)
            schema = file.schema_arrow
            header = [str(name) for name in schema.names]
            kinds = zip(header, schema.types, strict=True)
            lists = frozenset(name for name, kind in kinds if "list" in str(kind))
            yield ParquetTable(header, _blocks(file), lists, _index_columns(header, schema))
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError, MemoryError) as error:
        raise DatasetError(
            f"{path} is not a whole Parquet file ({error}); fetch it again"
        ) from error


def _check_size(path: Path, metadata: Any, limits: ReadLimits) -> None:
    """Refuse a file that declares more content than it may unpack to."""
    # the metadata of single columns is out of bounds: damaged, it ends the process
    declared = [
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    ]
    budget = limits.content_budget(path.stat().st_size)
    if min(declared, default=0) < 0 or sum(declared) > budget or metadata.num_rows > budget:
        raise DatasetError(
            f"{path} declares {sum(declared)} bytes and {metadata.num_rows} rows; the limit for a "
            f"file of this size is {budget}"
        )


def _index_columns(header: list[str], schema: Any) -> frozenset[str]:
    """Columns that hold the index of the frame that the file was written from."""
    found = {name for name in header if _UNNAMED_INDEX.fullmatch(name)}
    stored = (schema.metadata or {}).get(b"pandas", b"null")
    try:
        document = json.loads(stored)
    except (ValueError, RecursionError):
        document = None
    index = document.get("index_columns") if isinstance(document, dict) else None
    if isinstance(index, list):
        # an index that merely counts is described by an object, and has no column
        found |= {name for name in index if isinstance(name, str)}
    return frozenset(found & set(header))


def _blocks(file: Any) -> Iterator[Block]:
    n_rows = 0
    for batch in file.iter_batches(batch_size=_BLOCK_ROWS):
        if batch.num_rows:
            numbers = range(n_rows + 1, n_rows + 1 + batch.num_rows)
            columns = [[_token(cell) for cell in column.to_pylist()] for column in batch.columns]
            yield Block(columns, numbers)
        n_rows += batch.num_rows


def _token(value: Any) -> str:
    """A cell as text, the common ground with CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return LIST_SEPARATOR.join(str(item) for item in value if not is_missing(item))
    # dates and the like end up as words, and too many words are dropped with a message
    return str(value)
