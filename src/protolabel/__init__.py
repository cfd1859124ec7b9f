"""Prototypical networks for multi-label learning, as scikit-learn estimators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from protolabel.version import __version__

if TYPE_CHECKING:
    from protolabel.classifier import PNMLClassifier
    from protolabel.datasets import MultiLabelDataset, load_dataset
    from protolabel.metrics import evaluate
    from protolabel.persistence import export_onnx, load_model, save_model

_HOME_OF = {
    "PNMLClassifier": "protolabel.classifier",
    "MultiLabelDataset": "protolabel.datasets",
    "load_dataset": "protolabel.datasets",
    "evaluate": "protolabel.metrics",
    "save_model": "protolabel.persistence",
    "load_model": "protolabel.persistence",
    "export_onnx": "protolabel.persistence",
}

__all__ = [
    "MultiLabelDataset",
    "PNMLClassifier",
    "__version__",
    "evaluate",
    "export_onnx",
    "load_dataset",
    "load_model",
    "save_model",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that ``protolabel --help`` needs no torch."""
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'protolabel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
