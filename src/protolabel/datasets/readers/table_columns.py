"""Columns of a user's table while it is read: numbers, categories, labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from protolabel.datasets.categories import MAX_CATEGORIES
from protolabel.datasets.growing import GrowingArray
from protolabel.datasets.readers.table_cells import (
    TRUTH_WORDS,
    NumberParser,
    TokenError,
    has_leading_zero,
    infinite_cell,
    is_infinite,
    is_missing,
    is_number,
    plain_word,
)


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
        self.parser = NumberParser(name, decimal_commas=decimal_commas)
        self.values = GrowingArray(np.float64)
        self.n_missing = 0
        # The first cell such as 00107, which may be a code and no number.
        self.leading_zero: str | None = None

    def append(self, tokens: Sequence[str]) -> None:
        """Add a block of tokens."""
        self.values.append([self._number(row, token.strip()) for row, token in enumerate(tokens)])

    def _number(self, row: int, token: str) -> float:
        if is_missing(token):
            self.n_missing += 1
            return float("nan")
        if self.is_truth and token.lower() in TRUTH_WORDS:
            return TRUTH_WORDS[token.lower()]
        number = self.parser.parse(row, token)
        if number is not None:
            if self.leading_zero is None and has_leading_zero(token):
                self.leading_zero = token
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
