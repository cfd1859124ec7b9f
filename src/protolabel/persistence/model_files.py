"""Models in one folder: ``manifest.json`` to read, ``tensors.safetensors`` to compute with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from protolabel.exceptions import ModelFileError
from protolabel.persistence.baseline_state import decode_baseline, encode_baseline, probe
from protolabel.persistence.names import decode_names, encode_names
from protolabel.persistence.parameters import decode_parameters, encode_parameters
from protolabel.persistence.pnml_state import decode_pnml, encode_pnml
from protolabel.persistence.registry import STORABLES, Storable, storable_of
from protolabel.persistence.scaling import decode_scaler, encode_scaler
from protolabel.preprocessing.features import FeatureScaler
from protolabel.safefiles.bundle import (
    FILES,
    MAX_TENSOR_BYTES,
    Bundle,
    BundleFormat,
    open_bundle,
    write_bundle,
)
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.folder import check_place

MODEL_FORMAT = BundleFormat("protolabel-model", version=5, readable=(1, 2, 3, 4, 5))
_MODEL_KEYS = (
    "estimator",
    "parameters",
    "parameters_left_out",
    "target",
    "features",
    "preprocessing",
    "state",
    "metrics",
)
_KEYS = dict.fromkeys(MODEL_FORMAT.readable, _MODEL_KEYS)
_KINDS = ("multilabel", "binary", "multiclass")
_COMMON_STATE = {"classes_", "label_names_", "n_features_in_", "feature_names_in_", "_kind"}


def save_model(
    model: Any,
    folder: str | PathLike[str],
    *,
    metrics: Mapping[str, float] | None = None,
    force: bool = False,
) -> None:
    """Write a fitted model to a folder that loads without running any code from it.

    The folder appears complete or not at all, also when the process is killed.

    Parameters
    ----------
    model : PNMLClassifier or one of the baselines
        Fitted. Callbacks and random generators among its parameters are not stored.
    folder : str or path
        Folder to create; the one that holds it has to exist.
    metrics : mapping of str to float or None, default=None
        What the model was measured to be worth, kept for people to read.
    force : bool, default=False
        Replace an existing model folder.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from protolabel import PNMLClassifier
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> model = PNMLClassifier(random_state=0).fit(X, [{"low"}] * 20 + [{"high"}] * 20)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     save_model(model, home + "/tags", metrics={"accuracy": 1.0})
    ...     load_model(home + "/tags").predict_label_sets([[1.0]])
    [{'high'}]
    """
    storable = storable_of(model)
    check_is_fitted(model)
    place = Path(folder).resolve()
    # Before the work of encoding; the writer looks again.
    check_place(place, force=force, replaceable=FILES)
    arrays: dict[str, np.ndarray] = {}
    parameters, left_out = encode_parameters(model)
    names = getattr(model, "feature_names_in_", None)
    content = {
        "estimator": storable.name,
        "parameters": parameters,
        "parameters_left_out": left_out,
        "target": {
            "kind": model._kind,
            "classes": encode_names(model.classes_, "classes", arrays),
            "label_names": encode_names(model.label_names_, "label_names", arrays),
        },
        "features": {
            "count": int(model.n_features_in_),
            "names": None if names is None else encode_names(names, "feature_names", arrays),
        },
        "preprocessing": encode_scaler(_scaler_of(model), arrays),
        "state": _encoded_state(model, storable, arrays),
        "metrics": _checked_metrics(metrics or {}),
    }
    write_bundle(place, MODEL_FORMAT, content, arrays, force=force)


def load_model(folder: str | PathLike[str], *, max_bytes: int = MAX_TENSOR_BYTES) -> Any:
    """Read a model that :func:`save_model` wrote.

    Nothing from the files is executed. Sizes, header and checksums are compared before any
    array is allocated, and everything that is not known is refused.

    Parameters
    ----------
    folder : str or path
    max_bytes : int, default=8589934592
        Largest tensor file to accept.

    Returns
    -------
    Fitted estimator, on the CPU.

    Raises
    ------
    ModelFileError
        The folder holds no model, a damaged one, or one that this version does not know.
    """
    with open_bundle(Path(folder), MODEL_FORMAT, _KEYS, max_bytes) as bundle:
        try:
            model = _decoded_model(bundle)
        except RecursionError:
            bundle.refuse("the state is nested too deeply")
        bundle.tensors.check_all_read()
    return model


def _encoded_state(model: Any, storable: Storable, arrays: dict[str, np.ndarray]) -> Any:
    if storable.record is None:
        # The optimiser of a stream is not kept: a stored model predicts.
        known, encode = {"model_", "_stream"}, encode_pnml
    else:
        known, encode = {"model_", "scaler_", "sides_", *storable.extras}, encode_baseline
    fitted = {name for name in vars(model) if name not in model.get_params(deep=False)}
    unknown = fitted - known - _COMMON_STATE
    if unknown:
        raise TypeError(
            f"The {storable.name} has {min(unknown)!r}, which the model format does not know, so "
            "it would be lost; remove the attribute or fit the model again."
        )
    return encode(model, arrays)


def _decoded_model(bundle: Bundle) -> Any:
    content = bundle.content
    storable = STORABLES.get(content.text("estimator"))
    if storable is None:
        raise ModelFileError(
            f"{bundle.path}: the estimator is {content.raw('estimator')[:60]!a}; this protolabel "
            f"knows {', '.join(STORABLES)}. Upgrade protolabel, or save the model again."
        )
    estimator = storable.estimator()
    content.text("package_version")
    content.items("parameters_left_out")
    model = estimator(**decode_parameters(content.raw("parameters"), estimator, bundle))
    features = Fields(content.raw("features"), "features", bundle.path, {"count", "names"})
    n_features = features.integer("count", low=1, high=2**31)
    model.n_features_in_ = n_features
    scaler = decode_scaler(content.raw("preprocessing"), n_features, bundle)
    if features.raw("names") is not None:
        model.feature_names_in_ = _feature_names(features.raw("names"), n_features, bundle)
    _set_target(model, bundle)
    state, n_labels = content.raw("state"), len(model.label_names_)
    decoded = (
        decode_pnml(state, scaler, n_labels, bundle)
        if storable.record is None
        else decode_baseline(state, storable, scaler, n_labels, bundle)
    )
    for name, value in decoded.items():
        setattr(model, name, value)
    _checked_metrics(content.members("metrics"), bundle)
    if storable.record is not None:
        probe(model, bundle)
    return model


def _feature_names(node: Any, n_features: int, bundle: Bundle) -> np.ndarray:
    names = decode_names(node, "feature_names", bundle)
    if len(names) != n_features or names.dtype != object:
        bundle.refuse(f"there are {len(names)} feature names for {n_features} features")
    if not all(isinstance(name, str) for name in names):
        bundle.refuse("a feature name is not a string")
    return names


def _set_target(model: Any, bundle: Bundle) -> None:
    target = Fields(
        bundle.content.raw("target"), "target", bundle.path, {"kind", "classes", "label_names"}
    )
    model._kind = target.text("kind", choices=_KINDS)
    model.classes_ = decode_names(target.raw("classes"), "classes", bundle)
    model.label_names_ = decode_names(target.raw("label_names"), "label_names", bundle)
    n_classes, n_labels = len(model.classes_), len(model.label_names_)
    fits = {
        "multilabel": n_labels == n_classes >= 1
        and np.array_equal(model.classes_, np.arange(n_classes)),
        "binary": n_labels == 1 <= n_classes <= 2,
        "multiclass": n_labels == n_classes >= 3,
    }
    if not fits[model._kind]:
        bundle.refuse(
            f"{n_labels} label names and {n_classes} classes make no {model._kind} target"
        )


def _scaler_of(model: Any) -> FeatureScaler:
    scaler: FeatureScaler = model.scaler_ if hasattr(model, "scaler_") else model.model_.scaler
    return scaler


def _checked_metrics(metrics: Mapping[str, Any], bundle: Bundle | None = None) -> dict[str, float]:
    checked = {}
    for name, value in metrics.items():
        number = value.item() if isinstance(value, np.generic) else value
        if not isinstance(name, str) or type(number) not in (int, float) or not _finite(number):
            if bundle is not None:
                bundle.refuse("the metrics are not numbers by name")
            raise ValueError(
                f"metrics[{name!r}] is {value!r}; expected a finite number under a string."
            )
        checked[name] = number
    return checked


def _finite(number: float) -> bool:
    return abs(number) <= 2**53 if isinstance(number, int) else math.isfinite(number)
