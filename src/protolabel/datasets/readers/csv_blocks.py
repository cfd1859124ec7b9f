"""The cells of a CSV file as text, block by block."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from protolabel.datasets.limits import ReadLimits
from protolabel.datasets.lines import iter_lines, problem_at

_DELIMITERS = ("\t", ",", ";", "|")
# A quote that is never closed must not have the whole file read.
_MOST_LINES_OF_A_ROW = 100
_BLOCK_ROWS = 1000
_BLOCK_CELLS = 65_536


@dataclass(frozen=True)
class Block:
    """Some rows, given column by column, and the line that each row ends on."""

    columns: Sequence[Sequence[str]]
    line_numbers: Sequence[int]


@dataclass(frozen=True)
class CsvTable:
    """An opened CSV file: the names of its columns, the rows below them, to be read once.

    Parameters
    ----------
    header : list of str
        Names of the columns.
    blocks : iterator of Block
    delimiter : str
        What stands between cells.
    """

    header: list[str]
    blocks: Iterator[Block]
    delimiter: str

    @property
    def may_have_decimal_commas(self) -> bool:
        """Whether a comma in a number cannot have been meant to part cells."""
        return self.delimiter != ","


def open_csv(path: Path, delimiter: str | None, encoding: str, limits: ReadLimits) -> CsvTable:
    """Open a CSV file; None finds the delimiter."""
    lines = iter_lines(path, encoding=encoding, limits=limits)
    first = next(lines, None)
    if first is None or not first.strip():
        raise problem_at(path, 1, "expected the names of the columns, received an empty line")
    if delimiter is None:
        read = [first]
        names = _one_row(read, lines)
        n_header = len(read)
        below = next(lines, None)
        read += [] if below is None else [below]
        second = None if below is None else _one_row(read, lines, n_header)
        delimiter = _find_delimiter(names, second)
        lines = chain(read[1:], lines)
    rows = _csv_rows(path, first, lines, delimiter)
    _, cells = next(rows)
    header = [cell.strip() for cell in cells]
    return CsvTable(header, _csv_blocks(path, header, rows, delimiter), delimiter)


def _one_row(read: list[str], lines: Iterator[str], start: int = 0) -> str:
    """The row that begins with a line that was read; a quoted cell may run over several lines."""
    while "\n".join(read[start:]).count('"') % 2 and len(read) - start < _MOST_LINES_OF_A_ROW:
        following = next(lines, None)
        if following is None:
            break
        read.append(following)
    return "\n".join(read[start:])


def _find_delimiter(first: str, second: str | None) -> str:
    """What parts the header into most cells, and the line below into as many."""

    def n_cells(line: str, delimiter: str) -> int:
        try:
            row = csv.reader(line.splitlines(keepends=True), delimiter=delimiter)
            return len(next(row, []))
        except csv.Error:
            return 0  # The line is refused with its number when it is read.

    def fitness(delimiter: str) -> tuple[bool, int]:
        n_names = n_cells(first, delimiter)
        is_even = second is not None and n_cells(second, delimiter) == n_names > 1
        return is_even, n_names

    return max(_DELIMITERS, key=fitness)


def _csv_rows(
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
            problem = f"not a row of cells ({error}); check its quotes"
            if "new-line character" in str(error):
                problem = "lines end with a carriage return alone; save the file with line feeds"
            raise problem_at(path, max(reader.line_num, 1), problem) from error
        yield reader.line_num, row


def _csv_blocks(
    path: Path, header: Sequence[str], rows: Iterator[tuple[int, list[str]]], delimiter: str
) -> Iterator[Block]:
    block: list[list[str]] = []
    numbers: list[int] = []
    for number, row in _without_blank_lines(rows, len(header)):
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
            yield Block(list(zip(*block, strict=True)), numbers)
            block, numbers = [], []
    if block:
        yield Block(list(zip(*block, strict=True)), numbers)


def _without_blank_lines(
    rows: Iterator[tuple[int, list[str]]], n_columns: int
) -> Iterator[tuple[int, list[str]]]:
    """Of a single column, a blank line is a row without a value, but for those at the end."""
    blank: list[int] = []
    for number, row in rows:
        if not row:
            blank.append(number)
            continue
        if n_columns == 1:
            yield from ((before, [""]) for before in blank)
        blank.clear()
        yield number, row
