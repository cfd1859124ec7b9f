"""The fitted input scaling in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolabel.preprocessing.features import SCALINGS, FeatureScaler
from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.tensor_file import TensorSpec

_TENSORS = {"offset_": "scaler.offset", "weight_": "scaler.weight"}


def encode_scaler(scaler: FeatureScaler, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Turn a fitted scaler into what a manifest holds; its columns go to ``arrays``."""
    arrays |= {tensor: getattr(scaler, name) for name, tensor in _TENSORS.items()}
    return {
        "requested": scaler.scaling,
        "rule": scaler.scaling_,
        "row_norm": float(scaler.row_norm),
    }


def decode_scaler(node: Any, n_features: int, bundle: Bundle) -> FeatureScaler:
    """Read a fitted scaler back."""
    entry = Fields(node, "preprocessing", bundle.path, {"requested", "rule", "row_norm"})
    requested: Any = entry.text("requested", choices=SCALINGS)
    row_norm = entry.number("row_norm")
    if row_norm <= 0:
        bundle.refuse(f"the row norm of the preprocessing is {row_norm}, not above 0")
    scaler = FeatureScaler(requested, row_norm=row_norm)
    scaler.scaling_ = entry.text("rule", choices=set(SCALINGS) - {"auto"})
    for name, tensor in _TENSORS.items():
        if bundle.tensors.spec(tensor) != TensorSpec("F64", (n_features,)):
            bundle.refuse(f"{tensor} does not hold one double for each of {n_features} features")
        setattr(scaler, name, bundle.tensors.read(tensor))
    return scaler
