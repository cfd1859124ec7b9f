"""Columns of a user's table while it is read: numbers, categories, labels, tags."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets.categories import MAX_CATEGORIES
from protolabel.datasets.growing import GrowingArray, GrowingCsr
from protolabel.datasets.readers.list_cells import parse_list

MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
TRUTH_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
# The first of them that occurs stands between tags, unless the user says what does.
TAG_SEPARATORS = (";", "|", ",")
# What joins the items of a list cell, so that lists and delimited cells take one way.
LIST_SEPARATOR = "\x1f"
_INFINITE = re.compile(r"[-+]?(?:inf|infinity|∞)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
# What programs make of whole numbers beside blanks; ,000 would be a thousand.
_WHOLE = re.compile(r"([-+]?\d+)(?:\.0*|,0)", re.ASCII)


class TableColumn(ABC):
    """One column that tokens are appended to, block by block.

    Parameters
    ----------
    name : str
        Name in the header.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def append(self, tokens: Sequence[str]) -> None:
        """Add the tokens of a block of rows; TokenError names the one that does not fit."""


class TokenError(ValueError):
    """A token that does not fit its column.

    Parameters
    ----------
    row : int
        Its row within the block.
    problem : str
        What is wrong with it.
    """

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


class EmptyColumn(TableColumn):
    """A column without any value so far; the first value will decide what it is."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.n_rows = 0

    def append(self, tokens: Sequence[str]) -> None:
        """Count the rows."""
        self.n_rows += len(tokens)


class NumberColumn(TableColumn):
    """Numbers; yes and no count as 1 and 0, missing values become NaN."""

    def __init__(self, name: str, *, is_truth: bool = False, decimal_commas: bool = False) -> None:
        super().__init__(name)
        self.is_truth = is_truth
        self._parser = NumberParser(name, decimal_commas=decimal_commas)
        self.values = GrowingArray(np.float64)
        self.n_missing = 0

    @property
    def has_commas(self) -> bool:
        """Whether numbers with a decimal comma were found."""
        return self._parser.has_commas

    def append(self, tokens: Sequence[str]) -> None:
        """Add a block of tokens."""
        self.values.append([self._number(row, token.strip()) for row, token in enumerate(tokens)])

    def _number(self, row: int, token: str) -> float:
        if is_missing(token):
            self.n_missing += 1
            return float("nan")
        if self.is_truth and token.lower() in TRUTH_WORDS:
            return TRUTH_WORDS[token.lower()]
        number = self._parser.parse(row, token)
        if number is not None:
            return number
        if is_infinite(token):
            raise infinite_cell(row, token, self.name)
        kind = "yes or no" if self.is_truth else "a number"
        raise TokenError(
            row,
            f"{token[:40]!r} in column {self.name!r} is not {kind}, as the first rows are; if it "
            "holds words, name the column as categorical or drop it (categorical=, drop=; "
            "--categorical, --drop)",
        )


class NumberParser:
    """Numbers of a column: all with a decimal point, or all with a decimal comma.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    decimal_commas : bool, default=False
        Whether 0,5 is a number.
    """

    def __init__(self, name: str, *, decimal_commas: bool = False) -> None:
        self._name = name
        self._decimal_commas = decimal_commas
        self._mark = ""

    @property
    def has_commas(self) -> bool:
        """Whether numbers with a decimal comma were found."""
        return self._mark == ","

    def parse(self, row: int, token: str) -> float | None:
        """The number that a stripped token is, None if it is none."""
        if not is_number(token, decimal_comma=self._decimal_commas):
            return None
        mark = "," if "," in token else "." if "." in token else ""
        if mark and self._mark not in ("", mark):
            raise TokenError(
                row,
                f"{token[:40]!r} in column {self._name!r} has {mark!r} where numbers before it "
                f"have {self._mark!r}; write all of them in one way, without marks of thousands, "
                "or drop the column (drop=, --drop)",
            )
        self._mark = self._mark or mark
        return float(token.replace(",", "."))


class CategoryColumn(TableColumn):
    """Words, numbered in the order of their first occurrence, which also gives the spelling."""

    def __init__(self, name: str, max_categories: int = MAX_CATEGORIES) -> None:
        super().__init__(name)
        self.max_categories = max_categories
        self.codes = GrowingArray(np.float64)
        self.code_of: dict[str, int] = {}
        self._code_of_plain: dict[str, int] = {}

    def append(self, tokens: Sequence[str]) -> None:
        """Add a block of tokens; beyond the limit new words are not remembered."""
        codes: list[float] = []
        for token in tokens:
            text = token.strip()
            if is_missing(text):
                codes.append(float("nan"))
                continue
            plain = plain_word(text)
            if plain not in self._code_of_plain and len(self.code_of) <= self.max_categories:
                self._code_of_plain[plain] = self.code_of[text] = len(self.code_of)
            codes.append(self._code_of_plain.get(plain, float("nan")))
        self.codes.append(codes)


class FlagColumn(CategoryColumn):
    """One word or nothing in all rows so far."""

    def __init__(
        self, name: str, max_categories: int = MAX_CATEGORIES, *, decimal_commas: bool = False
    ) -> None:
        super().__init__(name, max_categories)
        self._decimal_commas = decimal_commas

    def as_numbers(self, tokens: Sequence[str]) -> NumberColumn | None:
        """The rows so far as numbers, if the next ones show that the column holds numbers."""
        words = [plain_word(token.strip()) for token in tokens if not is_missing(token.strip())]
        is_counting = any(
            word not in TRUTH_WORDS and is_number(word, decimal_comma=self._decimal_commas)
            for word in words
        )
        if list(self._code_of_plain) != ["1"] or not is_counting:
            return None
        numbers = NumberColumn(self.name, decimal_commas=self._decimal_commas)
        numbers.append(["" if np.isnan(code) else "1" for code in self.codes.finish()])
        return numbers


class DroppedColumn(TableColumn):
    """A column that is no feature."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name)
        self.reason = reason

    def append(self, tokens: Sequence[str]) -> None:
        """Forget the tokens."""


class LabelColumn(TableColumn):
    """One label: 0 or 1, yes or no."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.values = GrowingArray(np.int8)

    def append(self, tokens: Sequence[str]) -> None:
        """Add a block of tokens."""
        self.values.append([self._truth(row, token) for row, token in enumerate(tokens)])

    def _truth(self, row: int, token: str) -> float:
        text = plain_word(token.strip())
        truth = TRUTH_WORDS.get(text.lower())
        if truth is None and is_number(text) and float(text) in (0.0, 1.0):
            truth = float(text)
        if truth is None:
            raise TokenError(
                row, f"{token[:40]!r} in label column {self.name!r} is neither 0 nor 1, yes nor no"
            )
        return truth


class TagColumn(TableColumn):
    """Several labels in one cell, split at a separator or written as a list.

    A cell that says NA, none or the like holds no label.

    Parameters
    ----------
    name : str
        Name in the header.
    separator : str or None
        What stands between tags; None takes the first of ``possible`` that a cell has.
    max_tags : int
        How many different tags to accept.
    possible : sequence of str, default=TAG_SEPARATORS
        Separators to look for, those that come first being preferred.
    may_be_lists : bool, default=False
        Whether cells are read as lists where all of the first rows are the text of one.
    known : collection of str, default=()
        Tags that stand for themselves even if they are words such as none.
    """

    def __init__(
        self,
        name: str,
        separator: str | None,
        max_tags: int,
        possible: Sequence[str] = TAG_SEPARATORS,
        *,
        may_be_lists: bool = False,
        known: Collection[str] = (),
    ) -> None:
        super().__init__(name)
        self.separator = separator
        self.max_tags = max_tags
        self.entries = GrowingCsr(np.int32)
        self.code_of: dict[str, int] = {}
        self.missing: Counter[str] = Counter()
        self.reads_lists: bool | None = None if may_be_lists else False
        self._possible = possible if separator is None else ()
        self._known = frozenset(known)

    def append(self, tokens: Sequence[str]) -> None:
        """Add a block of cells."""
        if self.separator != LIST_SEPARATOR:
            tokens = [self._without_missing(token) for token in tokens]
        if self.reads_lists is None:
            self._find_lists(tokens)
        if self.reads_lists:
            self.append_lists([self._items(row, token) for row, token in enumerate(tokens)])
            return
        self._find_separator(tokens)
        self.append_lists(
            [token.split(self.separator) if self.separator else [token] for token in tokens]
        )

    def note_on_missing(self) -> list[str]:
        """What to say of cells with a word for no value, if there are any."""
        if not self.missing:
            return []
        words = ", ".join(repr(word) for word in self.missing)
        return [f"{self.missing.total()} cells of the tags, {words}, were taken as no tag"]

    def _without_missing(self, token: str) -> str:
        word = token.strip()
        if not word or not is_missing(word) or word in self._known:
            return token
        self.missing[word] += 1
        return ""

    def _find_lists(self, tokens: Sequence[str]) -> None:
        """Let the first cells that say something decide whether cells are lists."""
        filled = [token for token in tokens if token.strip()]
        if filled:
            self.reads_lists = all(parse_list(token) is not None for token in filled)
        if self.reads_lists:
            self.separator = None
            self._possible = ()

    def _items(self, row: int, token: str) -> list[str]:
        items = parse_list(token) if token.strip() else []
        if items is None:
            raise TokenError(
                row,
                f"{token[:40]!r} in column {self.name!r} is no list such as ['a', 'b'], as the "
                "cells before it are; write it as a list, or say with tag_separator what stands "
                "between tags",
            )
        return items

    def _find_separator(self, tokens: Sequence[str]) -> None:
        """Take the separator that occurs first: the cells before were single tags."""
        for mark in self._possible:
            if mark == self.separator:
                return
            row = next((row for row, token in enumerate(tokens) if mark in token), None)
            if row is None:
                continue
            if self.separator is not None:
                raise TokenError(
                    row,
                    f"{tokens[row][:40]!r} in column {self.name!r} holds {mark!r}, but the tags "
                    f"before it were split at {self.separator!r}; say with tag_separator what "
                    "stands between tags",
                )
            self.separator = mark
            return

    def append_lists(self, cells: Sequence[Sequence[str]]) -> None:
        """Add a block of cells that are split already."""
        counts: list[int] = []
        codes: list[int] = []
        for row, cell in enumerate(cells):
            found = dict.fromkeys(tag.strip() for tag in cell if tag.strip())
            if len(self.code_of) + len(found) > self.max_tags:
                raise TokenError(row, f"column {self.name!r} has more than {self.max_tags} tags")
            codes += [self.code_of.setdefault(tag, len(self.code_of)) for tag in found]
            counts.append(len(found))
        self.entries.append(counts, codes, np.ones(len(codes)))

    def finish(self) -> tuple[Any, tuple[str, ...]]:
        """Return the label matrix with its columns sorted by name."""
        names = sorted(self.code_of)
        place: NDArray[Any] = np.empty(len(names), dtype=np.int32)
        for position, name in enumerate(names):
            place[self.code_of[name]] = position
        Y = self.entries.finish(len(names))
        Y.indices = place[Y.indices] if names else Y.indices
        Y.has_sorted_indices = False
        Y.sort_indices()
        return Y, tuple(names)


def is_missing(token: str) -> bool:
    """Tell whether a stripped token stands for no value."""
    return token.lower() in MISSING_WORDS


def plain_word(token: str) -> str:
    """Spell alike what programs write differently: 1 and 1.0, true and True.

    Parameters
    ----------
    token : str
        Without blanks around it.

    Examples
    --------
    >>> [plain_word(token) for token in ("1.0", "1", "True", "Rome", "1.5", "1,000")]
    ['1', '1', 'true', 'Rome', '1.5', '1,000']
    """
    whole = _WHOLE.fullmatch(token)
    if whole is not None:
        return whole[1]
    return token.lower() if token.lower() in TRUTH_WORDS else token


def is_number(token: str, *, decimal_comma: bool = False) -> bool:
    """Tell whether a stripped token is a finite decimal number, perhaps with a comma."""
    if decimal_comma and _COMMA_NUMBER.fullmatch(token) is not None:
        token = token.replace(",", ".")
    return _NUMBER.fullmatch(token) is not None and abs(float(token)) != float("inf")


def note_on_commas(names: Sequence[str]) -> list[str]:
    """What to say of columns with decimal commas, if there are any."""
    if not names:
        return []
    return [f"the comma was read as a decimal point in: {', '.join(names)}"]


def is_infinite(token: str) -> bool:
    """Tell whether a stripped token is a number, but not a finite one."""
    if _NUMBER.fullmatch(token) is not None:
        return abs(float(token)) == float("inf")
    return _INFINITE.fullmatch(token) is not None


def infinite_cell(row: int, token: str, name: str) -> TokenError:
    """The error for a cell of a column of numbers that no model can use."""
    return TokenError(
        row,
        f"{token[:40]!r} in column {name!r} is not a finite number; correct the cell, or leave it "
        "empty if the value is unknown",
    )
