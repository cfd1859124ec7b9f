"""Square matrices of values between -1 and 1, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from protolabel.experiments.figures.canvas import LONGEST_TITLE, Draw, plain_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_NAMES = 60


def draw_matrices(matrices: Mapping[str, NDArray[np.float64]], names: Sequence[str]) -> Draw:
    """Return what draws matrices whose rows and columns are the same labels.

    Parameters
    ----------
    matrices : mapping of title to ndarray of shape (n_labels, n_labels)
        What to draw, on one scale; its diagonal is left blank.
    names : sequence of str
        Names of the labels; with many of them, only some numbers are shown.
    """

    def draw(figure: Figure) -> None:
        grid = figure.subplots(1, len(matrices), squeeze=False)
        image = None
        for axes, (title, matrix) in zip(grid[0], matrices.items(), strict=True):
            shown = matrix.copy()
            np.fill_diagonal(shown, np.nan)
            image = axes.imshow(shown, vmin=-1, vmax=1, cmap="RdBu_r", interpolation="nearest")
            axes.set_title(plain_name(title, LONGEST_TITLE))
            if len(names) <= _MOST_NAMES:
                axes.set_xticks(range(len(names)), [str(i) for i in range(len(names))], fontsize=6)
                tick_names = [f"{plain_name(name)} {number}" for number, name in enumerate(names)]
                axes.set_yticks(range(len(names)), tick_names, fontsize=6)
        if image is not None:
            figure.colorbar(image, ax=list(grid[0]), shrink=0.8)

    return draw
