"""The estimators that model files may hold, by name.

A file names an estimator; what is imported for it stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Storable:
    """An estimator of ours: where it is defined, and the record that its ``model_`` is.

    ``record`` is None where the state is more than one record and has code of its own.
    ``shapes`` gives the dimensions of the record's arrays by name: ``features``, ``labels``,
    ``learned`` (labels that have both sides), or a size that has to be the same wherever its
    name appears, with ``+1`` where there is one more. ``memberships`` names 0/1 CSR arrays.
    ``extras`` are further fitted attributes with their types. ``remedy`` says what to do
    where ``model_`` is something else than the record.
    """

    name: str
    module: str
    record: str | None = None
    shapes: Mapping[str, str] = field(default_factory=dict)
    memberships: tuple[str, ...] = ()
    extras: Mapping[str, type] = field(default_factory=dict)
    remedy: str = "fit the model again"

    def estimator(self) -> type[Any]:
        """Import the class."""
        found: type[Any] = getattr(import_module(self.module), self.name)
        return found

    def record_type(self) -> Any:
        """Import the type of ``model_``."""
        assert self.record is not None
        return getattr(import_module(self.module), self.record)


_STORABLES = (
    Storable("PNMLClassifier", "protolabel.classifier"),
    Storable(
        "BinaryRelevanceMLP",
        "protolabel.baselines.binary_relevance",
        "BinaryRelevanceModel",
        {
            "hidden_weight": "learned features width",
            "hidden_bias": "learned width",
            "output_weight": "learned width",
            "output_bias": "learned 1",
            "n_iter": "learned",
        },
        extras={"n_iter_": int},
    ),
    Storable(
        "MLkNN",
        "protolabel.baselines.ml_knn",
        "MLkNNModel",
        {
            "rows": "rows features",
            "labels": "rows learned",
            "neighbours": "rows neighbours",
            "tables.log_odds": "learned neighbours+1",
            "tables.joint": "learned neighbours+1",
        },
        memberships=("labels",),
    ),
    Storable(
        "MLTSVM",
        "protolabel.baselines.mltsvm",
        "TwinHyperplanes",
        {
            "weights": "features learned",
            "offsets": "learned",
            "duality_gaps": "learned",
            "n_iter": "learned",
        },
    ),
    Storable(
        "JFSC",
        "protolabel.baselines.jfsc",
        "JointWeights",
        {"weights": "features learned", "offsets": "learned", "objectives": "steps"},
    ),
    Storable(
        "CAMEL",
        "protolabel.baselines.camel",
        "KernelMachine",
        {"rows": "rows features", "coefficients": "rows learned", "intercept": "learned"},
    ),
    Storable(
        "Parabel",
        "protolabel.baselines.parabel",
        "LabelForest",
        extras={"_handle": type(None)},
        remedy="fit it with engine='own': the files of omikuji are not checked when it reads them",
    ),
)
STORABLES: Mapping[str, Storable] = {storable.name: storable for storable in _STORABLES}


def storable_of(model: Any) -> Storable:
    """Find the entry of a model's own class.

    Parameters
    ----------
    model : Any

    Examples
    --------
    >>> from protolabel import PNMLClassifier
    >>> storable_of(PNMLClassifier()).name
    'PNMLClassifier'
    """
    storable = STORABLES.get(type(model).__name__)
    if storable is None or type(model) is not storable.estimator():
        raise TypeError(
            f"A {type(model).__name__} cannot be saved as a model file; expected one of "
            f"{', '.join(STORABLES)}."
        )
    return storable
