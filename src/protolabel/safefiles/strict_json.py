"""JSON as model files use it: UTF-8, no key twice, only finite numbers."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from protolabel.exceptions import ModelFileError

# Every container costs memory far beyond its two bytes of text.
_MAX_CONTAINERS = 500_000


def parse_object(data: bytes, path: Path) -> dict[str, Any]:
    """Parse bytes that have to hold one JSON object.

    Parameters
    ----------
    data : bytes
    path : Path
        File that the bytes came from, for messages.

    Examples
    --------
    >>> parse_object(b'{"a": [1, 2.5]}', Path("manifest.json"))
    {'a': [1, 2.5]}
    """
    if data.count(b"[") + data.count(b"{") > _MAX_CONTAINERS:
        raise ModelFileError(
            f"{path}: found more than {_MAX_CONTAINERS} lists and objects; no model file needs as "
            "many. Fetch the model again from a source you trust."
        )
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ModelFileError(
            f"{path}: not valid JSON ({ascii(reason)[1:-1][:200]}). The file is damaged; save or "
            "fetch the model again."
        ) from None
    if not isinstance(value, dict):
        raise ModelFileError(
            f"{path}: found a {type(value).__name__} at the top; expected a JSON object. The file "
            "is not a manifest; save or fetch the model again."
        )
    return value


def checksum(document: dict[str, Any]) -> str:
    """SHA-256 of a document, independent of white space and the order of keys."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def pretty_bytes(document: dict[str, Any]) -> bytes:
    """JSON text for people to read."""
    return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode("ascii")


def shown(value: Any) -> str:
    """Foreign content, short and in printable characters, for a message."""
    text = ascii(value) if isinstance(value, (str, int, float, bool, type(None))) else _kind(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _kind(value: Any) -> str:
    return {"dict": "an object", "list": "a list"}.get(type(value).__name__, type(value).__name__)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is too large for a double")
    return value
