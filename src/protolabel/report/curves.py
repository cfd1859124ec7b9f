"""Section of a model: the course of its training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from protolabel.pnml.callbacks import EpochRecord
from protolabel.report.page import Section
from protolabel.report.svg import drawing, element, line, polyline, text

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 640, 300, 56, 40, 16, 16
_KEY = _WIDTH - _RIGHT - 140
_N_TICKS = 5


@dataclass(frozen=True)
class Learning:
    """Drawing of the losses and a table of the last epoch."""

    chart: Markup
    last: EpochRecord
    n_epochs: int
    seconds: float


def learning_section(history: Sequence[EpochRecord]) -> Section:
    """Losses of every epoch."""
    series = {
        "loss": [record.loss for record in history],
        "cross-entropy": [record.cross_entropy for record in history],
    }
    validation = [r.validation_loss for r in history if r.validation_loss is not None]
    if len(validation) == len(history):
        series["validation loss"] = validation
    if series["loss"] == series["cross-entropy"]:
        # Without penalties both are the same line.
        del series["cross-entropy"]
    content = Learning(
        line_chart(series, [record.epoch for record in history], "epoch", "loss"),
        history[-1],
        len(history),
        sum(record.seconds for record in history),
    )
    return Section("learning", "Learning curves", "learning.html", content)


def line_chart(
    series: dict[str, list[float]], steps: Sequence[int], x_title: str, y_title: str
) -> Markup:
    """Lines over common steps, told apart by dashes as well as by colour."""
    values = [value for line_values in series.values() for value in line_values]
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    low, high = low - 0.05 * span, high + 0.05 * span
    first, last = steps[0], max(steps[-1], steps[0] + 1)

    def x(step: float) -> float:
        return _LEFT + (step - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    ticks = [low + (high - low) * number / (_N_TICKS - 1) for number in range(_N_TICKS)]
    parts = [
        *(line(_LEFT, y(tick), _WIDTH - _RIGHT, y(tick), class_="grid") for tick in ticks),
        *(text(_LEFT - 8, y(tick) + 4, f"{tick:.3g}", text_anchor="end") for tick in ticks),
        *(
            text(x(step), _HEIGHT - _BOTTOM + 16, str(step), text_anchor="middle")
            for step in sorted({first, round((first + last) / 2), last})
        ),
        text((_LEFT + _WIDTH) / 2, _HEIGHT - 4, x_title, text_anchor="middle"),
    ]
    for number, (name, line_values) in enumerate(series.items()):
        points = [(x(step), y(value)) for step, value in zip(steps, line_values, strict=True)]
        parts.append(polyline(points, class_=f"series series-{number}"))
        parts += [
            element(
                "circle",
                cx=px,
                cy=py,
                r=7,
                class_="target",
                data_tip=f"{name}\n{x_title} {step}: {value:.4g}",
            )
            for (px, py), step, value in zip(points, steps, line_values, strict=True)
        ]
        key_y = _TOP + 12 + 18 * number
        parts.append(line(_KEY, key_y, _KEY + 28, key_y, class_=f"series series-{number}"))
        parts.append(text(_KEY + 36, key_y + 4, name))
    return drawing(_WIDTH, _HEIGHT, f"{y_title} by {x_title}", *parts, role="group")
