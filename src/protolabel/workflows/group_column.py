"""The column of a table that says which rows belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.csv_blocks import Block
from protolabel.datasets.readers.table_cells import is_missing
from protolabel.workflows.table_file import TableFile


class GroupColumn:
    """Collects the groups of the rows, block by block.

    Parameters
    ----------
    table : TableFile
    name : str
        A column of the table.
    """

    def __init__(self, table: TableFile, name: str) -> None:
        self.path, self.name = table.path, name
        self._place = table.header.index(name)
        self._names: list[str] = []

    def add_block(self, block: Block) -> None:
        """Take over the cells of some rows."""
        for cell, line in zip(block.columns[self._place], block.line_numbers, strict=True):
            name = cell.strip()
            if is_missing(name):
                raise problem_at(
                    self.path,
                    line,
                    f"the cell of column {self.name!r}, which names the group of a row, is empty; "
                    "give a row that belongs to no other a name of its own",
                )
            self._names.append(name)

    def note(self) -> str:
        """What was found."""
        n_groups = len(set(self._names))
        return f"column {self.name!r} says which rows belong together: {n_groups} groups"

    def finish(self) -> NDArray[np.str_]:
        """Names of the groups of all rows."""
        return np.array(self._names, dtype=np.str_)
