"""Parquet files with label columns or a column of tags."""

from __future__ import annotations

from pathlib import Path

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.readers.mulan import stem_of
from protolabel.datasets.readers.parquet_blocks import open_parquet
from protolabel.datasets.readers.table import TableBuilder, TableOptions


def read_parquet(
    path: str | Path,
    *,
    options: TableOptions | None = None,
    name: str | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    """Read a Parquet table; a column of lists serves as tags too, an index of pandas is dropped.

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
    with open_parquet(path, limits) as table:
        builder = TableBuilder(
            path,
            table.header,
            options or TableOptions(),
            limits,
            list_columns=table.list_columns,
            index_columns=table.index_columns,
        )
        for block in table.blocks:
            builder.add_block(block.columns, block.line_numbers)
    return builder.finish(name or stem_of(path))
