"""The fitted input scaling in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from protolabel.persistence.array_checks import check_indices, check_shapes
from protolabel.persistence.records import decode, encode
from protolabel.preprocessing.features import SCALINGS, FeatureScaler
from protolabel.preprocessing.table_columns import TableColumns
from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.tensor_file import TensorSpec

_TENSORS = {"offset_": "scaler.offset", "weight_": "scaler.weight"}
_COLUMNS_SHAPES = {
    "middle": "features",
    "spread": "features",
    "code_feature": "codes",
    "code": "codes",
}


def encode_scaler(scaler: FeatureScaler, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Turn a fitted scaler into what a manifest holds; its columns go to ``arrays``."""
    arrays |= {tensor: getattr(scaler, name) for name, tensor in _TENSORS.items()}
    node = {
        "requested": scaler.scaling,
        "rule": scaler.scaling_,
        "row_norm": float(scaler.row_norm),
    }
    if scaler.columns_ is not None:
        node["columns"] = encode(scaler.columns_, TableColumns, "scaler.columns", arrays)
    return node


def decode_scaler(node: Any, n_features: int, bundle: Bundle) -> FeatureScaler:
    """Read a fitted scaler back."""
    keys = {"requested", "rule", "row_norm"}
    has_columns = isinstance(node, dict) and "columns" in node
    entry = Fields(
        node, "preprocessing", bundle.path, keys | ({"columns"} if has_columns else set())
    )
    requested: Any = entry.text("requested", choices=SCALINGS)
    row_norm = entry.number("row_norm")
    if row_norm <= 0:
        bundle.refuse(f"the row norm of the preprocessing is {row_norm}, not above 0")
    scaler = FeatureScaler(requested, row_norm=row_norm)
    scaler.scaling_ = entry.text("rule", choices=set(SCALINGS) - {"auto"})
    if has_columns != (scaler.scaling_ == "tabular"):
        bundle.refuse(f"even columns do not go together with the rule {scaler.scaling_!r}")
    scaler.columns_ = _columns(entry.raw("columns"), n_features, bundle) if has_columns else None
    columns = scaler.columns_
    n_columns = n_features if columns is None else len(columns.feature_of_column)
    for name, tensor in _TENSORS.items():
        if bundle.tensors.spec(tensor) != TensorSpec("F64", (n_columns,)):
            bundle.refuse(f"{tensor} does not hold one double for each of {n_columns} columns")
        setattr(scaler, name, bundle.tensors.read(tensor))
    return scaler


def _columns(node: Any, n_features: int, bundle: Bundle) -> TableColumns:
    columns: TableColumns = decode(node, TableColumns, "scaler.columns", bundle)
    check_shapes(columns, "scaler.columns", _COLUMNS_SHAPES, {"features": n_features}, bundle)
    check_indices(columns.code_feature, 0, n_features, "scaler.columns.code_feature", bundle)
    if not (columns.spread > 0).all():
        bundle.refuse("scaler.columns.spread is not above 0 everywhere")
    return columns
