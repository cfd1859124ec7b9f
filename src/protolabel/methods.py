"""Every method by name: how to build it and where to search for its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protolabel.classifier import PNMLClassifier

# The paper prints {1e-7, 5e-6, 1e-6, 5e-6, ...}; the second entry can only be 5e-7.
LOSS_WEIGHTS = (1e-7, 5e-7, 1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
CONCENTRATIONS = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0)

_PAPER_SPACE = {
    "metric_penalty": LOSS_WEIGHTS,
    "concentration": CONCENTRATIONS,
    "correlation_penalty": LOSS_WEIGHTS,
}


@dataclass(frozen=True)
class Method:
    """A named method: its factory, its title in tables and the search space of the paper."""

    name: str
    title: str
    build: Callable[..., Any]
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def coarse_space(self) -> Mapping[str, Sequence[Any]]:
        """Ends and middle of each grid.

        The weight of the label-correlation regulariser is left out: within its grid it changes
        no result.
        """
        return {
            name: (values[0], values[len(values) // 2], values[-1])
            for name, values in self.space.items()
            if name != "correlation_penalty"
        }


def _paper(prototypes: str, **fixed: Any) -> Callable[..., Any]:
    def build(**params: Any) -> PNMLClassifier:
        return PNMLClassifier.paper(**({"prototypes": prototypes} | fixed | params))

    return build


def _space(*names: str) -> dict[str, Sequence[Any]]:
    return {name: _PAPER_SPACE[name] for name in names}


_METHODS = (
    Method("pnml", "PNML (recommended)", PNMLClassifier),
    Method(
        "pnml-single",
        "PNML-single",
        _paper("single"),
        _space("metric_penalty", "correlation_penalty"),
    ),
    Method("pnml-multiple", "PNML-multiple", _paper("multiple"), _PAPER_SPACE),
    Method(
        "pnml-i",
        "PNML-I",
        _paper("multiple", shared_embedding=False, correlation_penalty=0.0),
        _space("metric_penalty", "concentration"),
    ),
    Method(
        "pnml-d",
        "PNML-D",
        _paper("multiple", metric="euclidean", metric_penalty=0.0),
        _space("concentration", "correlation_penalty"),
    ),
)
METHODS: Mapping[str, Method] = {method.name: method for method in _METHODS}


def find_method(name: str) -> Method:
    """Look a method up by its name."""
    if name not in METHODS:
        raise ValueError(f"There is no method {name!r}; choose one of {', '.join(METHODS)}.")
    return METHODS[name]


def make_method(name: str, **params: Any) -> Any:
    """Build a method by its name.

    Parameters
    ----------
    name : str
        A key of :data:`METHODS`.
    **params
        Parameters of the estimator, in place of the method's own.

    Examples
    --------
    >>> make_method("pnml-d", random_state=0).metric
    'euclidean'
    """
    return find_method(name).build(**params)
