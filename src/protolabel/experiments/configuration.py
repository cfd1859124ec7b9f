"""The full configuration of an estimator as plain JSON, and how to build it from an arm."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from protolabel.decision import ThresholdedClassifier
from protolabel.experiments.unit import Arm
from protolabel.methods import find_method

_LARGEST_ARRAY = 1000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def build_estimator(arm: Arm, seed: int) -> Any:
    """Build the method of an arm, with a seed wherever it takes one.

    Parameters
    ----------
    arm : Arm
        Its settings go before the seed.
    seed : int
        Value of every ``random_state`` that the settings do not name, nested ones included.

    Returns
    -------
    estimator
        Without tuned thresholds: :func:`with_thresholds` adds them.

    Examples
    --------
    >>> build_estimator(Arm("pnml-single"), seed=3).random_state
    3
    """
    settings = dict(arm.settings)
    estimator = find_method(arm.method).build(**settings)
    seeded = {
        name: seed
        for name in estimator.get_params()
        if name.rpartition("__")[2] == "random_state" and name not in settings
    }
    return estimator.set_params(**seeded)


def with_thresholds(estimator: Any, seed: int) -> Any:
    """Wrap an estimator so that its thresholds are tuned as those of every other method."""
    return ThresholdedClassifier(estimator, random_state=seed)


def tunes_own_thresholds(estimator: Any) -> bool:
    """Tell whether a method already chooses its thresholds on rows it has not seen."""
    return bool(estimator.get_params(deep=False).get("thresholds", "fixed") != "fixed")


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """Class and parameters of an estimator as plain JSON.

    Parameters
    ----------
    estimator : estimator
        Anything with ``get_params``; estimators among its parameters are described likewise.

    Returns
    -------
    dict
        ``{"class": ..., "params": {...}}``.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> describe_estimator(DummyClassifier(random_state=1))["params"]["random_state"]
    1
    """
    params = estimator.get_params(deep=False)
    return {
        "class": _name_of(type(estimator)),
        "params": {name: plain_json(value) for name, value in sorted(params.items())},
    }


def plain_json(value: Any) -> Any:
    """Turn a parameter into JSON: numbers and texts as they are, other things by their names."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, np.ndarray):
        if value.size <= _LARGEST_ARRAY:
            return plain_json(value.tolist())
        return {"class": "numpy.ndarray", "shape": list(value.shape)}
    if isinstance(value, Mapping):
        return {str(name): plain_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain_json(item) for item in value), key=repr)
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return _name_of(value)
    if hasattr(value, "get_params"):
        return describe_estimator(value)
    # An address would make equal configurations look different.
    return {"class": _name_of(type(value)), "repr": _ADDRESS.sub("", repr(value))}


def _name_of(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
