"""ARFF rows with one value for every attribute."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from protolabel.datasets.growing import GrowingArray
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.arff_cells import BLOCK_CELLS, ArffRows
from protolabel.datasets.readers.arff_columns import Column
from protolabel.datasets.readers.arff_header import split_values

_NOT_NUMERIC = re.compile(r"[^0-9eE+\-., \t]")


class DenseRows(ArffRows):
    """Rows with one value for every attribute."""

    def __init__(self, path: Path, columns: tuple[Column, ...], label_positions: list[int]) -> None:
        super().__init__(path, columns, label_positions)
        self.features = GrowingArray(np.float64)
        # a nominal token that needs no unquoting is looked up without a function call
        self.codes = [column.codes or {} for column in columns]

    def add(self, number: int, line: str) -> None:
        """Parse one row."""
        if self.all_plain and not _NOT_NUMERIC.search(line):
            tokens = line.split(",")
            try:
                row = list(map(float, tokens))
            except ValueError:
                row = self._encode_tokens(tokens, number)
        else:
            split = split_values(line) if "'" in line or '"' in line else line.split(",")
            if split is None:
                raise problem_at(
                    self.path, number, f"not a list of values: {line[:60]!r}; check its quotes"
                )
            row = self._encode_tokens(split, number)
        if len(row) != len(self.columns):
            raise self._wrong_length(number, len(row))
        self.values += row
        self.numbers.append(number)
        if len(self.values) >= BLOCK_CELLS:
            self._flush()

    def finish(self) -> tuple[Any, Any]:
        """Return features and labels."""
        self._flush()
        n_labels = int(self.is_label.sum())
        n_features = len(self.columns) - n_labels
        return (
            self.features.finish().reshape(self.labels.n_rows, n_features),
            self.labels.finish(n_labels),
        )

    def _encode_tokens(self, tokens: list[str], number: int) -> list[float]:
        if len(tokens) != len(self.columns):
            raise self._wrong_length(number, len(tokens))
        row: list[float] = []
        for position, (token, codes) in enumerate(zip(tokens, self.codes, strict=True)):
            text = token.strip()
            code = codes.get(text)
            row.append(self.encode(position, text, number) if code is None else code)
        return row

    def _wrong_length(self, number: int, n_values: int) -> Exception:
        return problem_at(
            self.path,
            number,
            f"{n_values} values for {len(self.columns)} attributes; the row is cut or "
            "has a stray comma",
        )

    def _flush(self) -> None:
        block = np.array(self.values).reshape(len(self.numbers), len(self.columns))
        positions = np.tile(np.arange(len(self.columns)), len(self.numbers))
        self.check_values(positions, block.ravel(), np.repeat(self.numbers, len(self.columns)))
        self.features.append(block[:, ~self.is_label].ravel())
        labels = block[:, self.is_label] == 1
        found = np.nonzero(labels)[1]
        self.labels.append(labels.sum(axis=1), found, np.ones(found.size))
        self.values.clear()
        self.numbers.clear()
