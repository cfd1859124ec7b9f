"""From scores to decisions: thresholds and calibrated probabilities."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from protolabel.decision.calibrated import CalibratedMultilabelClassifier
    from protolabel.decision.reliability import reliability_diagram
    from protolabel.decision.thresholded import ThresholdedClassifier

_HOME_OF = {
    "CalibratedMultilabelClassifier": "protolabel.decision.calibrated",
    "ThresholdedClassifier": "protolabel.decision.thresholded",
    "reliability_diagram": "protolabel.decision.reliability",
}

__all__ = ["CalibratedMultilabelClassifier", "ThresholdedClassifier", "reliability_diagram"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use: the pure functions need no estimator."""
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'protolabel.decision' has no attribute {name!r}")
