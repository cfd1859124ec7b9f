"""A column of tags while a table is read: several labels in a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protolabel.datasets.growing import GrowingCsr
from protolabel.datasets.readers.list_cells import parse_list
from protolabel.datasets.readers.table_cells import TokenError, is_missing
from protolabel.datasets.readers.table_columns import TableColumn

# The first of them that occurs stands between tags, unless the user says what does.
TAG_SEPARATORS = (";", "|", ",")
# What joins the items of a list cell, so that lists and delimited cells take one way.
LIST_SEPARATOR = "\x1f"


class TagColumn(TableColumn):
    """Several labels in one cell, split at a separator or written as a list.

    NA, none and the like are no labels, alone in a cell or among others.

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
        if self.separator is None or self.separator == LIST_SEPARATOR:
            self.append_lists([token.split(self.separator or LIST_SEPARATOR) for token in tokens])
            return
        cells = [token.split(self.separator) for token in tokens]
        self.append_lists([[self._without_missing(tag) for tag in cell] for cell in cells])

    def note_on_missing(self) -> list[str]:
        """What to say of cells with a word for no value, if there are any."""
        if not self.missing:
            return []
        words = ", ".join(repr(word) for word in self.missing)
        return [f"{words}, {self.missing.total()} times in the tags, were taken as no tag"]

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
