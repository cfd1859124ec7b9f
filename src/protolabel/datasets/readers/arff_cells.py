"""What dense and sparse ARFF rows have in common: columns, labels and checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets.growing import GrowingCsr
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.arff_columns import Column
from protolabel.datasets.readers.arff_header import unquote

# Rows are turned into arrays in blocks of about this many cells.
BLOCK_CELLS = 65_536


class ArffRows:
    """What dense and sparse rows have in common: columns, labels and checks."""

    def __init__(self, path: Path, columns: tuple[Column, ...], label_positions: list[int]) -> None:
        self.path = path
        self.columns = columns
        self.label_set = frozenset(label_positions)
        self.is_label = np.zeros(len(columns), dtype=bool)
        self.is_label[label_positions] = True
        # column of X or of Y that an attribute becomes
        self.target = np.where(
            self.is_label, np.cumsum(self.is_label) - 1, np.cumsum(~self.is_label) - 1
        )
        self.all_plain = all(column.is_plain for column in columns)
        self.is_zero_one = np.array(
            [column.is_plain and column.numbers == {0.0, 1.0} for column in columns]
        )
        self.is_zero_one |= self.is_label
        self.other_nominal = np.array(
            [column.is_plain and column.codes is not None for column in columns]
        )
        self.other_nominal &= ~self.is_zero_one
        self.values: list[float] = []
        self.numbers: list[int] = []
        self.labels = GrowingCsr(np.int32)

    def check_values(
        self, positions: NDArray[Any], values: NDArray[Any], line_numbers: NDArray[Any]
    ) -> None:
        """Refuse infinite numbers, labels that are not 0 or 1 and undeclared nominal values."""
        bad = np.isinf(values)
        odd = ~((values == 0) | (values == 1)) & self.is_zero_one[positions]
        bad |= odd & (self.is_label[positions] | ~np.isnan(values))
        for other in np.flatnonzero(self.other_nominal[positions] & ~np.isnan(values) & ~bad):
            bad[other] = float(values[other]) not in self.columns[positions[other]].numbers
        if bad.any():
            cell = int(np.flatnonzero(bad)[0])
            column = self.columns[positions[cell]]
            declared = ", ".join(column.attribute.values[:6])
            expected = f"one of {{{declared}}}" if declared else "a finite number"
            if self.is_label[positions[cell]]:
                expected = "0 or 1, for it is a label"
            raise problem_at(
                self.path,
                int(line_numbers[cell]),
                f"attribute {column.attribute.name!r} is {values[cell]:g}; expected {expected}",
            )

    def encode(self, position: int, token: str, number: int) -> float:
        """Turn one token into its number."""
        try:
            return self.columns[position].encode(unquote(token))
        except ValueError as error:
            name = self.columns[position].attribute.name
            raise problem_at(self.path, number, f"attribute {name!r}: {error}") from error
