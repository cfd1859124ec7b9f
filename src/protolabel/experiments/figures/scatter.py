"""Points in the plane: a map of prototypes, and our values against published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from protolabel.experiments.figures.canvas import LONGEST_TITLE, Draw, plain_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_N_COLOURS = 20
_MARKERS = "osD^v<>Pp*hX"


def draw_map(
    points: NDArray[np.float64],
    groups: NDArray[np.int64],
    numbers: Mapping[int, tuple[float, float]],
    title: str,
) -> Draw:
    """Return what draws prototypes by group, with the number of each group at a place of its own.

    Parameters
    ----------
    points : ndarray of shape (n_points, 2)
        Places of the prototypes.
    groups : ndarray of shape (n_points,)
        Number of the group of each; odd groups are negative components.
    numbers : mapping of group to place
        Where to write the numbers.
    title : str
        Text above.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for parity, marker, name in ((0, "o", "positive (even)"), (1, "s", "negative (odd)")):
            chosen = groups % 2 == parity
            axes.scatter(
                points[chosen, 0],
                points[chosen, 1],
                c=groups[chosen] // 2 % _N_COLOURS,
                cmap="tab20",
                vmin=0,
                vmax=_N_COLOURS - 1,
                marker=marker,
                s=14,
                alpha=0.6,
                linewidths=0,
                label=f"{name} prototypes",
            )
        for number, (x, y) in numbers.items():
            axes.annotate(
                str(number),
                (x, y),
                fontsize=7,
                ha="center",
                va="center",
                color="black" if number % 2 == 0 else "firebrick",
            )
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(plain_name(title, LONGEST_TITLE))
        axes.legend(loc="upper right", fontsize=7)

    return draw


def draw_agreement(
    pairs: Mapping[str, Sequence[tuple[float, float]]], x_title: str, y_title: str
) -> Draw:
    """Return what draws pairs of values by method, with the line of equality."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for number, (name, values) in enumerate(pairs.items()):
            x, y = zip(*values, strict=True)
            marker = _MARKERS[number % len(_MARKERS)]
            axes.scatter(x, y, s=14, alpha=0.7, marker=marker, label=plain_name(name))
        axes.axline((0, 0), slope=1, color="0.5", linewidth=1)
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        axes.legend(fontsize=7)

    return draw
