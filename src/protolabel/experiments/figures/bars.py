"""Groups of bars on a logarithmic axis, for times that differ by orders of magnitude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from protolabel.experiments.figures.canvas import Draw, plain_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_bars(
    groups: Sequence[str], series: Mapping[str, Sequence[float | None]], y_title: str
) -> Draw:
    """Return what draws one bar of each series in each group; None leaves a gap.

    Parameters
    ----------
    groups : sequence of str
        Names under the axis.
    series : mapping of title to values
        One value for each group.
    y_title : str
        Text beside the axis.
    """

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415

        axes = figure.subplots()
        width = 0.8 / max(len(series), 1)
        for number, (title, values) in enumerate(series.items()):
            places = [place + (number + 0.5) * width - 0.4 for place in range(len(groups))]
            known = [(p, v) for p, v in zip(places, values, strict=True) if v is not None]
            axes.bar(
                [place for place, _ in known],
                [value for _, value in known],
                width,
                label=plain_name(title),
            )
        axes.set_yscale("log")
        # The usual labels of this axis are mathematics, which is not interpreted here.
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(range(len(groups)), [plain_name(name) for name in groups], rotation=40)
        axes.set_ylabel(y_title)
        axes.legend(fontsize=7)

    return draw
