"""Constructor parameters in a model file, led by the type hints of the constructor."""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

import numpy as np

from protolabel.persistence.records import decode, encode
from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.strict_json import shown

# Live objects that matter to fitting alone.
_LEFT_OUT_TYPES = (np.random.RandomState, np.random.Generator)
_LEFT_OUT_NAMES = ("callbacks",)


def encode_parameters(model: Any) -> tuple[dict[str, Any], list[str]]:
    """Parameters as a manifest holds them, and the names of those that were set to None.

    Callbacks and random generators are live objects and are left out.
    """
    estimator: Any = type(model)
    hints = _hints(estimator)
    encoded: dict[str, Any] = {}
    left_out = []
    for name, value in model.get_params(deep=False).items():
        if name in _LEFT_OUT_NAMES or isinstance(value, _LEFT_OUT_TYPES):
            encoded[name] = None
            if value is not None:
                left_out.append(name)
            continue
        is_flag = hints[name] is bool and type(value) is int and value in (0, 1)
        plain = bool(value) if is_flag else value
        encoded[name] = encode(plain, hints[name], name, _NoArrays())
    return encoded, left_out


def decode_parameters(node: Any, estimator: Any, bundle: Bundle) -> dict[str, Any]:
    """Read parameters back; those that a file does not have keep their defaults."""
    if not isinstance(node, dict):
        bundle.refuse(f"the parameters are {shown(node)}; expected an object")
    hints = _hints(estimator)
    unknown = set(node) - set(hints)
    if unknown:
        bundle.refuse(f"{estimator.__name__} has no parameter {shown(min(unknown))}")
    return {
        name: None
        if name in _LEFT_OUT_NAMES and value is None
        else decode(value, hints[name], name, bundle)
        for name, value in node.items()
    }


@cache
def _hints(estimator: Any) -> dict[str, Any]:
    hints = get_type_hints(estimator.__init__)
    return {name: hint for name, hint in hints.items() if name != "return"}


class _NoArrays(dict[str, np.ndarray]):
    """Refuses arrays: a parameter is a plain value."""

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        raise TypeError(
            f"The parameter {name} is an array, which cannot be stored; pass plain numbers."
        )
