"""The fitted state of a comparing method in a model file: one record and the labels it learned."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.baselines.base import BaselineClassifier, LabelSides
from protolabel.baselines.parabel import LabelForest
from protolabel.persistence.array_checks import check_membership, check_shapes
from protolabel.persistence.label_tree_checks import check_label_forest
from protolabel.persistence.records import decode, encode
from protolabel.persistence.registry import Storable, storable_of
from protolabel.preprocessing.features import FeatureScaler
from protolabel.safefiles.bundle import Bundle
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.strict_json import shown


def encode_baseline(model: BaselineClassifier, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Turn the fitted state into what a manifest holds; tensors go to ``arrays``."""
    storable = storable_of(model)
    record = model.model_
    if not isinstance(record, storable.record_type()):
        raise TypeError(
            f"The {storable.name} holds a {type(record).__name__}, which cannot be saved as a "
            f"model file; {storable.remedy}."
        )
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
    n_labels: int,
    bundle: Bundle,
) -> dict[str, Any]:
    """Read the fitted attributes back."""
    entry = Fields(node, "state", bundle.path, {"sides", "model", "extras"})
    sides = decode(entry.raw("sides"), LabelSides, "sides", bundle)
    _check_sides(sides, n_labels, bundle)
    record = decode(entry.raw("model"), storable.record_type(), "model", bundle)
    sizes = {"features": scaler.n_columns, "labels": n_labels, "learned": len(sides.learned)}
    check_shapes(record, "model", storable.shapes, sizes, bundle)
    for name in storable.memberships:
        check_membership(attrgetter(name)(record), f"model.{name}", bundle)
    if isinstance(record, LabelForest):
        check_label_forest(record, scaler.n_columns, len(sides.learned), bundle)
    extras = Fields(entry.raw("extras"), "extras", bundle.path, storable.extras.keys())
    further = {
        name: decode(extras.raw(name), hint, name, bundle) for name, hint in storable.extras.items()
    }
    return {"scaler_": scaler, "sides_": sides, "model_": record} | further


def probe(model: BaselineClassifier, bundle: Bundle) -> None:
    """Score one row of zeros: what a shape does not tell would otherwise surprise a user later."""
    row = np.zeros((1, model.n_features_in_))
    if sp.issparse(getattr(model.model_, "rows", None)):
        row = sp.csr_array(row)
    try:
        with np.errstate(all="ignore"):
            scores = model._scores(row)
    except (ValueError, TypeError, IndexError, ArithmeticError, RuntimeError) as error:
        bundle.refuse(f"the model cannot score a row ({shown(str(error))})")
    if scores.shape != (1, len(model.label_names_)):
        bundle.refuse(f"the model gives scores of shape {scores.shape}")


def _check_sides(sides: LabelSides, n_labels: int, bundle: Bundle) -> None:
    for name, labels in (("learned", sides.learned), ("always", sides.always)):
        rising = labels.ndim == 1 and labels.dtype.kind == "i" and (np.diff(labels) > 0).all()
        if not rising or (len(labels) and not 0 <= labels[0] <= labels[-1] < n_labels):
            bundle.refuse(f"sides.{name} are not numbers of {n_labels} labels in rising order")
    if sides.n_labels != n_labels or np.intersect1d(sides.learned, sides.always).size:
        bundle.refuse(f"the sides of {sides.n_labels} labels do not fit {n_labels} label names")
