"""A figure as PNG and SVG: without a display, without a date, and with names as plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protolabel.datasets.writers.atomic import replace_when_done

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[["Figure"], None]
FORMATS = ("png", "svg")
LONGEST_TITLE = 80
_LONGEST_NAME = 32
# The library calls text between dollar signs mathematics; a label may be called "$\frac".
_SETTINGS: Any = {
    "text.parse_math": False,
    "text.usetex": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "protolabel",
    "figure.dpi": 100,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def check_can_draw() -> None:
    """Refuse to go on where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Figures are drawn by matplotlib, which is not installed; install "
            "protolabel[plots], or leave the figures out with --no-figures."
        ) from error


def save_figure(draw: Draw, path: Path, size: tuple[float, float]) -> list[Path]:
    """Draw a figure and write it as PNG and as SVG.

    Parameters
    ----------
    draw : callable
        Called with an empty figure.
    path : Path
        Where to write, without a suffix; its folder has to exist.
    size : pair of float
        Width and height in inches.

    Returns
    -------
    list of Path
        The two files; equal drawings give equal files.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> files = save_figure(lambda figure: None, Path(mkdtemp()) / "empty", (2, 2))
    >>> [file.name for file in files]
    ['empty.png', 'empty.svg']
    """
    check_can_draw()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    written = []
    with _settings():
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        for kind in FORMATS:
            # Not with_suffix: a name may have a dot in it.
            target = path.with_name(f"{path.name}.{kind}")
            metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
            with replace_when_done(target) as partial:
                figure.savefig(partial, format=kind, metadata=metadata)
            written.append(target)
    return written


def plain_name(name: object, longest: int = _LONGEST_NAME) -> str:
    """Make a name fit to be drawn: printable, on one line and not too long.

    Examples
    --------
    >>> plain_name("two" + chr(10) + "lines")
    'two lines'
    """
    text = " ".join(str(name).split())
    text = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@contextmanager
def _settings() -> Iterator[None]:
    import matplotlib  # noqa: PLC0415

    # A style of the user would give other files from the same results.
    with matplotlib.rc_context(matplotlib.rcParamsDefault), matplotlib.rc_context(_SETTINGS):
        yield
