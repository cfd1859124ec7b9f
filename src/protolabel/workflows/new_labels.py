"""Labels of a table for a model that is there already: columns of 0 and 1, or tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.datasets.limits import DEFAULT_LIMITS
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.table import TAG_COLUMN_NAMES
from protolabel.datasets.readers.table_columns import LabelColumn
from protolabel.datasets.readers.tag_column import LIST_SEPARATOR, TAG_SEPARATORS, TagColumn
from protolabel.exceptions import DatasetError
from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.inputs import Inputs, TableInputs
from protolabel.workflows.table_file import TableFile
from protolabel.workflows.wording import some_names


class LabelReader:
    """The labels asked for, from columns of 0 and 1 or from a column of tags.

    Parameters
    ----------
    table : TableFile
    wanted : sequence of str
        Labels to read, in their order.
    label_names : sequence of str
        All labels of the model.
    inputs : Inputs
        What the model takes; it knows what stood between tags in training.
    options : FileOptions
    """

    def __init__(
        self,
        table: TableFile,
        wanted: Sequence[str],
        label_names: Sequence[str],
        inputs: Inputs,
        options: FileOptions,
    ) -> None:
        self._wanted = list(wanted)
        self._label_names = label_names
        self._path = table.path
        self._label_columns: list[LabelColumn] = []
        self._tag_column: TagColumn | None = None
        self._n_unknown = 0
        self._unknown: tuple[str, ...] = ()
        tags = options.tags or _find_tags(table, wanted)
        if tags is None:
            self._label_columns = [LabelColumn(name) for name in wanted]
            return
        if tags not in table.header:
            raise problem_at(
                table.path, 1, f"there is no column {tags!r}; there are {some_names(table.header)}"
            )
        separator = options.tag_separator
        if separator is None and tags in table.list_columns:
            separator = LIST_SEPARATOR
        elif separator is None and isinstance(inputs, TableInputs):
            separator = inputs.tag_separator
        # What a label of the model contains did not stand between its labels.
        possible = [
            mark for mark in TAG_SEPARATORS if not any(mark in name for name in label_names)
        ]
        may_be_lists = (
            options.tag_separator is None
            and separator != LIST_SEPARATOR
            and not any(name.startswith("[") for name in label_names)
        )
        self._tag_column = TagColumn(
            tags,
            separator,
            DEFAULT_LIMITS.max_columns,
            possible,
            may_be_lists=may_be_lists,
            known=label_names,
        )

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns that labels are read from."""
        tags = [self._tag_column] if self._tag_column is not None else []
        return frozenset(column.name for column in [*self._label_columns, *tags])

    def append(self, by_name: Mapping[str, Sequence[str]]) -> None:
        """Add the cells of a block of rows."""
        for column in self._label_columns:
            column.append(by_name[column.name])
        if self._tag_column is not None:
            self._tag_column.append(by_name[self._tag_column.name])

    def finish(self) -> Any:
        """Return the labels as a CSR array with a column for each one asked for."""
        if self._tag_column is not None:
            Y, names = self._tag_column.finish()
            labels = self._placed_tags(Y, names, self._tag_column.name)
        else:
            values = [column.values.finish() for column in self._label_columns]
            labels = sp.csr_array(np.column_stack(values).astype(np.int32))
        if not labels.shape[0]:
            raise problem_at(self._path, 2, "the table has a header but no rows")
        return labels

    def notes(self) -> list[str]:
        """What a person should know about the labels; to be asked for at the end."""
        if self._tag_column is None:
            return []
        notes = self._tag_column.note_on_missing()
        if not self._n_unknown:
            return notes
        return [
            *notes,
            f"column {self._tag_column.name!r} has {self._n_unknown} tags that the model does not "
            f"know, as {some_names(self._unknown)}; they are left out. If these are several tags "
            "each, say with --tag-separator what stands between them",
        ]

    def _placed_tags(self, Y: Any, names: Sequence[str], column: str) -> Any:
        known = set(self._label_names)
        unknown = [position for position, name in enumerate(names) if name not in known]
        self._unknown = tuple(names[position] for position in unknown)
        self._n_unknown = int(np.isin(Y.indices, unknown).sum())
        if names and len(unknown) == len(names):
            raise DatasetError(
                f"{self._path}: column {column!r} has the tags {some_names(names)}, none of which "
                f"is a label of the model; it has {some_names(self._label_names)}. Check the "
                "separator of the tags"
            )
        place = {name: position for position, name in enumerate(self._wanted)}
        found = [position for position, name in enumerate(names) if name in place]
        columns = np.array([place[names[position]] for position in found], dtype=np.int64)
        entries = Y[:, found].tocoo()
        return sp.csr_array(
            (entries.data, (entries.row, columns[entries.col])),
            shape=(Y.shape[0], len(self._wanted)),
        )


def _find_tags(table: TableFile, wanted: Sequence[str]) -> str | None:
    """Name of a column of tags, where the labels have no columns of their own."""
    missing = [name for name in wanted if name not in table.header]
    if not missing:
        return None
    by_lower = {name.strip().lower(): name for name in table.columns()}
    found = [by_lower[name] for name in TAG_COLUMN_NAMES if name in by_lower]
    if found:
        return found[0]
    raise problem_at(
        table.path,
        1,
        f"there is no column for the labels {some_names(missing)}, and none of tags; the columns "
        f"are {some_names(table.header)}",
    )
