"""The fitted state of a comparing method in a model file: one record and the labels it learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protolabel.baselines.base import BaselineClassifier, LabelSides
from protolabel.persistence.records import decode, encode
from protolabel.persistence.registry import Storable, storable_of
from protolabel.preprocessing.features import FeatureScaler
from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.fields import Fields


def encode_baseline(model: BaselineClassifier, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Turn the fitted state into what a manifest holds; tensors go to ``arrays``."""
    storable = storable_of(model)
    record = model.model_
    return {
        "sides": encode(model.sides_, LabelSides, "sides", arrays),
        "model": encode(record, storable.record_type(), "model", arrays),
        "extras": {
            name: encode(getattr(model, name), hint, name, arrays)
            for name, hint in storable.extras.items()
        },
    }


def decode_baseline(
    node: Any,
    storable: Storable,
    scaler: FeatureScaler,
    n_features: int,
    n_labels: int,
    bundle: Bundle,
) -> dict[str, Any]:
    """Read the fitted attributes back."""
    entry = Fields(node, "state", bundle.path, {"sides", "model", "extras"})
    sides = decode(entry.raw("sides"), LabelSides, "sides", bundle)
    _check_sides(sides, n_labels, bundle)
    record = decode(entry.raw("model"), storable.record_type(), "model", bundle)
    sizes = {"features": n_features, "labels": n_labels, "learned": len(sides.learned)}
    _check_shapes(record, storable.shapes, sizes, bundle)
    extras = Fields(entry.raw("extras"), "extras", bundle.path, storable.extras.keys())
    further = {
        name: decode(extras.raw(name), hint, name, bundle) for name, hint in storable.extras.items()
    }
    return {"scaler_": scaler, "sides_": sides, "model_": record} | further


def _check_shapes(
    record: Any, shapes: Mapping[str, str], sizes: Mapping[str, int], bundle: Bundle
) -> None:
    """Compare the arrays of a record with their dimensions by name."""
    known = dict(sizes)
    for name, dimensions in shapes.items():
        expected = dimensions.split()
        shape = getattr(record, name).shape
        fits = len(shape) == len(expected) and all(
            size == (int(dimension) if dimension.isdigit() else known.setdefault(dimension, size))
            for size, dimension in zip(shape, expected, strict=True)
        )
        if not fits:
            bundle.refuse(f"model.{name} has the shape {shape}; expected ({', '.join(expected)})")


def _check_sides(sides: LabelSides, n_labels: int, bundle: Bundle) -> None:
    for name, labels in (("learned", sides.learned), ("always", sides.always)):
        rising = labels.ndim == 1 and labels.dtype.kind == "i" and (np.diff(labels) > 0).all()
        if not rising or (len(labels) and not 0 <= labels[0] <= labels[-1] < n_labels):
            bundle.refuse(f"sides.{name} are not numbers of {n_labels} labels in rising order")
    if sides.n_labels != n_labels or np.intersect1d(sides.learned, sides.always).size:
        bundle.refuse(f"the sides of {sides.n_labels} labels do not fit {n_labels} label names")
