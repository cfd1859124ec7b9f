"""Parquet files with label columns or a column of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.readers.mulan import stem_of
from protolabel.datasets.readers.table import TableBuilder, TableOptions
from protolabel.exceptions import DatasetError

_BLOCK_ROWS = 1000
_THRIFT_BYTES = 16 * 1024 * 1024
# what joins the items of a list cell, so that lists and delimited cells take one way
_LIST_SEPARATOR = "\x1f"


def read_parquet(
    path: str | Path,
    *,
    options: TableOptions | None = None,
    name: str | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    """Read a Parquet table; a column of lists serves as tags too.

    Parameters
    ----------
    path : str or Path
        Parquet file.
    options : TableOptions, default=None
        Which columns are labels or tags, and what to do with others.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        The dataset; ``provenance.notes`` has a message for each column changed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> import pyarrow.parquet as pq
    >>> from protolabel.datasets import read_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.parquet"
    ...     table = pa.table({"size": [1.5, 2.0], "tags": [["a", "b"], ["b"]]})
    ...     pq.write_table(table, path)
    ...     read_parquet(path).label_names
    ('a', 'b')
    """
    path = Path(path)
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise DatasetError(
            f"reading {path} needs pyarrow; install it with: pip install 'protolabel[frames]'"
        ) from error
    options = options or TableOptions()
    try:
        with pq.ParquetFile(
            path,
            thrift_string_size_limit=_THRIFT_BYTES,
            thrift_container_size_limit=_THRIFT_BYTES,
            page_checksum_verification=True,
        ) as file:
            _check_size(path, file.metadata, limits)
            builder = TableBuilder(path, [str(n) for n in file.schema_arrow.names], options, limits)
            n_rows = 0
            for batch in file.iter_batches(batch_size=_BLOCK_ROWS):
                columns = [_tokens(column) for column in batch.columns]
                _split_lists(builder, batch.columns)
                numbers = range(n_rows + 1, n_rows + 1 + batch.num_rows)
                if batch.num_rows:
                    builder.add_block(columns, numbers)
                n_rows += batch.num_rows
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError, MemoryError) as error:
        raise DatasetError(
            f"{path} is not a whole Parquet file ({error}); fetch it again"
        ) from error
    return builder.finish(name or stem_of(path))


def _check_size(path: Path, metadata: Any, limits: ReadLimits) -> None:
    """Refuse a file that declares more content than it may unpack to."""
    # the metadata of single columns is out of bounds: damaged, it ends the process
    declared = [
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    ]
    budget = limits.content_budget(path.stat().st_size)
    if min(declared, default=0) < 0 or sum(declared) > budget:
        raise DatasetError(
            f"{path} declares {sum(declared)} bytes of content; the limit for a file of this "
            f"size is {budget}"
        )
    if metadata.num_rows > budget:
        raise DatasetError(f"{path} declares {metadata.num_rows} rows, more than it can hold")


def _tokens(column: Any) -> Sequence[str]:
    """Return a column as text, the common ground with CSV."""
    tokens: list[str] = []
    for value in column.to_pylist():
        if value is None:
            tokens.append("")
        elif isinstance(value, bool):
            tokens.append("true" if value else "false")
        elif isinstance(value, list):
            tokens.append(_LIST_SEPARATOR.join(str(item) for item in value))
        else:
            # dates and the like end up as words, and too many words are dropped with a message
            tokens.append(str(value))
    return tokens


def _split_lists(builder: TableBuilder, columns: Sequence[Any]) -> None:
    """Split the tags at the list separator when their column holds lists."""
    if builder.columns or builder.tag_name is None or builder.options.tag_separator is not None:
        return
    column = columns[builder.header.index(builder.tag_name)]
    if "list" in str(column.type):
        builder.options = replace(builder.options, tag_separator=_LIST_SEPARATOR)
