"""Names of arms and metrics as a report shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from protolabel.experiments.tables import METRIC_TITLES, arm_title
from protolabel.experiments.unit import Arm
from protolabel.metrics import get_metric


def arm_names(arms: Iterable[Arm]) -> dict[Arm, str]:
    """A different name for each arm, with tuning and thresholds only where they tell arms apart.

    Examples
    --------
    >>> list(arm_names([Arm("br"), Arm("br", tuning="grid")]).values())
    ['BR (no tuning)', 'BR (tuning: grid)']
    """
    wanted = list(dict.fromkeys(arms))
    names = {arm: arm_title(arm) for arm in wanted}
    for describe in (_tuning, _thresholds, _space):
        counts = Counter(names.values())
        texts: dict[str, set[str]] = {}
        for arm, name in names.items():
            texts.setdefault(name, set()).add(describe(arm))
        names = {
            arm: f"{name} ({describe(arm)})" if counts[name] > 1 and len(texts[name]) > 1 else name
            for arm, name in names.items()
        }
    return names


def metric_title(metric: str) -> str:
    """Title of a metric; its name where it has none."""
    return METRIC_TITLES.get(metric, metric.replace("_", " ").capitalize())


def larger_is_better(metric: str) -> bool:
    """Direction of a metric."""
    return get_metric(metric).larger_is_better


def _tuning(arm: Arm) -> str:
    if arm.tuning == "none":
        return "no tuning"
    return f"tuning: {arm.tuning}" + (" trials" if arm.tuning.isdecimal() else "")


def _thresholds(arm: Arm) -> str:
    return "own thresholds" if arm.thresholds == "none" else "tuned thresholds"


def _space(arm: Arm) -> str:
    return "own grid" if not arm.space else f"grid: {dict(arm.space)}"
