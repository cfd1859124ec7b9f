"""Names of labels, classes and features in a model file.

Numbers are stored as tensors, so that a manifest cannot announce more of them than there are
bytes; strings and mixed values are stored in the manifest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.strict_json import shown

_NUMERIC_KINDS = "biuf"


def encode_names(names: np.ndarray, tensor: str, arrays: dict[str, np.ndarray]) -> Any:
    """Turn names into what a manifest holds; numeric ones go to ``arrays``.

    Parameters
    ----------
    names : ndarray of shape (n_names,)
    tensor : str
        Name of the array that numeric names are stored in.
    arrays : dict of str to ndarray
        Gets the numeric names.

    Examples
    --------
    >>> encode_names(np.array(["rock", "calm"]), "label_names", {})
    {'kind': 'text', 'values': ['rock', 'calm']}
    """
    if names.dtype.kind in _NUMERIC_KINDS:
        arrays[tensor] = names
        return {"tensor": tensor}
    values = [value.item() if isinstance(value, np.generic) else value for value in names]
    odd = [value for value in values if type(value) not in (str, int, float, bool)]
    if names.dtype.kind not in "UO" or odd:
        raise TypeError(
            f"Names such as {(odd or values)[0]!r} cannot be stored; expected "
            "strings or numbers. Rename the labels before fitting."
        )
    broken = [value for value in values if isinstance(value, str) and not _is_text(value)]
    if broken:
        raise ValueError(
            f"The name {broken[0]!r} cannot be stored: it holds half of a surrogate pair, as bytes "
            "that were read in the wrong encoding do. Rename it before fitting."
        )
    fixed_width = names.dtype.kind == "U" and _fits_fixed_width(values)
    return {"kind": "text" if fixed_width else "object", "values": values}


def decode_names(node: Any, tensor: str, bundle: Bundle) -> np.ndarray:
    """Read names back, with their type.

    Parameters
    ----------
    node : Any
        What the manifest holds.
    tensor : str
        Name of the array that numeric names have to be in.
    bundle : Bundle
    """
    if node == {"tensor": tensor}:
        if len(bundle.tensors.spec(tensor).shape) != 1:
            bundle.refuse(f"{tensor} has more than one dimension")
        return bundle.tensors.read(tensor)
    entry = Fields(node, tensor, bundle.path, {"kind", "values"})
    kind, values = entry.text("kind", choices=("text", "object")), entry.items("values")
    allowed = (str,) if kind == "text" else (str, int, float, bool)
    for value in values:
        if type(value) not in allowed:
            bundle.refuse(f"{tensor} contains {shown(value)}, which is no name")
    if not _is_text("\n".join(value for value in values if isinstance(value, str))):
        bundle.refuse(f"{tensor} contains half of a surrogate pair")
    if kind == "text":
        if not _fits_fixed_width(values):
            bundle.refuse(f"{tensor} would take far more memory than their text")
        return np.array(values, dtype=str)
    names = np.empty(len(values), dtype=object)
    names[:] = values
    return names


def _is_text(value: str) -> bool:
    """Whether a string can be written down, which half of a surrogate pair cannot."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _fits_fixed_width(values: list[str]) -> bool:
    """Whether an array as wide as the longest name takes little more memory than the names."""
    longest = max(map(len, values), default=0)
    return longest * len(values) <= 16 * sum(map(len, values)) + 2**20
