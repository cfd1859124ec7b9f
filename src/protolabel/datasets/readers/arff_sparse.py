"""ARFF rows that name the attributes whose value is not the default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets.growing import GrowingCsr, order_entries
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.arff_cells import BLOCK_CELLS, ArffRows
from protolabel.datasets.readers.arff_columns import Column
from protolabel.datasets.readers.arff_header import QUOTED

_MAX_FREE_FILL = 1_000_000
_LARGEST_EXACT = 2**53
_SEPARATORS_TO_BLANKS = bytes.maketrans(b"{},\r\n", b"     ")
_NOT_NUMERIC = re.compile(r"[^0-9eE+\-., \t]")
_ENTRY = re.compile(rf"""((?:[^,'"]++|{QUOTED})*)(,|$)""", re.DOTALL)
_SPARSE_ENTRY = re.compile(r"(\d+)\s+(\S.*)", re.ASCII | re.DOTALL)


class SparseRows(ArffRows):
    """Rows that name the attributes whose value is not the default."""

    def __init__(self, path: Path, columns: tuple[Column, ...], label_positions: list[int]) -> None:
        super().__init__(path, columns, label_positions)
        self.features = GrowingCsr(np.float64)
        self.positions: list[int] = []
        self.entries_per_row: list[int] = []
        self.filled = np.flatnonzero([column.default != 0 for column in columns])
        self.defaults = np.array([column.default for column in columns])
        self.n_filled = 0
        self.n_characters = 0

    def add(self, number: int, line: str) -> None:
        """Parse one row."""
        if not (line.startswith("{") and line.endswith("}")):
            raise problem_at(
                self.path,
                number,
                f"expected a sparse row like {{3 1,7 1}}, as on the first row, "
                f"received {line[:60]!r}",
            )
        body = line[1:-1]
        if not self._add_plain(body):
            self._add_any(body, number)
        self.numbers.append(number)
        self.n_characters += len(line)
        if len(self.values) + len(self.numbers) * (1 + len(self.filled)) >= BLOCK_CELLS:
            self._flush()

    def add_block(self, first_number: int, block: bytes) -> bool:
        """Parse many rows of whole numbers at once; False when a row needs the careful way.

        Without its digits such a block has to be ``{ , , }`` and a line feed, over and over.
        With a digit on both sides of every blank and comma, it is enough to count numbers.
        """
        if not self.all_plain or self.filled.size:
            return False
        block = block.rstrip(b"\r\n \t") + b"\n"
        skeleton = block.translate(None, b"0123456789").replace(b" ,", b"").replace(b"{ }", b"{}")
        skeleton = skeleton.replace(b"\r\n", b"\n") if b"\r" in skeleton else skeleton
        n_rows, rest = divmod(len(skeleton), 3)
        if rest or skeleton != b"{}\n" * n_rows:
            return False
        n_entries = block.count(b" ")
        if not n_entries:
            return False
        tokens = np.fromstring(block.translate(_SEPARATORS_TO_BLANKS), dtype=np.int64, sep=" ")
        if tokens.size != 2 * n_entries or int(tokens.max()) > _LARGEST_EXACT:
            return False
        characters = np.frombuffer(block, dtype=np.uint8)
        between = np.flatnonzero((characters == ord(" ")) | (characters == ord(",")))
        for beside in (characters[between - 1], characters[between + 1]):
            if not ((beside >= ord("0")) & (beside <= ord("9"))).all():
                return False
        self._flush()
        blanks_before = np.searchsorted(
            np.flatnonzero(characters == ord(" ")), np.flatnonzero(characters == ord("\n"))
        )
        entries_per_row = np.diff(blanks_before, prepend=0)
        self.n_characters += len(block)
        self._take(
            tokens[::2],
            tokens[1::2].astype(np.float64),
            entries_per_row,
            np.arange(first_number, first_number + n_rows),
        )
        return True

    def finish(self) -> tuple[Any, Any]:
        """Return features and labels."""
        self._flush()
        n_labels = int(self.is_label.sum())
        return (
            self.features.finish(len(self.columns) - n_labels),
            self.labels.finish(n_labels),
        )

    def _add_plain(self, body: str) -> bool:
        """Parse a row of numbers only; False when it needs the careful way."""
        if not self.all_plain or _NOT_NUMERIC.search(body):
            return False
        tokens = body.replace(",", " , ").split()
        n_commas = len(tokens) // 3
        if tokens and (len(tokens) % 3 != 2 or tokens[2::3].count(",") != n_commas):
            return False
        try:
            positions = list(map(int, tokens[::3]))
            values = list(map(float, tokens[1::3]))
        except ValueError:
            return False
        self.positions += positions
        self.values += values
        self.entries_per_row.append(len(values))
        return True

    def _add_any(self, body: str, number: int) -> None:
        """Parse a row that may hold quotes, missing values or mistakes."""
        n_entries = 0
        entries = _split_entries(body)
        if entries is None:
            raise problem_at(self.path, number, f"check the quotes of the row {body[:60]!r}")
        for entry in entries:
            found = _SPARSE_ENTRY.fullmatch(entry.strip())
            if found is None:
                raise problem_at(
                    self.path,
                    number,
                    f"expected an attribute number and a value, received {entry[:60]!r}",
                )
            position = int(found[1]) if len(found[1]) < 12 else len(self.columns)
            if position >= len(self.columns):
                raise self._no_such_attribute(number, found[1])
            self.positions.append(position)
            self.values.append(self.encode(position, found[2], number))
            n_entries += 1
        self.entries_per_row.append(n_entries)

    def _no_such_attribute(self, number: int, position: object) -> Exception:
        return problem_at(
            self.path,
            number,
            f"attribute number {position} does not exist; the file declares "
            f"{len(self.columns)}, numbered from 0",
        )

    def _flush(self) -> None:
        """Hand the rows collected one by one over as arrays."""
        try:
            positions = np.array(self.positions, dtype=np.int64)
        except OverflowError:
            positions = np.array([min(max(p, -1), len(self.columns)) for p in self.positions])
        values = np.array(self.values, dtype=np.float64)
        numbers = np.array(self.numbers, dtype=np.int64)
        self._take(positions, values, np.array(self.entries_per_row, dtype=np.int64), numbers)
        self.positions.clear()
        self.values.clear()
        self.entries_per_row.clear()
        self.numbers.clear()

    def _take(
        self,
        positions: NDArray[Any],
        values: NDArray[Any],
        entries_per_row: NDArray[Any],
        numbers: NDArray[Any],
    ) -> None:
        """Check a block of rows and append it to the matrices."""
        rows = np.repeat(np.arange(numbers.size), entries_per_row)
        outside = np.flatnonzero((positions < 0) | (positions >= len(self.columns)))
        if outside.size:
            cell = int(outside[0])
            raise self._no_such_attribute(int(numbers[rows[cell]]), positions[cell])
        self.check_values(positions, values, numbers[rows])
        order, repeated = order_entries(rows, positions)
        if repeated >= 0:
            raise problem_at(
                self.path,
                int(numbers[rows[repeated]]),
                f"attribute number {positions[repeated]} occurs twice in one row",
            )
        if order is not None:
            rows, positions, values = rows[order], positions[order], values[order]
        if self.filled.size:
            rows, positions, values = self._fill_defaults(rows, positions, values, numbers)
        keep = values != 0
        rows, positions, values = rows[keep], positions[keep], values[keep]
        labelled = self.is_label[positions]
        for part, matrix, cast in (
            (~labelled, self.features, values),
            (labelled, self.labels, np.ones_like(values)),
        ):
            counts = np.bincount(rows[part], minlength=numbers.size)
            matrix.append(counts, self.target[positions[part]], cast[part])

    def _fill_defaults(
        self,
        rows: NDArray[Any],
        positions: NDArray[Any],
        values: NDArray[Any],
        numbers: NDArray[Any],
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Add the cells left out of nominal columns whose first value is not zero."""
        missing = np.ones((numbers.size, self.filled.size), dtype=bool)
        place = np.searchsorted(self.filled, positions)
        place[place == self.filled.size] = 0
        is_given = self.filled[place] == positions
        missing[rows[is_given], place[is_given]] = False
        more_rows, more_places = np.nonzero(missing)
        more_positions = self.filled[more_places]
        self.n_filled += more_rows.size
        if self.n_filled > max(_MAX_FREE_FILL, self.n_characters):
            name = self.columns[int(self.filled[0])].attribute.name
            raise problem_at(
                self.path,
                int(numbers[-1]),
                f"rows leave out {self.n_filled} values that are not zero (attribute {name!r} "
                "declares such a value first); write the file in dense form",
            )
        rows = np.concatenate((rows, more_rows))
        positions = np.concatenate((positions, more_positions))
        values = np.concatenate((values, self.defaults[more_positions]))
        order = np.lexsort((positions, rows))
        return rows[order], positions[order], values[order]


def _split_entries(body: str) -> list[str] | None:
    """Split the inside of a sparse row at the commas outside quotes; None if malformed."""
    if not body.strip():
        return []
    entries: list[str] = []
    position = 0
    while True:
        found = _ENTRY.match(body, position)
        if found is None:
            return None
        entries.append(found[1])
        position = found.end()
        if not found[2]:
            return entries
