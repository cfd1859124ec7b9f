"""CSV and TSV files with label columns or a column of tags."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import iter_lines, problem_at
from protolabel.datasets.readers.mulan import stem_of
from protolabel.datasets.readers.table import TableBuilder, TableOptions

_DELIMITERS = ("\t", ",", ";", "|")
_BLOCK_ROWS = 1000
_BLOCK_CELLS = 65_536


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
    lines = iter_lines(path, encoding=encoding, limits=limits)
    first = next(lines, None)
    if first is None or not first.strip():
        raise problem_at(path, 1, "expected the names of the columns, received an empty line")
    delimiter = delimiter or max(_DELIMITERS, key=first.count)
    rows = _rows(path, first, lines, delimiter)
    _, header = next(rows)
    builder = TableBuilder(path, [cell.strip() for cell in header], options or TableOptions())
    block: list[list[str]] = []
    numbers: list[int] = []
    for number, row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise problem_at(
                path,
                number,
                f"{len(row)} cells for {len(header)} columns; a cell that holds {delimiter!r} "
                "has to be quoted",
            )
        block.append(row)
        numbers.append(number)
        if len(block) >= _BLOCK_ROWS or len(block) * len(header) >= _BLOCK_CELLS:
            builder.add_block(list(zip(*block, strict=True)), numbers)
            block.clear()
            numbers.clear()
    if block:
        builder.add_block(list(zip(*block, strict=True)), numbers)
    return builder.finish(name or stem_of(path))


def _rows(
    path: Path, first: str, lines: Iterator[str], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield numbered rows; a quoted cell may run over several lines."""

    def all_lines() -> Iterator[str]:
        yield first + "\n"
        for line in lines:
            yield line + "\n"

    reader = csv.reader(all_lines(), delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise problem_at(
                path, max(reader.line_num, 1), f"not a row of cells ({error}); check its quotes"
            ) from error
        yield reader.line_num, row
