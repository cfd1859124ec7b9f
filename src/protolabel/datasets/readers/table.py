"""A user's table: which columns are labels, features or neither, and what was done to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from protolabel.datasets.categories import MAX_CATEGORIES, expand_categories
from protolabel.datasets.dataset import MultiLabelDataset, Provenance
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.table_cells import (
    TRUTH_WORDS,
    NumberParser,
    TokenError,
    is_infinite,
    is_missing,
    is_number,
    note_on_commas,
    plain_word,
    refuse_marks_of_thousands,
)
from protolabel.datasets.readers.table_columns import (
    CategoryColumn,
    DroppedColumn,
    EmptyColumn,
    FlagColumn,
    LabelColumn,
    NumberColumn,
    TableColumn,
)
from protolabel.datasets.readers.tag_column import LIST_SEPARATOR, TagColumn

TAG_COLUMN_NAMES = ("tags", "labels", "topics", "categories", "tag", "label")
_ROW_NUMBERS = "it numbers the rows"
# Fewer rows may well have rising numbers that say something of them.
_MIN_NUMBERED_ROWS = 10
# A column of so many numbers, and a few words, is one of numbers with mistakes in it, not of codes.
_SHARE_OF_NUMBERS, _MOST_NUMBERS_OF_A_CODE = 0.8, 12
_IDENTIFIER_NAMES = frozenset({"", "id", "index", "row", "row_id", "unnamed: 0"})


@dataclass(frozen=True)
class TableOptions:
    """What the user says about the columns of a table.

    Parameters
    ----------
    labels : sequence of str, default=None
        Names of the label columns.
    tags : str, default=None
        Name of a column with several labels a cell. With neither, a column named tags, labels
        or the like is used.
    tag_separator : str, default=None
        What stands between tags; None takes the first of semicolon, bar and comma that occurs.
    categorical : sequence of str, default=()
        Columns of words, even where they look like numbers.
    drop : sequence of str, default=()
        Columns to leave out.
    max_categories : int, default=64
        Columns of words with more different values than this are left out.
    """

    labels: Sequence[str] | None = None
    tags: str | None = None
    tag_separator: str | None = None
    categorical: Sequence[str] = ()
    drop: Sequence[str] = ()
    max_categories: int = MAX_CATEGORIES


class TableBuilder:
    """Collect the columns of a table block by block.

    Parameters
    ----------
    path : Path
        Named in errors.
    header : list of str
        Names of the columns.
    options : TableOptions
        What the user says about them.
    limits : ReadLimits, default=DEFAULT_LIMITS
        How many labels to accept.
    list_columns : frozenset of str, default=frozenset()
        Columns whose cells are lists, joined by ``LIST_SEPARATOR``.
    index_columns : frozenset of str, default=frozenset()
        Columns that name the rows, features only where ``categorical`` has them.
    decimal_commas : bool, default=False
        Whether 0,5 is a number.
    """

    def __init__(
        self,
        path: Path,
        header: list[str],
        options: TableOptions,
        limits: ReadLimits = DEFAULT_LIMITS,
        *,
        list_columns: frozenset[str] = frozenset(),
        index_columns: frozenset[str] = frozenset(),
        decimal_commas: bool = False,
    ) -> None:
        self.path = path
        self.header = header
        self.options = options
        self.limits = limits
        self.list_columns = list_columns
        self.index_columns = index_columns
        self.decimal_commas = decimal_commas
        self.notes: list[str] = []
        self.columns: list[TableColumn] = []
        self._check_header()
        self.tag_name = self._find_tags()

    def add_block(self, columns: Sequence[Sequence[str]], line_numbers: Sequence[int]) -> None:
        """Add rows given column by column; the first block with a value decides on a column."""
        if not self.columns:
            self.columns = [EmptyColumn(name) for name in self.header]
        for position, (column, tokens) in enumerate(zip(self.columns, columns, strict=True)):
            try:
                if isinstance(column, EmptyColumn):
                    self.columns[position] = self._decide(column, tokens)
                elif isinstance(column, FlagColumn):
                    self.columns[position] = column.as_numbers(tokens) or column
                self.columns[position].append(tokens)
            except TokenError as error:
                raise problem_at(self.path, line_numbers[error.row], str(error)) from error

    @property
    def tag_separator(self) -> str | None:
        """What tags were split at; None where nothing was, or where cells are lists."""
        marks = [column.separator for column in self.columns if isinstance(column, TagColumn)]
        return next((mark for mark in marks if mark != LIST_SEPARATOR), None)

    def finish(self, name: str) -> MultiLabelDataset:
        """Return the dataset."""
        if not self.columns:
            raise problem_at(self.path, 2, "the table has a header but no rows")
        self.columns = [_settled(column) for column in self.columns]
        refuse_marks_of_thousands(self.path, self._parsers())
        Y, label_names = self._labels()
        if not label_names:
            raise problem_at(self.path, 1, f"column {self.tag_name!r} holds no tag in any row")
        X, feature_names, notes = self._features()
        return MultiLabelDataset(
            name=name,
            X=X,
            Y=Y,
            feature_names=feature_names,
            label_names=label_names,
            provenance=Provenance(source=str(self.path), notes=(*self.notes, *notes)),
        )

    def _check_header(self) -> None:
        name, count = Counter(self.header).most_common(1)[0]
        if count > 1:
            raise problem_at(self.path, 1, f"column {name!r} occurs {count} times; rename one")
        known = set(self.header)
        holding_labels = [*(self.options.labels or ())]
        holding_labels += [self.options.tags] if self.options.tags is not None else []
        if self.options.labels is not None and not holding_labels:
            raise problem_at(
                self.path, 1, "no label column was named; name one or more (labels=, --labels)"
            )
        for name in (*holding_labels, *self.options.categorical, *self.options.drop):
            if name not in known:
                raise problem_at(
                    self.path,
                    1,
                    f"there is no column {name!r}; the columns are {', '.join(self.header[:20])}",
                )
        for name in holding_labels:
            if name in self.options.drop:
                raise problem_at(
                    self.path,
                    1,
                    f"column {name!r} is to hold labels and to be dropped; name it once",
                )

    def _parsers(self) -> list[NumberParser]:
        return [column.parser for column in self.columns if isinstance(column, NumberColumn)]

    def _find_tags(self) -> str | None:
        if self.options.tags is not None or self.options.labels is not None:
            return self.options.tags
        others = {*self.index_columns, *self.options.drop}
        by_lower = {name.strip().lower(): name for name in self.header if name not in others}
        for candidate in TAG_COLUMN_NAMES:
            if candidate in by_lower:
                self.notes.append(f"column {by_lower[candidate]!r} was taken as the tags")
                return by_lower[candidate]
        raise problem_at(
            self.path,
            1,
            "cannot tell which columns are labels; name label columns (labels=, --labels) or a "
            f"column of tags (tags=, --tags). The columns are {', '.join(self.header[:20])}",
        )

    def _decide(self, column: EmptyColumn, tokens: Sequence[str]) -> TableColumn:
        """Return what a column is, holding the rows that it had no value in."""
        decided = self._plan(column, tokens)
        if decided is not column and column.n_rows:
            decided.append([""] * column.n_rows)
        return decided

    def _plan(self, column: EmptyColumn, tokens: Sequence[str]) -> TableColumn:
        """Decide what a column is from its first block with a value."""
        name = column.name
        if name == self.tag_name:
            is_list = self.options.tag_separator is None and name in self.list_columns
            separator = LIST_SEPARATOR if is_list else self.options.tag_separator
            return TagColumn(
                name, separator, self.limits.max_columns, may_be_lists=separator is None
            )
        if name in (self.options.labels or ()):
            return LabelColumn(name)
        if name in self.options.drop:
            return DroppedColumn(name, "as asked")
        if name in self.options.categorical:
            return CategoryColumn(name, self.options.max_categories)
        if name in self.index_columns:
            return DroppedColumn(name, "it is the index of the table")
        present = [token.strip() for token in tokens if not is_missing(token.strip())]
        if not present:
            return column
        distinct = set(present)
        if _is_flag(distinct, column.n_rows + len(tokens) > len(present)):
            return FlagColumn(name, self.options.max_categories, decimal_commas=self.decimal_commas)
        # An infinite number is refused as a cell of a column of numbers, with its line.
        if all(
            is_number(token, decimal_comma=self.decimal_commas) or is_infinite(token)
            for token in distinct
        ):
            is_identifier = name.strip().lower() in _IDENTIFIER_NAMES and not column.n_rows
            if is_identifier and len(distinct) == len(tokens) > 1:
                return DroppedColumn(name, _ROW_NUMBERS)
            return NumberColumn(name, decimal_commas=self.decimal_commas)
        if {token.lower() for token in distinct} <= TRUTH_WORDS.keys():
            self.notes.append(f"column {name!r} was encoded as 1 for yes and 0 for no")
            return NumberColumn(name, is_truth=True)
        self._check_words(name, tokens)
        return CategoryColumn(name, self.options.max_categories)

    def _check_words(self, name: str, tokens: Sequence[str]) -> None:
        """Refuse a column of numbers with some cells that are none, which would lose its order."""
        words, numbers, n_numbers = [], set(), 0
        for row, token in enumerate(tokens):
            text = token.strip()
            if is_number(text, decimal_comma=self.decimal_commas):
                numbers.add(text)
                n_numbers += 1
            elif not is_missing(text):
                words.append((row, text))
        if len(numbers) > _MOST_NUMBERS_OF_A_CODE and n_numbers >= _SHARE_OF_NUMBERS * (
            n_numbers + len(words)
        ):
            row, text = words[0]
            raise TokenError(
                row,
                f"{text[:40]!r} in column {name!r} is not a number, and {n_numbers} other cells of "
                "the first rows are; correct it, leave it empty if the value is unknown, or name "
                "the column as categorical or drop it (categorical=, drop=; --categorical, --drop)",
            )

    def _labels(self) -> tuple[Any, tuple[str, ...]]:
        """Return the label matrix and the names of its columns."""
        parts = [column for column in self.columns if isinstance(column, LabelColumn)]
        matrices: list[Any] = []
        names: tuple[str, ...] = ()
        if parts:
            stacked = np.column_stack([column.values.finish() for column in parts])
            matrices.append(sparse.csr_matrix(stacked, dtype=np.int32))
            names = tuple(column.name for column in parts)
        for column in self.columns:
            if isinstance(column, TagColumn):
                Y, tags = column.finish()
                matrices.append(Y)
                names += tags
                self.notes += column.note_on_missing()
                if column.reads_lists:
                    self.notes.append("the cells of the tags were read as lists")
                elif self.options.tag_separator is None and self.tag_separator is not None:
                    self.notes.append(f"tags were split at {self.tag_separator!r}")
                elif column.separator is None:
                    self.notes.append(
                        "each cell of the tags was taken as one tag: no separator was found"
                    )
        return sparse.hstack(matrices, format="csr", dtype=np.int32), names

    def _features(self) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
        """Return the features, their names and a message for every column changed."""
        notes: list[str] = []
        arrays: list[Any] = []
        names: list[str] = []
        categories: dict[int, tuple[str, ...]] = {}
        n_rows = 0
        for column in self.columns:
            if isinstance(column, NumberColumn):
                array = column.values.finish()
                if column.n_missing:
                    notes.append(
                        f"column {column.name!r} has {column.n_missing} missing values, read as "
                        "NaN; impute them before fitting"
                    )
                if column.leading_zero is not None:
                    notes.append(
                        f"column {column.name!r} was read as numbers, {column.leading_zero!r} "
                        "among them; if they are codes, name it as categorical or drop it "
                        "(categorical=, drop=; --categorical, --drop)"
                    )
            elif isinstance(column, CategoryColumn):
                array = column.codes.finish()
                categories[len(names)] = tuple(column.code_of)
            else:
                if isinstance(column, DroppedColumn):
                    notes.append(f"column {column.name!r} was dropped: {column.reason}")
                continue
            n_rows = array.size
            arrays.append(array)
            names.append(column.name)
        notes += note_on_commas(self._parsers())
        if not arrays:
            reasons = "; ".join(notes) or "all are labels"
            raise problem_at(self.path, 1, f"no column can serve as a feature ({reasons})")
        X = np.column_stack(arrays).reshape(n_rows, len(arrays))
        X, kept, encoded = expand_categories(X, names, categories, {}, self.options.max_categories)
        return X, kept, (*encoded, *notes)


def _settled(column: TableColumn) -> TableColumn:
    """What a column is after all rows: some turn out to be no features."""
    if isinstance(column, EmptyColumn):
        return DroppedColumn(column.name, "it holds no value")
    if isinstance(column, NumberColumn) and _counts(column.values.finish()):
        return DroppedColumn(column.name, _ROW_NUMBERS)
    return column


def _counts(values: Any) -> bool:
    """Whether numbers run from 0 or 1 on, one a row."""
    if len(values) < _MIN_NUMBERED_ROWS or values[0] not in (0, 1):
        return False
    return bool(np.array_equal(values, values[0] + np.arange(len(values))))


def _is_flag(distinct: set[str], has_blanks: bool) -> bool:
    """Whether cells say yes or nothing: as a missing number, nothing would become the mean yes.

    A lone 0 is a number like others that may follow.
    """
    words = {plain_word(word) for word in distinct}
    if not has_blanks or len(words) != 1:
        return False
    (word,) = words
    return word != "0" and word in TRUTH_WORDS
