"""Curves of a quantity over the values of a setting, one panel for each setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protolabel.experiments.figures.canvas import LONGEST_TITLE, Draw, plain_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curve:
    """Means with their spread, in the order of the positions.

    Parameters
    ----------
    title : str
        Name in the legend; "" for none.
    means, spreads : sequence of float
        Points and half-widths of the band around them.
    """

    title: str
    means: Sequence[float]
    spreads: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Parameters
    ----------
    title, x_title, y_title : str
        Texts.
    positions : sequence of str
        Names of the values, equally spaced.
    curves : sequence of Curve
        What is drawn.
    marked : sequence of int, default=()
        Positions of the values that are used elsewhere.
    reference : float or None, default=None
        Height of a dashed line.
    reference_title : str, default=""
        What the line stands for.
    from_zero : bool, default=False
        Whether the vertical axis starts at zero.
    """

    title: str
    x_title: str
    y_title: str
    positions: Sequence[str]
    curves: Sequence[Curve]
    marked: Sequence[int] = ()
    reference: float | None = None
    reference_title: str = ""
    from_zero: bool = False


def draw_panels(panels: Sequence[Panel], *, share_y: bool) -> Draw:
    """Return what draws panels side by side."""

    def draw(figure: Figure) -> None:
        grid = figure.subplots(1, len(panels), squeeze=False, sharey=share_y)
        for axes, panel in zip(grid[0], panels, strict=True):
            _draw_panel(axes, panel)

    return draw


def _draw_panel(axes: Axes, panel: Panel) -> None:
    places = range(len(panel.positions))
    for curve in panel.curves:
        (line,) = axes.plot(places, curve.means, marker="o", markersize=3.5, label=curve.title)
        lower = [mean - spread for mean, spread in zip(curve.means, curve.spreads, strict=True)]
        upper = [mean + spread for mean, spread in zip(curve.means, curve.spreads, strict=True)]
        axes.fill_between(places, lower, upper, color=line.get_color(), alpha=0.15, linewidth=0)
    for position in panel.marked:
        axes.axvline(position, color="0.6", linestyle=":", linewidth=1)
    if panel.reference is not None:
        axes.axhline(panel.reference, color="0.3", linestyle="--", linewidth=1)
        axes.annotate(
            panel.reference_title,
            (0, panel.reference),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=7,
            color="0.3",
        )
    axes.set_xticks(places, [plain_name(name) for name in panel.positions], rotation=60)
    axes.set_title(plain_name(panel.title, LONGEST_TITLE))
    axes.set_xlabel(panel.x_title)
    axes.set_ylabel(panel.y_title)
    if panel.from_zero:
        axes.set_ylim(bottom=0)
    if len(panel.curves) > 1:
        axes.legend()
