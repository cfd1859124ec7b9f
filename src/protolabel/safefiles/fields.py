"""Reading one field of a parsed manifest: the right kind of value, or a refusal that names it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

from protolabel.exceptions import ModelFileError
from protolabel.safefiles.strict_json import shown


class Fields:
    """The members of one JSON object, with exactly the expected keys.

    Parameters
    ----------
    value : Any
        What was parsed where an object is expected.
    where : str
        Place in the manifest, for messages.
    path : Path
        File, for messages.
    keys : collection of str
        The keys that have to be there; no other may be.

    Examples
    --------
    >>> Fields({"size": 3}, "tensors", Path("manifest.json"), {"size"}).integer("size")
    3
    """

    def __init__(self, value: Any, where: str, path: Path, keys: Collection[str]) -> None:
        self.where = where
        self.path = path
        if not isinstance(value, dict):
            self._refuse_value("", value, "an object")
        missing, unknown = set(keys) - set(value), set(value) - set(keys)
        if missing:
            raise ModelFileError(
                f"{path}: {where} has no {shown(min(missing))}. The manifest is incomplete; save "
                "or fetch the model again."
            )
        if unknown:
            raise ModelFileError(
                f"{path}: {where} has an unknown entry {shown(min(unknown))}. The file may come "
                "from a newer protolabel; upgrade, or save the model again with this version."
            )
        self._value = value

    def raw(self, key: str) -> Any:
        """The value as parsed."""
        return self._value[key]

    def integer(self, key: str, low: int = 0, high: int = 2**53) -> int:
        """A whole number within bounds."""
        value = self._value[key]
        if type(value) is not int or not low <= value <= high:
            self._refuse_value(key, value, f"a whole number from {low} to {high}")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false."""
        value = self.raw(key)
        if not isinstance(value, bool):
            self._refuse_value(key, value, "true or false")
        return value

    def number(self, key: str) -> float:
        """A number."""
        value = self._value[key]
        if type(value) not in (int, float):
            self._refuse_value(key, value, "a number")
        return float(value)

    def text(self, key: str, choices: Collection[str] | None = None) -> str:
        """A string, one of the choices if there are any."""
        value = self._value[key]
        if not isinstance(value, str):
            self._refuse_value(key, value, "a string")
        if choices is not None and value not in choices:
            self._refuse_value(key, value, "one of " + ", ".join(sorted(choices)))
        return value

    def items(self, key: str) -> list[Any]:
        """A list."""
        value = self._value[key]
        if not isinstance(value, list):
            self._refuse_value(key, value, "a list")
        return value

    def members(self, key: str) -> dict[str, Any]:
        """An object with keys of its own."""
        value = self._value[key]
        if not isinstance(value, dict):
            self._refuse_value(key, value, "an object")
        return value

    def _refuse_value(self, key: str, value: Any, expected: str) -> NoReturn:
        place = f"{self.where}.{key}".strip(".")
        raise ModelFileError(
            f"{self.path}: {place} is {shown(value)}; expected {expected}. The manifest is damaged "
            "or was made by something else; save or fetch the model again."
        )
