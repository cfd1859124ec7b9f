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

_MAX_FREE_FILL = 1_000_000
_NOT_NUMERIC = re.compile(r"[^0-9eE+\-., \t]")
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
        for entry in _split_entries(body):
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
        rows = np.repeat(np.arange(len(self.numbers)), self.entries_per_row)
        numbers = np.array(self.numbers, dtype=np.int64)
        try:
            positions = np.array(self.positions, dtype=np.int64)
        except OverflowError:
            positions = np.array([min(max(p, -1), len(self.columns)) for p in self.positions])
        values = np.array(self.values, dtype=np.float64)
        outside = np.flatnonzero((positions < 0) | (positions >= len(self.columns)))
        if outside.size:
            cell = int(outside[0])
            raise self._no_such_attribute(int(numbers[rows[cell]]), self.positions[cell])
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
            rows, positions, values = self._fill_defaults(rows, positions, values)
        keep = values != 0
        rows, positions, values = rows[keep], positions[keep], values[keep]
        labelled = self.is_label[positions]
        for part, matrix, cast in (
            (~labelled, self.features, values),
            (labelled, self.labels, np.ones_like(values)),
        ):
            counts = np.bincount(rows[part], minlength=len(self.numbers))
            matrix.append(counts, self.target[positions[part]], cast[part])
        for part_list in (self.positions, self.values, self.entries_per_row, self.numbers):
            part_list.clear()

    def _fill_defaults(
        self, rows: NDArray[Any], positions: NDArray[Any], values: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Add the cells left out of nominal columns whose first value is not zero."""
        missing = np.ones((len(self.numbers), len(self.columns)), dtype=bool)
        missing[rows, positions] = False
        missing[:, self.defaults == 0] = False
        more_rows, more_positions = np.nonzero(missing)
        self.n_filled += more_rows.size
        if self.n_filled > max(_MAX_FREE_FILL, self.n_characters):
            name = self.columns[int(self.filled[0])].attribute.name
            raise problem_at(
                self.path,
                self.numbers[-1],
                f"rows leave out {self.n_filled} values that are not zero (attribute {name!r} "
                "declares such a value first); write the file in dense form",
            )
        rows = np.concatenate((rows, more_rows))
        positions = np.concatenate((positions, more_positions))
        values = np.concatenate((values, self.defaults[more_positions]))
        order = np.lexsort((positions, rows))
        return rows[order], positions[order], values[order]


def _split_entries(body: str) -> list[str]:
    """Split the inside of a sparse row at the commas outside quotes."""
    if not body.strip():
        return []
    if "'" not in body and '"' not in body:
        return body.split(",")
    entries = re.findall(r"""(?:[^,'"]|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")+|,|['"]""", body)
    joined: list[str] = [""]
    for piece in entries:
        if piece == ",":
            joined.append("")
        else:
            joined[-1] += piece
    return joined
