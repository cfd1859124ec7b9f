"""Lists of names in messages."""

from __future__ import annotations

from collections.abc import Sequence


def some_names(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are.

    Parameters
    ----------
    names : sequence of str

    Examples
    --------
    >>> some_names(["sea", "sky"])
    "'sea', 'sky'"
    """
    text = ", ".join(repr(name) for name in names[:5])
    return text if len(names) <= 5 else f"{text} and {len(names) - 5} more"
