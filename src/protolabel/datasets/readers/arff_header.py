"""The part of an ARFF file before its rows: relation and attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from protolabel.datasets.lines import problem_at

AttributeKind = Literal["numeric", "nominal", "unusable"]

# No line may make matching take more than linear time: runs of single characters are possessive,
# and every way through the groups is told by its first one. (Groups are not possessive themselves:
# early versions of Python 3.11 match some of them wrongly.)
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*\""""
_NAME = re.compile(rf"\s*({QUOTED}|[^\s{{'\"][^\s{{]*)\s*(.*)", re.DOTALL)
_BARE = r"""(?=[^,{}'"])[^,{}'"\\]*+(?:\\['"]?+[^,{}'"\\]*+)*"""
_VALUE = re.compile(rf"\s*+({QUOTED}|{_BARE})\s*+(,|$)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"\\(['\"%])")
_SHORT = 200
_NUMERIC_WORDS = frozenset({"numeric", "real", "integer"})
_UNUSABLE_WORDS = frozenset({"string", "date"})


@dataclass(frozen=True)
class Attribute:
    """One declared column.

    Parameters
    ----------
    name : str
        Name without quotes and escapes.
    kind : {"numeric", "nominal", "unusable"}
        Strings and dates are unusable as features.
    values : tuple of str
        The values of a nominal attribute, in order; else empty.
    line_number : int
        Where it was declared.
    """

    name: str
    kind: AttributeKind
    values: tuple[str, ...]
    line_number: int


@dataclass(frozen=True)
class ArffHeader:
    """Relation, attributes and the number of lines they took.

    Parameters
    ----------
    relation : str
        Name of the relation, which in MEKA files carries options.
    attributes : tuple of Attribute
        The columns, in order.
    n_lines : int
        Lines read, the ``@data`` line included.
    """

    relation: str
    attributes: tuple[Attribute, ...]
    n_lines: int


def unquote(token: str) -> str:
    r"""Return the text that an ARFF token stands for.

    Parameters
    ----------
    token : str
        Quoted or bare token. In a bare token just an escaped quote or percent sign is
        resolved: other backslashes belong to the name.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from protolabel.datasets.readers.arff_header import unquote
    >>> print(unquote(r"'it\'s'"), unquote(r"TAG_m\'usica"), unquote(r"C:\new"))
    it's TAG_m'usica C:\new
    """
    if len(token) >= 2 and token[0] in "'\"" and token[-1] == token[0]:
        return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), token[1:-1])
    return _ESCAPED_QUOTE.sub(r"\1", token) if "\\" in token else token


def read_header(path: Path, lines: Iterator[str]) -> ArffHeader:
    """Read lines up to and including ``@data``.

    Parameters
    ----------
    path : Path
        Named in errors.
    lines : iterator of str
        Lines of the file from its start; left at the first row.

    Returns
    -------
    ArffHeader
        What was declared.
    """
    relation = ""
    attributes: list[Attribute] = []
    declared: dict[str, int] = {}
    number = 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        keyword = text.split(None, 1)[0].lower()
        rest = text[len(keyword) :]
        if keyword == "@relation":
            relation = unquote(rest.strip())
        elif keyword == "@attribute":
            attribute = _parse_attribute(path, number, rest)
            if attribute.name in declared:
                raise problem_at(
                    path,
                    number,
                    f"attribute {attribute.name!r} was declared on line "
                    f"{declared[attribute.name]} already; rename one of the two",
                )
            declared[attribute.name] = number
            attributes.append(attribute)
        elif keyword == "@data":
            if not attributes:
                raise problem_at(path, number, "@data comes before any @attribute")
            return ArffHeader(relation, tuple(attributes), number)
        else:
            raise problem_at(
                path,
                number,
                f"expected @relation, @attribute or @data, received {text[:60]!r}",
            )
    raise problem_at(path, number + 1, "the file ends before @data; it is not a whole ARFF file")


def split_values(text: str) -> list[str] | None:
    """Split a comma-separated list of ARFF tokens; None when it is malformed."""
    if not text.strip():
        return []
    tokens: list[str] = []
    position = 0
    while True:
        found = _VALUE.match(text, position)
        if found is None:
            return None
        tokens.append(found[1].strip())
        position = found.end()
        if found[2] == "":
            return tokens


def _parse_attribute(path: Path, number: int, rest: str) -> Attribute:
    """Read what follows the word @attribute."""
    found = _NAME.match(rest)
    if found is None:
        raise problem_at(
            path, number, f"expected a name and a type after @attribute, received {rest[:60]!r}"
        )
    name = unquote(found[1])
    type_text = found[2]
    if type_text.startswith("{"):
        is_short = len(type_text) <= _SHORT
        values = (_short_nominal_values if is_short else _nominal_values)(type_text)
        if values is None:
            raise problem_at(
                path,
                number,
                f"the values of attribute {name!r} are not a list like {{a,b,'c d'}}: "
                f"{type_text[:60]!r}",
            )
        return Attribute(name, "nominal", values, number)
    word = type_text.split(None, 1)[0].lower() if type_text else ""
    if word in _NUMERIC_WORDS:
        return Attribute(name, "numeric", (), number)
    if word in _UNUSABLE_WORDS:
        return Attribute(name, "unusable", (), number)
    raise problem_at(
        path,
        number,
        f"attribute {name!r} has type {type_text[:60]!r}; expected numeric, real, integer, "
        "string, date or a list of values in braces",
    )


def _nominal_values(type_text: str) -> tuple[str, ...] | None:
    """Read a list of values in braces; None when it is malformed."""
    body, closed, _ = type_text[1:].rpartition("}")
    tokens = split_values(body) if closed else None
    return None if tokens is None else tuple(unquote(token) for token in tokens)


# thousands of attributes share the same two values; long lists are not kept in memory
_short_nominal_values = lru_cache(maxsize=64)(_nominal_values)
