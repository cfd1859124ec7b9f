"""A table of numbers and words as a matrix, by rules learned from the training rows.

The rules are plain values: they are stored with a model as JSON, so that a model takes the
table as it is. A number that is missing becomes the mean of its column, or the more frequent one
of two whole ones: between yes and no, a mean would be neither. A column of words becomes one 0/1
column a word, all zero where the word is missing or was never seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from protolabel.exceptions import ModelFileError
from protolabel.preprocessing.two_values import two_values_of_rows
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.strict_json import shown

MISSING_CODE = -1


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers; NaN marks a missing one."""

    name: str
    values: NDArray[np.float64]

    @property
    def known(self) -> NDArray[np.float64]:
        """The numbers that are not missing."""
        return self.values[~np.isnan(self.values)]

    @property
    def two_values(self) -> tuple[float, float] | None:
        """The lower and the upper number of a column that has no others, both of them whole."""
        known = self.known
        if not known.size:
            return None
        lower, upper = two_values_of_rows(known[:, None])[:, 0].tolist()
        are_whole = float(lower).is_integer() and float(upper).is_integer()
        return (lower, upper) if are_whole else None


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words, as positions in ``words``; -1 marks a missing one."""

    name: str
    codes: NDArray[np.int64]
    words: tuple[str, ...]


TableColumns = Sequence[Numbers | Words]


@dataclass(frozen=True)
class NumberRule:
    """What becomes of a column of numbers: ``fill`` takes the place of missing ones.

    With ``is_truth`` there were but 0 and 1 among them, which yes and no may stand for.
    """

    name: str
    fill: float
    is_truth: bool = False


@dataclass(frozen=True)
class WordRule:
    """What becomes of a column of words: one 0/1 column each."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class TablePreprocessor:
    """Rules that turn the columns of a table into a dense matrix.

    Parameters
    ----------
    rules : tuple of NumberRule or WordRule
        One a column that is used, in the order of the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> size = Numbers("size", np.array([1.0, np.nan, 3.0, 5.0]))
    >>> colour = Words("colour", np.array([0, 1, 0, -1]), ("red", "blue"))
    >>> rules = TablePreprocessor.fit([size, colour])
    >>> rules.feature_names
    ('size', 'colour=red', 'colour=blue')
    >>> rules.words_of_columns
    ((1, 2),)
    >>> rules.transform([colour, size]).tolist()
    [[1.0, 1.0, 0.0], [3.0, 0.0, 1.0], [3.0, 1.0, 0.0], [5.0, 0.0, 0.0]]
    """

    rules: tuple[NumberRule | WordRule, ...]

    @classmethod
    def fit(cls, columns: TableColumns, rows: NDArray[Any] | None = None) -> Self:
        """Learn what takes the place of missing numbers, and words.

        Parameters
        ----------
        columns : sequence of Numbers or Words
            Columns with different names.
        rows : ndarray of int or None, default=None
            Rows to learn from; None for all.
        """
        return cls(tuple(_learn(column, rows) for column in columns))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of the matrix, ``column=word`` for a word."""
        names: list[str] = []
        for rule in self.rules:
            if isinstance(rule, WordRule):
                names += [f"{rule.name}={word}" for word in rule.words]
            else:
                names.append(rule.name)
        return tuple(names)

    @property
    def words_of_columns(self) -> tuple[tuple[int, ...], ...]:
        """Positions in the matrix of the words of each column of words."""
        positions: list[tuple[int, ...]] = []
        start = 0
        for rule in self.rules:
            width = len(rule.words) if isinstance(rule, WordRule) else 1
            if isinstance(rule, WordRule):
                positions.append(tuple(range(start, start + width)))
            start += width
        return tuple(positions)

    def transform(self, columns: TableColumns) -> NDArray[np.float64]:
        """Turn a table into a matrix; other columns are left out, the order does not matter.

        Parameters
        ----------
        columns : sequence of Numbers or Words
            Has a column of the right kind for every rule.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
        """
        by_name = {column.name: column for column in columns}
        missing = [rule.name for rule in self.rules if rule.name not in by_name]
        if missing:
            raise ValueError(
                f"the table lacks {_some(missing)} of the {len(self.rules)} columns that the model "
                "was trained on; add what is missing, leaving cells empty where unknown."
            )
        n_rows = _n_rows(columns)
        matrix = np.zeros((n_rows, len(self.feature_names)))
        position = 0
        for rule in self.rules:
            column = by_name[rule.name]
            if isinstance(rule, NumberRule):
                matrix[:, position] = _filled(rule, column)
                position += 1
            else:
                codes = _codes(rule, column)
                known = np.flatnonzero(codes != MISSING_CODE)
                matrix[known, position + codes[known]] = 1.0
                position += len(rule.words)
        return matrix

    def to_json(self) -> list[dict[str, Any]]:
        """The rules as plain values."""
        return [
            {"column": rule.name, "fill": rule.fill, "truth": rule.is_truth}
            if isinstance(rule, NumberRule)
            else {"column": rule.name, "words": list(rule.words)}
            for rule in self.rules
        ]

    @classmethod
    def from_json(cls, value: Any, path: Path) -> Self:
        """Read rules back, refusing what is none.

        Parameters
        ----------
        value : Any
            What was parsed.
        path : Path
            File that it came from, for messages.

        Raises
        ------
        ModelFileError
            The value is no list of rules.
        """
        if not isinstance(value, list):
            raise _refusal(path, f"the columns are {shown(value)}, not a list")
        rules = tuple(_parse_rule(entry, path) for entry in value)
        names = [rule.name for rule in rules]
        if len(set(names)) < len(names):
            raise _refusal(path, "a column has two rules")
        return cls(rules)


def _learn(column: Numbers | Words, rows: NDArray[Any] | None) -> NumberRule | WordRule:
    if isinstance(column, Words):
        codes = column.codes if rows is None else column.codes[rows]
        present = np.unique(codes[codes != MISSING_CODE])
        return WordRule(column.name, tuple(column.words[code] for code in present))
    seen = column if rows is None else Numbers(column.name, column.values[rows])
    is_truth = seen.known.size > 0 and bool(np.isin(seen.known, (0, 1)).all())
    return NumberRule(column.name, _fill(seen), is_truth)


def _fill(column: Numbers) -> float:
    """What takes the place of missing numbers; of two equally frequent ones the lower."""
    known = column.known
    if column.two_values is not None:
        lower, upper = column.two_values
        return upper if 2 * np.count_nonzero(known == upper) > known.size else lower
    # Divided first: the sum of very large numbers may overflow where their mean does not.
    return float(np.sum(known / max(known.size, 1)))


def _n_rows(columns: TableColumns) -> int:
    lengths = {
        len(column.values if isinstance(column, Numbers) else column.codes) for column in columns
    }
    if len(lengths) > 1:
        raise ValueError(f"the columns have {sorted(lengths)} rows; expected equally many.")
    return lengths.pop() if lengths else 0


def _filled(rule: NumberRule, column: Numbers | Words) -> NDArray[np.float64]:
    if not isinstance(column, Numbers):
        raise ValueError(
            f"column {rule.name!r} holds words such as {column.words[:1]}, it held numbers in the "
            "training data; correct its cells."
        )
    return np.where(np.isnan(column.values), rule.fill, column.values)


def _codes(rule: WordRule, column: Numbers | Words) -> NDArray[np.int64]:
    """Positions of the words among those of the rule."""
    if not isinstance(column, Words):
        raise ValueError(
            f"column {rule.name!r} holds numbers, it held the words {_some(rule.words)} in the "
            "training data; correct its cells."
        )
    position_of: Mapping[str, int] = {word: place for place, word in enumerate(rule.words)}
    places = [position_of.get(word, MISSING_CODE) for word in column.words]
    # The last entry serves the code -1.
    return np.array([*places, MISSING_CODE], dtype=np.int64)[column.codes]


def _parse_rule(entry: Any, path: Path) -> NumberRule | WordRule:
    has_words = isinstance(entry, dict) and "words" in entry
    # Models from before yes and no were told from numbers take both.
    has_truth = isinstance(entry, dict) and "truth" in entry
    of_numbers = {"column", "fill", "truth"} if has_truth else {"column", "fill"}
    fields = Fields(entry, "a column", path, {"column", "words"} if has_words else of_numbers)
    name = fields.text("column")
    if not has_words:
        fill = fields.number("fill")
        if not math.isfinite(fill):
            raise _refusal(path, f"the fill of column {shown(name)} is not finite")
        return NumberRule(name, fill, fields.flag("truth") if has_truth else True)
    words = fields.items("words")
    if any(not isinstance(word, str) for word in words) or len(set(words)) < len(words):
        raise _refusal(path, f"the words of column {shown(name)} are not different strings")
    return WordRule(name, tuple(words))


def _refusal(path: Path, found: str) -> ModelFileError:
    return ModelFileError(
        f"{path}: {found}. The file is damaged or was made by something else; train or fetch the "
        "model again."
    )


def _some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    text = ", ".join(repr(name) for name in names[:5])
    return text if len(names) <= 5 else f"{text} and {len(names) - 5} more"
