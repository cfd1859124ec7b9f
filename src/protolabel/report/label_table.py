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

# The metrics of a label take some milliseconds: a page on thousands of labels would take minutes.
_MAX_LABELS = 300


@dataclass(frozen=True)
class LabelLine:
    """One label; ``average_precision`` and ``threshold`` are NaN where there is none."""

    report: LabelReport
    average_precision: float
    threshold: float
    calibration_error: float


@dataclass(frozen=True)
class LabelTable:
    """The labels, all or the most frequent ones, and the reliability diagram of all."""

    lines: Sequence[LabelLine]
    diagram: Markup
    n_rows: int
    n_labels: int


def labels_section(
    Y: Any,
    predicted: np.ndarray,
    probabilities: np.ndarray,
    names: Sequence[str],
    thresholds: np.ndarray | None,
) -> Section:
    """Metrics of every label with its threshold, as a probability, and its calibration error."""
    counts = np.asarray(Y.sum(axis=0)).ravel()
    shown = np.sort(np.argsort(-counts, kind="stable")[:_MAX_LABELS])
    truth, own = Y[:, shown].toarray(), probabilities[:, shown]
    reports = label_report(
        Y[:, shown], predicted[:, shown], own, label_names=[names[k] for k in shown]
    )
    lines = [
        LabelLine(
            report,
            average_precision=(
                float(average_precision_score(truth[:, k], own[:, k]))
                if truth[:, k].any()
                else math.nan
            ),
            threshold=math.nan if thresholds is None else float(expit(thresholds[shown[k]])),
            calibration_error=reliability_curve(truth[:, [k]], own[:, [k]]).error,
        )
        for k, report in enumerate(reports)
    ]
    curves = {
        "bins of equal width": reliability_curve(Y, probabilities),
        "bins of equal size": reliability_curve(Y, probabilities, strategy="quantile"),
    }
    diagram = Markup(reliability_diagram(curves, title="Reliability over all labels"))
    content = LabelTable(lines, diagram, n_rows=len(truth), n_labels=len(names))
    return Section("labels", "Labels", "labels.html", content)
