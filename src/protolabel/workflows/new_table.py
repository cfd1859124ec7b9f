"""A CSV or Parquet table for a model that is there already: cells by the rules of the model."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from protolabel.datasets.growing import GrowingArray
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.table_cells import (
    TRUTH_WORDS,
    NumberParser,
    TokenError,
    infinite_cell,
    is_infinite,
    is_missing,
    note_on_commas,
    plain_word,
    refuse_marks_of_thousands,
)
from protolabel.preprocessing.table import MISSING_CODE, NumberRule, Numbers, WordRule, Words
from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.inputs import Inputs, column_rules
from protolabel.workflows.new_labels import LabelReader
from protolabel.workflows.table_file import TableFile, open_table
from protolabel.workflows.wording import some_names


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
        labels = None
        if wanted_labels is not None:
            labels = LabelReader(table, wanted_labels, label_names, inputs, options)
        taken = {*options.drop, *(labels.columns if labels is not None else ())}
        if options.tags is not None:
            taken.add(options.tags)
        readers = _feature_readers(table, inputs, label_names, frozenset(taken))
        for name in keep:
            if name not in table.header:
                raise problem_at(
                    path, 1, f"there is no column {name!r}; there are {some_names(table.header)}"
                )
        kept: dict[str, list[str]] = {name: [] for name in keep}
        place = _places(table.header, [reader.name for reader in readers])
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
    numbers = [reader.parser for reader in readers if isinstance(reader, _NumberReader)]
    refuse_marks_of_thousands(path, numbers)
    columns = tuple(reader.finish() for reader in readers)
    notes = note_on_commas(numbers)
    notes += [note for reader in readers for note in reader.notes()]
    Y = None
    if labels is not None:
        Y = labels.finish()
        notes += labels.notes()
    return NewTable(columns, Y, kept, tuple(notes))


def _places(header: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Where each column is, and those wanted whose accents are written in another way."""
    place = {name: position for position, name in enumerate(header)}
    alike = {unicodedata.normalize("NFC", name): position for name, position in place.items()}
    for name in wanted:
        composed = unicodedata.normalize("NFC", name)
        if name not in place and composed in alike:
            place[name] = alike[composed]
    return place


def _feature_readers(
    table: TableFile, inputs: Inputs, label_names: Sequence[str], taken: frozenset[str]
) -> list[_NumberReader | _WordReader]:
    """Readers of the columns that the model takes; those in ``taken`` hold something else."""
    rules = column_rules(inputs)
    if rules is None:
        names = _unnamed_columns(table, inputs.n_features, label_names, taken)
        rules = [NumberRule(name, 0.0) for name in names]
    place = _places(table.header, [rule.name for rule in rules])
    missing = [rule.name for rule in rules if rule.name not in place]
    if missing:
        expected = {rule.name for rule in rules}
        other = [name for name in table.header if name not in expected | set(label_names)]
        hint = f" Of its columns the model does not know {some_names(other)}." if other else ""
        raise problem_at(
            table.path,
            1,
            f"the table lacks {some_names(missing)} of the {len(rules)} columns that the model was "
            f"trained on.{hint} Rename or add columns; cells may be empty where a value is unknown",
        )
    return [
        _WordReader(rule)
        if isinstance(rule, WordRule)
        else _NumberReader(rule, decimal_commas=table.decimal_commas)
        for rule in rules
    ]


def _unnamed_columns(
    table: TableFile, n_features: int, label_names: Sequence[str], taken: frozenset[str]
) -> list[str]:
    """Columns for a model whose features have no names: all that hold no labels, in order."""
    free = [name for name in table.columns() if name not in taken]
    columns = [name for name in free if name not in label_names]
    # Labels without names are called 0, 1, 2, and so are the columns of a table without names.
    if _are_numbers(label_names) and columns:
        has_names = any(name and not name.isdecimal() for name in free)
        if taken.isdisjoint(label_names):
            columns = free if len(free) == n_features or not has_names else columns
        elif not has_names:
            raise problem_at(
                table.path,
                1,
                f"the labels of the model are mere numbers, and so is column {columns[0]!r}, which "
                "is none of them; give the columns that hold no labels other names",
            )
    if len(columns) != n_features:
        raise problem_at(
            table.path,
            1,
            f"{len(columns)} columns are no labels, but the model has {n_features} features; leave "
            "out the other columns",
        )
    return columns


def _are_numbers(names: Sequence[str]) -> bool:
    return all(name.isdecimal() for name in names)


class _NumberReader:
    """A column of numbers; of yes and no, too, where the training rows had but 0 and 1."""

    def __init__(self, rule: NumberRule, *, decimal_commas: bool = False) -> None:
        self.name = rule.name
        self._is_truth = rule.is_truth
        self._values = GrowingArray(np.float64)
        self.parser = NumberParser(rule.name, decimal_commas=decimal_commas)

    def append(self, tokens: Sequence[str]) -> None:
        self._values.append([self._number(row, token.strip()) for row, token in enumerate(tokens)])

    def _number(self, row: int, token: str) -> float:
        if is_missing(token):
            return float("nan")
        number = self.parser.parse(row, token)
        if number is not None:
            return number
        if self._is_truth and token.lower() in TRUTH_WORDS:
            return TRUTH_WORDS[token.lower()]
        if is_infinite(token):
            raise infinite_cell(row, token, self.name)
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
    """A column of words; those that the model never saw count as missing.

    A word that is only spelt in another way, as 1.0 for 1, counts as seen.
    """

    rule: WordRule
    _codes: list[int] = field(default_factory=list)
    _unseen: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.rule.name

    def __post_init__(self) -> None:
        self._code_of = {word: code for code, word in enumerate(self.rule.words)}
        self._code_of_plain = {plain_word(word): code for word, code in self._code_of.items()}

    def append(self, tokens: Sequence[str]) -> None:
        for token in tokens:
            word = token.strip()
            code = MISSING_CODE if is_missing(word) else self._find(word)
            if code is None:
                code = MISSING_CODE
                if len(self._unseen) < 1000 or word in self._unseen:
                    self._unseen[word] = self._unseen.get(word, 0) + 1
            self._codes.append(code)

    def _find(self, word: str) -> int | None:
        code = self._code_of.get(word)
        return self._code_of_plain.get(plain_word(word)) if code is None else code

    def finish(self) -> Words:
        return Words(self.name, np.array(self._codes, dtype=np.int64), self.rule.words)

    def notes(self) -> list[str]:
        if not self._unseen:
            return []
        return [
            f"column {self.name!r} has {sum(self._unseen.values())} cells with words that the "
            f"training data did not have, as {some_names(list(self._unseen))}; they count as "
            "missing"
        ]
