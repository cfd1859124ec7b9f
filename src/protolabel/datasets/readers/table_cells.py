"""What one cell of a user's table says: a number, a truth, nothing, or a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from protolabel.datasets.lines import problem_at

MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?", "-", "."})
TRUTH_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
_INFINITE = re.compile(r"[-+]?(?:inf|infinity|∞)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
# What programs make of whole numbers beside blanks; ,000 would be a thousand.
_WHOLE = re.compile(r"([-+]?\d+)(?:\.0*|,0)", re.ASCII)


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
        self.name = name
        self._decimal_commas = decimal_commas
        self._mark = ""
        self._has_fractions = False

    @property
    def has_commas(self) -> bool:
        """Whether numbers with a decimal comma were found."""
        return self._mark == ","

    @property
    def may_have_thousands(self) -> bool:
        """Whether every point that was found may be a mark of thousands, as in 2.574."""
        return self._mark == "." and not self._has_fractions

    def parse(self, row: int, token: str) -> float | None:
        """The number that a stripped token is, None if it is none."""
        if not is_number(token, decimal_comma=self._decimal_commas):
            return None
        mark = "," if "," in token else "." if "." in token else ""
        if mark and self._mark not in ("", mark):
            raise TokenError(
                row,
                f"{token[:40]!r} in column {self.name!r} has {mark!r} where numbers before it "
                f"have {self._mark!r}; write all of them in one way, without marks of thousands, "
                "or drop the column (drop=, --drop)",
            )
        self._mark = self._mark or mark
        if mark == "." and _THOUSANDS.fullmatch(token) is None:
            self._has_fractions = True
        return float(token.replace(",", "."))


def refuse_marks_of_thousands(path: Path, columns: Sequence[NumberParser]) -> None:
    """Refuse points that are marks of thousands where other columns have decimal commas."""
    commas = [column.name for column in columns if column.has_commas]
    thousands = [column.name for column in columns if column.may_have_thousands]
    if commas and thousands:
        raise problem_at(
            path,
            1,
            f"all points in column {thousands[0]!r} may be marks of thousands, as column "
            f"{commas[0]!r} has decimal commas; write the numbers of all columns in one way, "
            "without marks of thousands, or drop the column (drop=, --drop)",
        )


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


def has_leading_zero(token: str) -> bool:
    """Tell whether a stripped token has digits behind a zero that no number needs.

    Examples
    --------
    >>> [has_leading_zero(token) for token in ("01234", "0", "0.5", "100")]
    [True, False, False, False]
    """
    return token.startswith("0") and token.isdecimal() and len(token) > 1


def is_infinite(token: str) -> bool:
    """Tell whether a stripped token is a number, but not a finite one."""
    if _NUMBER.fullmatch(token) is not None:
        return abs(float(token)) == float("inf")
    return _INFINITE.fullmatch(token) is not None


def note_on_commas(columns: Sequence[NumberParser]) -> list[str]:
    """What to say of columns with decimal commas, if there are any."""
    names = [column.name for column in columns if column.has_commas]
    return [f"the comma was read as a decimal point in: {', '.join(names)}"] if names else []


def infinite_cell(row: int, token: str, name: str) -> TokenError:
    """The error for a cell of a column of numbers that no model can use."""
    return TokenError(
        row,
        f"{token[:40]!r} in column {name!r} is not a finite number; correct the cell, or leave it "
        "empty if the value is unknown",
    )
