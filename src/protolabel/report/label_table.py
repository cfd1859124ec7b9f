"""Section of a model: how good it is at each label, and what its probabilities are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import expit
from sklearn.metrics import average_precision_score

from protolabel.decision.reliability import reliability_diagram
from protolabel.metrics import LabelReport, label_report, reliability_curve
from protolabel.report.page import Section


@dataclass(frozen=True)
class LabelLine:
    """One label; ``average_precision`` and ``threshold`` are NaN where there is none."""

    report: LabelReport
    average_precision: float
    threshold: float
    calibration_error: float


@dataclass(frozen=True)
class LabelTable:
    """All labels, and the reliability diagram."""

    lines: Sequence[LabelLine]
    diagram: Markup
    n_rows: int


def labels_section(
    Y: Any,
    predicted: np.ndarray,
    probabilities: np.ndarray,
    names: Sequence[str],
    thresholds: np.ndarray | None,
) -> Section:
    """Metrics of every label with its threshold, as a probability, and its calibration error."""
    truth = Y.toarray()
    reports = label_report(Y, predicted, probabilities, label_names=names)
    lines = [
        LabelLine(
            report,
            average_precision=(
                float(average_precision_score(truth[:, k], probabilities[:, k]))
                if truth[:, k].any()
                else math.nan
            ),
            threshold=math.nan if thresholds is None else float(expit(thresholds[k])),
            calibration_error=reliability_curve(truth[:, [k]], probabilities[:, [k]]).error,
        )
        for k, report in enumerate(reports)
    ]
    curves = {
        "bins of equal width": reliability_curve(Y, probabilities),
        "bins of equal size": reliability_curve(Y, probabilities, strategy="quantile"),
    }
    diagram = Markup(reliability_diagram(curves, title="Reliability over all labels"))
    return Section("labels", "Labels", "labels.html", LabelTable(lines, diagram, len(truth)))
