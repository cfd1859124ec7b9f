"""Section: several methods on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protolabel.report.names import larger_is_better, metric_title
from protolabel.report.page import Section

_DIGITS = 3


@dataclass(frozen=True)
class MetricLine:
    """The values of one metric, a method each; ``best`` is the best of them, rounded."""

    title: str
    larger_is_better: bool
    values: Sequence[float]
    best: float


@dataclass(frozen=True)
class Comparison:
    """A table of methods and metrics."""

    methods: Sequence[str]
    lines: Sequence[MetricLine]


def comparison_section(results: Mapping[str, Mapping[str, float]]) -> Section:
    """Set methods side by side.

    Parameters
    ----------
    results : mapping of method to mapping of metric to value
        The same metrics for every method.

    Returns
    -------
    Section

    Examples
    --------
    >>> section = comparison_section({"A": {"ranking_loss": 0.2}, "B": {"ranking_loss": 0.1}})
    >>> section.content.lines[0].best
    0.1
    """
    metrics = list(next(iter(results.values()), {}))
    lines = []
    for metric in metrics:
        larger = larger_is_better(metric)
        values = [round(float(values[metric]), _DIGITS) for values in results.values()]
        best = (max if larger else min)(values)
        lines.append(MetricLine(metric_title(metric), larger, values, best))
    return Section("comparison", "Comparison", "comparison.html", Comparison(list(results), lines))
