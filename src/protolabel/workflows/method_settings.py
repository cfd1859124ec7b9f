"""A method with a user's settings, refused before any work if it cannot be used or stored."""

from __future__ import annotations

import types
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from protolabel.methods import find_method
from protolabel.persistence.records import encode
from protolabel.persistence.registry import storable_of


def build_method(
    name: str,
    settings: Mapping[str, Any],
    *,
    seed: int | None = None,
    device: str | None = None,
    must_be_storable: bool = True,
) -> Any:
    """Build a method by name and check its settings.

    Parameters
    ----------
    name : str
        See :data:`protolabel.methods.METHODS`.
    settings : mapping of str to Any
        Parameters in place of the method's own.
    seed : int or None, default=None
        Random state, for methods that have one.
    device : str or None, default=None
        Where to train; only for methods that can choose.
    must_be_storable : bool, default=True
        Refuse methods that no model file can hold.

    Raises
    ------
    ValueError
        There is no such method or parameter, or a value is of the wrong kind.

    Examples
    --------
    >>> build_method("ml-knn", {"n_neighbors": 7}, seed=0).n_neighbors
    7
    """
    method = find_method(name)
    plain = method.build()
    known = plain.get_params(deep=False)
    given = dict(settings)
    if device not in (None, "auto"):
        given["device"] = device
    for parameter in given:
        if parameter not in known:
            close = get_close_matches(parameter, known, n=3)
            hint = (
                f"did you mean {', '.join(close)}?"
                if close
                else f"its {len(known)} parameters are those of {type(plain).__name__}, see "
                f"`python -m pydoc {type(plain).__module__}.{type(plain).__name__}`."
            )
            raise ValueError(f"The method {name!r} has no parameter {parameter!r}; {hint}")
    if seed is not None and "random_state" in known:
        given.setdefault("random_state", seed)
    model = method.build(**given)
    try:
        if must_be_storable:
            storable_of(model)
    except TypeError as error:
        raise ValueError(f"The method {name!r} cannot be stored: {error}") from error
    _check_values(type(model), given)
    return model


def _check_values(estimator: Any, given: Mapping[str, Any]) -> None:
    """Refuse values that the type hints of the estimator do not allow."""
    hints = get_type_hints(estimator.__init__)
    for name, value in given.items():
        try:
            encode(value, hints.get(name, Any), name, {})
        except TypeError as error:
            raise ValueError(
                f"{name}={value!r} cannot be used; expected {_described(hints[name])}."
            ) from error


def _described(hint: Any) -> str:
    """A type hint in words."""
    if get_origin(hint) is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_described(choice) for choice in get_args(hint))
    return "null" if hint is type(None) else str(getattr(hint, "__name__", hint))
