"""The cells of a CSV or Parquet file as text, block by block, whatever they will mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.csv_blocks import Block, open_csv
from protolabel.exceptions import DatasetError

_BLOCK_ROWS = 1000
_BLOCK_CELLS = 65_536
_THRIFT_BYTES = 16 * 1024 * 1024
# What joins the items of a list cell of Parquet.
LIST_SEPARATOR = "\x1f"


@dataclass(frozen=True)
class TableFile:
    """An opened table: the names of its columns and its rows, to be read once.

    Parameters
    ----------
    path : Path
        File that the rows come from.
    header : tuple of str
        Names of the columns, all different.
    blocks : iterator of Block
    list_columns : frozenset of str
        Columns whose cells are lists, joined by :data:`LIST_SEPARATOR`.
    """

    path: Path
    header: tuple[str, ...]
    blocks: Iterator[Block]
    list_columns: frozenset[str] = frozenset()


@contextmanager
def open_table(
    path: Path,
    kind: str,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[TableFile]:
    r"""Open a table for reading.

    Parameters
    ----------
    path : Path
    kind : {"csv", "parquet"}
    delimiter : str or None, default=None
        CSV: character between cells; None takes the most frequent of tab, comma, semicolon
        and bar in the first line.
    encoding : str, default="utf-8"
        CSV: encoding of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("size,colour\n1,red\n2,blue\n")
    ...     with open_table(path, "csv") as table:
    ...         [block.columns for block in table.blocks]
    [[('1', '2'), ('red', 'blue')]]
    """
    if kind == "csv":
        yield _open_csv(path, delimiter, encoding, limits)
        return
    with _parquet_errors(path):
        yield from _open_parquet(path, limits)


def _open_csv(path: Path, delimiter: str | None, encoding: str, limits: ReadLimits) -> TableFile:
    header, blocks = open_csv(path, delimiter, encoding, limits)
    return TableFile(path, _checked_header(path, header), blocks)


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises for a damaged file into one kind of error."""
    try:
        import pyarrow as pa  # noqa: PLC0415
    except ImportError as error:
        raise DatasetError(
            f"reading {path} needs pyarrow; install it with: pip install 'protolabel[frames]'"
        ) from error
    try:
        yield
    except (pa.ArrowException, OverflowError, UnicodeDecodeError, MemoryError) as error:
        raise DatasetError(
            f"{path} is not a whole Parquet file ({error}); fetch it again"
        ) from error


def _open_parquet(path: Path, limits: ReadLimits) -> Iterator[TableFile]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    with pq.ParquetFile(
        path,
        thrift_string_size_limit=_THRIFT_BYTES,
        thrift_container_size_limit=_THRIFT_BYTES,
        page_checksum_verification=True,
    ) as file:
        _check_size(path, file.metadata, limits)
        schema = file.schema_arrow
        header = _checked_header(path, [str(name) for name in schema.names])
        lists = frozenset(
            name for name, kind in zip(header, schema.types, strict=True) if "list" in str(kind)
        )
        yield TableFile(path, header, _parquet_blocks(file), lists)


def _parquet_blocks(file: Any) -> Iterator[Block]:
    n_rows = 0
    for batch in file.iter_batches(batch_size=_BLOCK_ROWS):
        if batch.num_rows:
            numbers = range(n_rows + 1, n_rows + 1 + batch.num_rows)
            columns = [[_token(cell) for cell in column.to_pylist()] for column in batch.columns]
            yield Block(columns, numbers)
        n_rows += batch.num_rows


def _check_size(path: Path, metadata: Any, limits: ReadLimits) -> None:
    """Refuse a file that declares more content than it may unpack to."""
    declared = [
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    ]
    budget = limits.content_budget(path.stat().st_size)
    if min(declared, default=0) < 0 or sum(declared) > budget or metadata.num_rows > budget:
        raise DatasetError(
            f"{path} declares {sum(declared)} bytes and {metadata.num_rows} rows; the limit for a "
            f"file of this size is {budget}"
        )


def _token(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return LIST_SEPARATOR.join(str(item) for item in value)
    return str(value)


def _checked_header(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise problem_at(path, 1, f"column {name!r} occurs more than once; rename one")
        seen.add(name)
    return tuple(names)
