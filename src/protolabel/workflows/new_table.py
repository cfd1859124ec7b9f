"""A CSV or Parquet table for a model that is there already: cells by the rules of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.datasets.growing import GrowingArray
from protolabel.datasets.limits import DEFAULT_LIMITS
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.table import TAG_COLUMN_NAMES
from protolabel.datasets.readers.table_columns import (
    TRUTH_WORDS,
    LabelColumn,
    TagColumn,
    TokenError,
    is_missing,
    is_number,
)
from protolabel.exceptions import DatasetError
from protolabel.preprocessing.table import MISSING_CODE, NumberRule, Numbers, WordRule, Words
from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.inputs import Inputs, column_rules
from protolabel.workflows.table_file import LIST_SEPARATOR, TableFile, open_table

_TAG_SEPARATORS = (";", "|", ",")


@dataclass(frozen=True, eq=False)
class NewTable:
    """Columns that a model reads, and what else was asked for."""

    columns: tuple[Numbers | Words, ...]
    Y: Any
    kept: dict[str, list[str]]
    notes: tuple[str, ...]


def read_new_table(
    path: Path,
    kind: str,
    inputs: Inputs,
    label_names: Sequence[str],
    options: FileOptions,
    wanted_labels: Sequence[str] | None,
    keep: Sequence[str],
) -> NewTable:
    """Read the columns that a model was trained on; the arguments are those of ``read_rows``."""
    with open_table(path, kind, delimiter=options.delimiter, encoding=options.encoding) as table:
        readers = _feature_readers(table, inputs, label_names, options)
        labels = None if wanted_labels is None else _LabelReader(table, wanted_labels, options)
        for name in keep:
            if name not in table.header:
                raise problem_at(
                    path, 1, f"there is no column {name!r}; there are {_some(table.header)}"
                )
        kept: dict[str, list[str]] = {name: [] for name in keep}
        place = {name: position for position, name in enumerate(table.header)}
        for block in table.blocks:
            by_name = {name: block.columns[position] for name, position in place.items()}
            try:
                for reader in readers:
                    reader.append(by_name[reader.name])
                if labels is not None:
                    labels.append(by_name)
            except TokenError as error:
                raise problem_at(path, block.line_numbers[error.row], str(error)) from error
            for name, cells in kept.items():
                cells.extend(by_name[name])
    columns = tuple(reader.finish() for reader in readers)
    notes = tuple(note for reader in readers for note in reader.notes())
    Y = None if labels is None else labels.finish(path)
    return NewTable(columns, Y, kept, notes)


def _feature_readers(
    table: TableFile, inputs: Inputs, label_names: Sequence[str], options: FileOptions
) -> list[_NumberReader | _WordReader]:
    rules = column_rules(inputs)
    if rules is None:
        others = {*label_names, *options.drop, options.tags}
        rules = [NumberRule(name, 0.0) for name in table.header if name not in others]
        if len(rules) != inputs.n_features:
            raise problem_at(
                table.path,
                1,
                f"{len(rules)} columns are no labels, but the model has {inputs.n_features} "
                "features; leave out the other columns",
            )
    missing = [rule.name for rule in rules if rule.name not in table.header]
    if missing:
        expected = {rule.name for rule in rules}
        other = [name for name in table.header if name not in expected | set(label_names)]
        hint = f" Of its columns the model does not know {_some(other)}." if other else ""
        raise problem_at(
            table.path,
            1,
            f"the table lacks {_some(missing)} of the {len(rules)} columns that the model was "
            f"trained on.{hint} Rename or add columns; cells may be empty where a value is unknown",
        )
    return [
        _WordReader(rule) if isinstance(rule, WordRule) else _NumberReader(rule.name)
        for rule in rules
    ]


class _NumberReader:
    """A column of numbers, yes and no, or nothing."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._values = GrowingArray(np.float64)

    def append(self, tokens: Sequence[str]) -> None:
        self._values.append([self._number(row, token.strip()) for row, token in enumerate(tokens)])

    def _number(self, row: int, token: str) -> float:
        if is_missing(token):
            return float("nan")
        if is_number(token):
            return float(token)
        if token.lower() in TRUTH_WORDS:
            return TRUTH_WORDS[token.lower()]
        raise TokenError(
            row,
            f"{token[:40]!r} in column {self.name!r} is not a number, as in the training data; "
            "correct the cell, or leave it empty if the value is unknown",
        )

    def finish(self) -> Numbers:
        return Numbers(self.name, self._values.finish())

    def notes(self) -> list[str]:
        return []


@dataclass
class _WordReader:
    """A column of words; those that the model never saw count as missing."""

    rule: WordRule
    _codes: list[int] = field(default_factory=list)
    _unseen: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.rule.name

    def __post_init__(self) -> None:
        self._code_of = {word: code for code, word in enumerate(self.rule.words)}

    def append(self, tokens: Sequence[str]) -> None:
        for token in tokens:
            word = token.strip()
            code = MISSING_CODE if is_missing(word) else self._code_of.get(word)
            if code is None:
                code = MISSING_CODE
                if len(self._unseen) < 1000 or word in self._unseen:
                    self._unseen[word] = self._unseen.get(word, 0) + 1
            self._codes.append(code)

    def finish(self) -> Words:
        return Words(self.name, np.array(self._codes, dtype=np.int64), self.rule.words)

    def notes(self) -> list[str]:
        if not self._unseen:
            return []
        return [
            f"column {self.name!r} has {sum(self._unseen.values())} cells with words that the "
            f"training data did not have, as {_some(list(self._unseen))}; they count as missing"
        ]


class _LabelReader:
    """The labels asked for, from columns of 0 and 1 or from a column of tags."""

    def __init__(self, table: TableFile, wanted: Sequence[str], options: FileOptions) -> None:
        self._wanted = list(wanted)
        self._separator = options.tag_separator
        self._tags = options.tags or _find_tags(table, wanted)
        self._label_columns: list[LabelColumn] = []
        self._tag_column: TagColumn | None = None
        if self._tags is None:
            self._label_columns = [LabelColumn(name) for name in wanted]
        elif self._tags not in table.header:
            raise problem_at(
                table.path, 1, f"there is no column {self._tags!r}; there are {_some(table.header)}"
            )
        elif self._tags in table.list_columns and self._separator is None:
            self._separator = LIST_SEPARATOR

    def append(self, by_name: Mapping[str, Sequence[str]]) -> None:
        for column in self._label_columns:
            column.append(by_name[column.name])
        if self._tags is None:
            return
        tokens = by_name[self._tags]
        if self._tag_column is None:
            separators = [self._separator] if self._separator else _TAG_SEPARATORS
            found = (mark for mark in separators if any(mark in token for token in tokens))
            self._tag_column = TagColumn(
                self._tags, next(found, self._separator), DEFAULT_LIMITS.max_columns
            )
        self._tag_column.append(tokens)

    def finish(self, path: Path) -> Any:
        if self._tag_column is not None:
            return self._placed_tags(*self._tag_column.finish(), path)
        if self._tags is not None:
            raise problem_at(path, 2, "the table has a header but no rows")
        values = [column.values.finish() for column in self._label_columns]
        return sp.csr_array(np.column_stack(values).astype(np.int32))

    def _placed_tags(self, Y: Any, names: Sequence[str], path: Path) -> Any:
        place = {name: position for position, name in enumerate(self._wanted)}
        known = [position for position, name in enumerate(names) if name in place]
        if names and not known:
            raise DatasetError(
                f"{path}: column {self._tags!r} has the tags {_some(names)}, none of which is a "
                f"label of the model; it has {_some(self._wanted)}. Check the separator of the tags"
            )
        columns = np.array([place[names[position]] for position in known], dtype=np.int64)
        entries = Y[:, known].tocoo()
        return sp.csr_array(
            (entries.data, (entries.row, columns[entries.col])),
            shape=(Y.shape[0], len(self._wanted)),
        )


def _find_tags(table: TableFile, wanted: Sequence[str]) -> str | None:
    """Name of a column of tags, where the labels have no columns of their own."""
    missing = [name for name in wanted if name not in table.header]
    if not missing:
        return None
    by_lower = {name.strip().lower(): name for name in table.header}
    found = [by_lower[name] for name in TAG_COLUMN_NAMES if name in by_lower]
    if found:
        return found[0]
    raise problem_at(
        table.path,
        1,
        f"there is no column for the labels {_some(missing)}, and none of tags; the columns are "
        f"{_some(table.header)}",
    )


def _some(names: Sequence[str]) -> str:
    text = ", ".join(repr(name) for name in names[:5])
    return text if len(names) <= 5 else f"{text} and {len(names) - 5} more"
