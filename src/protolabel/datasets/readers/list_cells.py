"""Cells that are the text of a list, as JSON and pandas write them."""

from __future__ import annotations

import json
import re
from typing import Any

_ITEM = re.compile(
    r"""\s*(?:(?:np\.str_\()?(?:'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")\)?"""
    r"""|(?P<bare>[^\s'"\[\],;|(){}][^'"\[\],;|(){}]*))\s*,?\s*""",
    re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))",
    re.DOTALL,
)
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_SET = re.compile(r"""\{\s*['"].*['"]\s*\}|\(\s*['"].*['"]\s*,?\s*\)|\(\)""", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_NOTHING = frozenset({"none", "null", "nan"})


def parse_list(cell: str) -> list[str] | None:
    r"""Items of a cell such as ``['calm', 'happy']`` or ``["calm"]``; None for any other text.

    Nothing is evaluated. Items are strings, quoted or not; None and nan are left out.

    Parameters
    ----------
    cell : str

    Examples
    --------
    >>> parse_list("['calm', \"it's\"]"), parse_list("[]"), parse_list("calm")
    (['calm', "it's"], [], None)
    """
    text = cell.strip()
    if text == "set()":
        return []
    # Sets and tuples of Python; without quotes, brackets of these kinds may be part of a tag.
    if _SET.fullmatch(text) is not None:
        text = f"[{text[1:-1]}]"
    if not (text.startswith("[") and text.endswith("]") and len(text) > 1):
        return None
    try:
        items = _plain_items(json.loads(text))
    except (ValueError, RecursionError):
        items = _python_items(text[1:-1])
    # Half of a surrogate pair can be escaped, but not written to any file.
    is_text = items is not None and not any(_HALF_PAIR.search(item) for item in items)
    return items if is_text else None


def _plain_items(items: list[Any]) -> list[str] | None:
    """Items of a JSON list as text; None where one is itself a list or the like."""
    if any(isinstance(item, bool | list | dict) for item in items):
        return None
    return [
        str(item) for item in items if isinstance(item, str) or str(item).lower() not in _NOTHING
    ]


def _python_items(text: str) -> list[str] | None:
    """Items between the brackets, as Python and numpy write them."""
    items: list[str] = []
    position = len(text) - len(text.lstrip())
    while position < len(text):
        found = _ITEM.match(text, position)
        if found is None:
            return None
        position = found.end()
        bare = found["bare"]
        if bare is None:
            quoted = found["double"] if found["single"] is None else found["single"]
            items.append(_ESCAPE.sub(_unescaped, quoted))
        elif bare.strip().lower() not in _NOTHING:
            items.append(bare.strip())
    return items


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits is not None:
        return chr(int(digits, 16))
    return _LETTERS.get(found[4], found[4])
