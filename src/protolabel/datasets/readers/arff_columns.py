"""How the tokens of one ARFF column become numbers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from protolabel.datasets.readers.arff_header import Attribute

MISSING = "?"
_SHORT = 8
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_TRUTH = {
    "yes": 1.0,
    "no": 0.0,
    "true": 1.0,
    "false": 0.0,
    "y": 1.0,
    "n": 0.0,
    "t": 1.0,
    "f": 0.0,
    "present": 1.0,
    "absent": 0.0,
}


@dataclass(frozen=True)
class Column:
    """The numeric meaning of an attribute.

    Parameters
    ----------
    attribute : Attribute
        What the file declares.
    codes : dict of str to float, or None
        The number of each nominal value; None for numeric columns.
    is_plain : bool
        Whether a number written in the file stands for itself.
    is_category : bool
        Whether the numbers are mere codes of named values.
    may_be_label : bool
        Whether its values can be told to be 0 and 1.
    numbers : frozenset of float, default=frozenset()
        The numbers that a nominal column may hold.
    """

    attribute: Attribute
    codes: dict[str, float] | None
    is_plain: bool
    is_category: bool
    may_be_label: bool
    numbers: frozenset[float] = frozenset()

    @property
    def default(self) -> float:
        """Value of a cell that a sparse row leaves out: zero, or the first nominal value."""
        if self.codes is None or not self.attribute.values:
            return 0.0
        return self.codes[self.attribute.values[0]]

    def encode(self, token: str) -> float:
        """Return the number for a token; ValueError says what is wrong with it."""
        if token == MISSING:
            return math.nan
        if self.codes is None:
            if self.attribute.kind == "unusable":
                return 0.0
            return parse_number(token)
        code = self.codes.get(token)
        if code is None and self.is_plain:
            number = parse_number(token)
            code = number if number in self.numbers else None
        if code is None:
            shown = ", ".join(self.attribute.values[:6])
            raise ValueError(f"{token[:40]!r} is none of the declared values {{{shown}}}")
        return code


def parse_number(token: str) -> float:
    """Return a finite decimal number; ValueError otherwise."""
    if not _NUMBER.fullmatch(token):
        raise ValueError(f"{token[:40]!r} is not a number")
    number = float(token)
    if math.isinf(number):
        raise ValueError(f"{token[:40]!r} is too large for a 64-bit float")
    return number


def plan_column(attribute: Attribute) -> Column:
    """Choose how an attribute becomes numbers.

    Nominal values that are numbers stand for themselves. Yes and no (or their like) become 1
    and 0. Other values are numbered in the order of their declaration.
    """
    if attribute.kind != "nominal":
        is_numeric = attribute.kind == "numeric"
        return Column(attribute, None, is_numeric, is_category=False, may_be_label=is_numeric)
    is_short = len(attribute.values) <= _SHORT
    plan = _plan_short_values if is_short else _plan_values
    codes, is_plain, is_category, may_be_label = plan(attribute.values)
    numbers = frozenset(codes.values())
    return Column(attribute, codes, is_plain, is_category, may_be_label, numbers)


def _plan_values(values: tuple[str, ...]) -> tuple[dict[str, float], bool, bool, bool]:
    """Return codes, is_plain, is_category and may_be_label of nominal values."""
    if all(_NUMBER.fullmatch(value) for value in values):
        numbers = [float(value) for value in values]
        if len(set(numbers)) == len(numbers) and all(map(math.isfinite, numbers)):
            codes = dict(zip(values, numbers, strict=True))
            return codes, True, False, set(numbers) <= {0.0, 1.0}
    if len(values) == 2 and {_TRUTH.get(value.lower()) for value in values} == {0.0, 1.0}:
        return {value: _TRUTH[value.lower()] for value in values}, False, False, True
    codes = {value: float(code) for code, value in enumerate(dict.fromkeys(values))}
    return codes, False, True, False


# thousands of attributes share the same two values; long lists are not kept in memory
_plan_short_values = lru_cache(maxsize=64)(_plan_values)
