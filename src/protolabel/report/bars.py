"""Signed numbers as bars to the left and to the right of zero."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from protolabel.report.page import signed
from protolabel.report.svg import drawing, element, line, shorten, text

_NAMES, _BARS, _VALUES, _ROW = 170, 260, 64, 24


def signed_bars(rows: Sequence[tuple[str, float]], title: str) -> Markup:
    """Draw a bar for each named number.

    Parameters
    ----------
    rows : sequence of (name, value)
        From top to bottom.
    title : str
        Accessible name of the drawing.

    Returns
    -------
    Markup
        An ``svg`` element; full names are shown on hover and focus.
    """
    largest = max((abs(value) for _, value in rows), default=0.0) or 1.0
    zero = _NAMES + _BARS / 2
    height = _ROW * len(rows) + 8
    parts = []
    for number, (name, value) in enumerate(rows):
        top = 4 + _ROW * number
        width = abs(value) / largest * _BARS / 2
        parts.append(
            element(
                "g",
                text(_NAMES - 8, top + 16, shorten(name, 22), text_anchor="end"),
                element(
                    "rect",
                    x=zero if value >= 0 else zero - width,
                    y=top + 4,
                    width=width,
                    height=_ROW - 8,
                    rx=2,
                    class_="positive" if value >= 0 else "negative",
                ),
                text(_NAMES + _BARS + 8, top + 16, signed(value)),
                tabindex=0,
                data_tip=f"{name}\n{signed(value, 4)}",
                aria_label=f"{name}: {signed(value)}",
                role="img",
            )
        )
    return drawing(
        _NAMES + _BARS + _VALUES,
        height,
        title,
        line(zero, 0, zero, height, class_="axis"),
        *parts,
        role="group",
    )
