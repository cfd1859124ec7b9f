"""CSV and TSV files with label columns or a column of tags."""

from __future__ import annotations

from pathlib import Path

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.readers.csv_blocks import open_csv
from protolabel.datasets.readers.mulan import stem_of
from protolabel.datasets.readers.table import TableBuilder, TableOptions


def read_csv(
    path: str | Path,
    *,
    options: TableOptions | None = None,
    delimiter: str | None = None,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read a table whose first line names its columns.

    Columns of numbers become features, columns of words one 0/1 feature a word; identifiers
    and free text are dropped. ``provenance.notes`` has a message for each column changed.

    Parameters
    ----------
    path : str or Path
        Plain or gzip-compressed text.
    options : TableOptions, default=None
        Which columns are labels or tags, and what to do with others.
    delimiter : str, default=None
        Character between cells; None takes the most frequent of tab, comma, semicolon and bar
        in the first line.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    encoding : str, default="utf-8"
        Encoding of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        The dataset.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import read_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("size,colour,tags\n1.5,red,a;b\n2,blue,b\n")
    ...     mine = read_csv(path)
    >>> mine.feature_names, mine.label_names
    (('size', 'colour=red', 'colour=blue'), ('a', 'b'))
    """
    path = Path(path)
    table = open_csv(path, delimiter, encoding, limits)
    builder = TableBuilder(
        path,
        table.header,
        options or TableOptions(),
        limits,
        decimal_commas=table.may_have_decimal_commas,
    )
    for block in table.blocks:
        builder.add_block(block.columns, block.line_numbers)
    return builder.finish(name or stem_of(path))
