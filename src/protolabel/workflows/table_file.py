"""The cells of a CSV or Parquet file as text, block by block, whatever they will mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.csv_blocks import Block, open_csv
from protolabel.datasets.readers.parquet_blocks import open_parquet


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
        Columns whose cells are lists, joined by ``LIST_SEPARATOR``.
    index_columns : frozenset of str
        Columns that pandas stored the names of the rows in; they are no features.
    decimal_commas : bool
        Whether 0,5 is a number.
    """

    path: Path
    header: tuple[str, ...]
    blocks: Iterator[Block]
    list_columns: frozenset[str] = frozenset()
    index_columns: frozenset[str] = frozenset()
    decimal_commas: bool = False

    def columns(self) -> tuple[str, ...]:
        """Names of the columns that say something of the rows, labels among them."""
        return tuple(name for name in self.header if name not in self.index_columns)


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
        csv = open_csv(path, delimiter, encoding, limits)
        yield TableFile(
            path,
            _checked_header(path, csv.header),
            csv.blocks,
            decimal_commas=csv.may_have_decimal_commas,
        )
        return
    with open_parquet(path, limits) as found:
        yield TableFile(
            path,
            _checked_header(path, found.header),
            found.blocks,
            found.list_columns,
            found.index_columns,
        )


def _checked_header(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise problem_at(path, 1, f"column {name!r} occurs more than once; rename one")
        seen.add(name)
    return tuple(names)
