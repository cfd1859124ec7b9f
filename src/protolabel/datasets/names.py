"""Names that are made on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class NumberedNames(Sequence[str]):
    """Names ``prefix0, prefix1, ...`` made on demand, however many there are.

    A file may declare a billion columns in a dozen bytes; their names must not cost memory.

    Parameters
    ----------
    prefix : str
        What every name starts with.
    count : int
        How many names there are.
    start : int, default=0
        Number of the first name.

    Examples
    --------
    >>> from protolabel.datasets.names import NumberedNames
    >>> NumberedNames("x", 3)[-1]
    'x2'
    """

    def __init__(self, prefix: str, count: int, start: int = 0) -> None:
        self._prefix = prefix
        self._count = count
        self._start = start

    @property
    def rule(self) -> dict[str, Any]:
        """What the names are made by, but for their number."""
        return {"prefix": self._prefix, "start": self._start}

    def __len__(self) -> int:
        """Return how many names there are."""
        return self._count

    def __getitem__(self, index: Any) -> Any:
        """Return one name, or a tuple of names for a slice."""
        numbers = range(self._start, self._start + self._count)[index]
        if isinstance(numbers, range):
            return tuple(f"{self._prefix}{number}" for number in numbers)
        return f"{self._prefix}{numbers}"

    def __eq__(self, other: object) -> bool:
        """Equal to any sequence of the same names."""
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        """Agree with the tuple of the same names only within this class."""
        return hash((self._prefix, self._count, self._start))

    def __repr__(self) -> str:
        """Show the rule, not the names."""
        return f"NumberedNames({self._prefix!r}, {self._count}, start={self._start})"
