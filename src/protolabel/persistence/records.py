"""Fitted state as text and tensors, led by the type hints of frozen dataclasses.

What may appear in a file is exactly what the hints allow: numbers, strings, None, arrays, CSR
arrays, tuples, and the dataclasses that a hint names. No class is ever looked up by a name from
a file.
"""

from __future__ import annotations

import math
import types
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.strict_json import shown

# A CSR array is three tensors of these names behind its own.
_CSR_PARTS = ("data", "indices", "indptr")


def encode(value: Any, hint: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Turn a value into what a manifest holds; its arrays go to ``arrays``.

    Parameters
    ----------
    value : Any
    hint : Any
        Type that the value was declared with.
    name : str
        Place of the value, which becomes the name of its arrays.
    arrays : dict of str to ndarray
        Gets the arrays.

    Examples
    --------
    >>> encode((1, None), tuple[int | None, ...], "counts", {})
    [1, None]
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        _require(_allows(hint, np.ndarray), name, value, hint)
        return _encode_array(value, name, arrays)
    if sp.issparse(value):
        _require(_allows(hint, sp.csr_array) and value.format == "csr", name, value, hint)
        for part in _CSR_PARTS:
            arrays[f"{name}.{part}"] = getattr(value, part)
        return {"csr": name, "shape": list(value.shape)}
    arm = _arm(value, hint)
    _require(arm is not None, name, value, hint)
    if is_dataclass(value):
        hints = _hints(arm)
        return {
            field: encode(getattr(value, field), hints[field], f"{name}.{field}", arrays)
            for field in hints
        }
    if isinstance(value, tuple):
        return [
            encode(item, item_hint, f"{name}.{position}", arrays)
            for position, (item, item_hint) in enumerate(
                zip(value, _item_hints(arm, len(value)) or (), strict=True)
            )
        ]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}, which cannot be stored; fit the model again.")
    return value


def decode(node: Any, hint: Any, name: str, bundle: Bundle) -> Any:
    """Read a value back, refusing what the hint does not allow.

    Parameters
    ----------
    node : Any
        What the manifest holds.
    hint : Any
        Type that the value is declared with.
    name : str
        Place of the value, and the name of its arrays.
    bundle : Bundle
    """
    if isinstance(node, dict) and set(node) in ({"tensor"}, {"tensor", "order"}):
        return _decode_array(node, hint, name, bundle)
    if isinstance(node, dict) and set(node) == {"csr", "shape"}:
        return _decode_csr(node, hint, name, bundle)
    if isinstance(node, dict):
        return _decode_record(node, hint, name, bundle)
    if isinstance(node, list):
        for arm in _arms(hint):
            item_hints = _item_hints(arm, len(node)) if get_origin(arm) is tuple else None
            if item_hints is not None:
                return tuple(
                    decode(item, item_hint, f"{name}.{position}", bundle)
                    for position, (item, item_hint) in enumerate(zip(node, item_hints, strict=True))
                )
    elif _arm(node, hint) is not None:
        return node
    return bundle.refuse(f"{name} is {shown(node)}; expected {_shown_hint(hint)}")


def _encode_array(value: np.ndarray, name: str, arrays: dict[str, np.ndarray]) -> dict[str, str]:
    # The order of the entries decides how a product is rounded, so it is kept.
    if value.flags.f_contiguous and not value.flags.c_contiguous:
        arrays[name] = value.T
        return {"tensor": name, "order": "F"}
    arrays[name] = value
    return {"tensor": name}


def _decode_array(node: dict[str, Any], hint: Any, name: str, bundle: Bundle) -> np.ndarray:
    if not _allows(hint, np.ndarray):
        bundle.refuse(f"{name} is an array; expected {_shown_hint(hint)}")
    if node["tensor"] != name or node.get("order", "F") != "F":
        bundle.refuse(f"{name} refers to {shown(node['tensor'])} instead of its own array")
    array = bundle.tensors.read(name)
    return array.T if "order" in node else array


def _decode_csr(node: dict[str, Any], hint: Any, name: str, bundle: Bundle) -> sp.csr_array:
    shape = node["shape"]
    if not _allows(hint, sp.csr_array) or node["csr"] != name:
        bundle.refuse(f"{name} is a CSR array of {shown(node['csr'])}, which is not expected here")
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or any(type(n) is not int or not 0 <= n < 2**31 for n in shape)
    ):
        bundle.refuse(f"{name} has a shape of {shown(shape)}; expected two sizes")
    specs = [bundle.tensors.spec(f"{name}.{part}") for part in _CSR_PARTS]
    if any(len(spec.shape) != 1 for spec in specs) or specs[2].shape != (shape[0] + 1,):
        bundle.refuse(f"{name} has parts that do not fit its shape {shape}")
    if specs[0].shape != specs[1].shape or {s.dtype for s in specs[1:]} - {"I32", "I64"}:
        bundle.refuse(f"{name} has indices that do not fit its data")
    data, indices, indptr = (bundle.tensors.read(f"{name}.{part}") for part in _CSR_PARTS)
    rising = indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    if not rising or (len(indices) and (indices.min() < 0 or indices.max() >= shape[1])):
        bundle.refuse(f"{name} has row or column numbers outside its shape {shape}")
    return sp.csr_array((data, indices, indptr), shape=tuple(shape))


def _decode_record(node: dict[str, Any], hint: Any, name: str, bundle: Bundle) -> Any:
    records: list[Any] = [arm for arm in _arms(hint) if is_dataclass(arm)]
    if not records:
        bundle.refuse(f"{name} is an object; expected {_shown_hint(hint)}")
    # Records of one union are told apart by their fields.
    record = next((found for found in records if _fits(node, found)), None)
    if record is None:
        names = {f.name for found in records for f in fields(found)}
        odd = min(names ^ set(node), default="")
        bundle.refuse(f"{name} lacks or does not know {shown(odd)}")
    hints = _hints(record)
    values = {
        field: decode(value, hints[field], f"{name}.{field}", bundle)
        for field, value in node.items()
    }
    try:
        return record(**values)
    except (ValueError, TypeError) as error:
        return bundle.refuse(f"{name} is not consistent ({error})")


def _fits(node: dict[str, Any], record: Any) -> bool:
    needed = {f.name for f in fields(record) if f.default is MISSING}
    return needed <= set(node) <= set(_hints(record))


def _arms(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a union."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _allows(hint: Any, kind: type) -> bool:
    return any(arm is Any or arm is kind or get_origin(arm) is kind for arm in _arms(hint))


def _arm(value: Any, hint: Any) -> Any:
    """The alternative that a scalar, tuple or record belongs to, None if there is none."""
    return next((arm for arm in _arms(hint) if _belongs(value, arm)), None)


def _belongs(value: Any, arm: Any) -> bool:
    if get_origin(arm) is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(arm))
    if get_origin(arm) is tuple:
        return isinstance(value, tuple) and _item_hints(arm, len(value)) is not None
    if arm is float and type(value) is int:
        return abs(value) <= 2**53
    if arm is int and type(value) is int:
        return -(2**63) <= value < 2**64
    return type(value) is arm


def _item_hints(arm: Any, length: int) -> list[Any] | None:
    args = get_args(arm)
    if len(args) == 2 and args[1] is Ellipsis:
        return [args[0]] * length
    return list(args) if len(args) == length else None


@cache
def _hints(record: Any) -> dict[str, Any]:
    known = get_type_hints(record)
    return {field.name: known[field.name] for field in fields(record)}


def _shown_hint(hint: Any) -> str:
    return getattr(hint, "__name__", str(hint)) if not get_args(hint) else str(hint)


def _require(holds: bool, name: str, value: Any, hint: Any) -> None:
    if not holds:
        raise TypeError(
            f"{name} is a {type(value).__name__}, which cannot be stored; expected "
            f"{_shown_hint(hint)}."
        )
