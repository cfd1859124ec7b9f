"""Small drawings as SVG: panels with a scale, dots, lines, cells and bars.

Colours are variables that follow the theme of the reader's system, and that of the site where the
picture is part of a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

from protolabel.report.svg import drawing, element, line, polyline, text

WIDTH, HEIGHT, GAP = 320, 250, 26
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 30, 40
_STYLE = """
svg.picture{--ink:#1c2024;--muted:#5c6670;--rule:#d3d9df;--a:#1f5fa8;--b:#c2571a;--c:#2b7a4b;
--d:#8a4fa3;--paper:#fff;font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
@media(prefers-color-scheme:dark){svg.picture{--ink:#e6e9ec;--muted:#9aa5af;--rule:#3a424a;
--a:#7db4f0;--b:#f0a066;--c:#7bcf93;--d:#cf9ee6;--paper:#14171a}}
svg.picture text{fill:var(--muted)}
svg.picture .title{fill:var(--ink);font-weight:600;font-size:13px}
"""


@dataclass
class Panel:
    """A pair of axes.

    Parameters
    ----------
    title : str
        Text above.
    x_range, y_range : pair of float
        What the axes span.
    x_title, y_title : str, default=""
        Texts beside them.
    x_ticks, y_ticks : sequence of (value, text), default=()
        Marks on them.
    """

    title: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_title: str = ""
    y_title: str = ""
    x_ticks: Sequence[tuple[float, str]] = ()
    y_ticks: Sequence[tuple[float, str]] = ()
    parts: list[Markup] = field(default_factory=list)
    has_names: bool = False

    @property
    def has_texts_below(self) -> bool:
        """Whether anything stands under the horizontal axis."""
        return bool(self.x_title or self.x_ticks or self.has_names)

    def x(self, value: float) -> float:
        """Place of a value on the horizontal axis."""
        low, high = self.x_range
        return float(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT))

    def y(self, value: float) -> float:
        """Place of a value on the vertical axis."""
        low, high = self.y_range
        return float(HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM))

    def dots(self, points: Any, colour: str, *, radius: float = 2.0, opacity: float = 0.75) -> None:
        """Circles."""
        # Points of a line of no length with round ends: the shortest way to write many dots.
        path = "".join(f"M{self.x(x):.1f} {self.y(y):.1f}h0" for x, y in np.asarray(points))
        self.parts.append(
            element(
                "path",
                d=path,
                stroke=f"var(--{colour})",
                stroke_width=2 * radius,
                stroke_linecap="round",
                stroke_opacity=str(opacity),
            )
        )

    def triangles(self, points: Any, colour: str) -> None:
        """Positive prototypes."""
        for px, py in np.asarray(points):
            x, y = self.x(px), self.y(py)
            corners = f"{x:.1f},{y - 8:.1f} {x + 7.5:.1f},{y + 5.5:.1f} {x - 7.5:.1f},{y + 5.5:.1f}"
            self.parts.append(
                element(
                    "polygon",
                    points=corners,
                    fill=f"var(--{colour})",
                    stroke="var(--paper)",
                    stroke_width="1.5",
                )
            )

    def squares(self, points: Any, colour: str) -> None:
        """Negative prototypes."""
        for px, py in np.asarray(points):
            self.parts.append(
                element(
                    "rect",
                    x=self.x(px) - 5.5,
                    y=self.y(py) - 5.5,
                    width=11,
                    height=11,
                    fill=f"var(--{colour})",
                    stroke="var(--paper)",
                    stroke_width="1.5",
                )
            )

    def curve(
        self, points: Iterable[tuple[float, float]], colour: str, *, dashed: bool = False
    ) -> None:
        """A line through points."""
        places = [(self.x(x), self.y(y)) for x, y in points]
        self.parts.append(
            polyline(
                places,
                stroke=f"var(--{colour})",
                stroke_width="2",
                stroke_dasharray="5 4" if dashed else None,
            )
        )

    def cells(self, values: np.ndarray, *, levels: int = 12, strongest: float = 0.85) -> None:
        """A matrix of values between -1 and 1 over the whole panel, first row on top."""
        n_rows, n_columns = values.shape
        width = (WIDTH - LEFT - RIGHT) / n_columns
        height = (HEIGHT - TOP - BOTTOM) / n_rows
        steps = np.round(values * levels).astype(int)
        paths: dict[int, str] = {}
        for row in range(n_rows):
            start = 0
            for column in range(1, n_columns + 1):
                # Neighbours of one colour are one rectangle.
                if column < n_columns and steps[row, column] == steps[row, start]:
                    continue
                x, y, wide = LEFT + start * width, TOP + row * height, (column - start) * width
                box = f"M{x:.1f} {y:.1f}h{wide + 0.2:.1f}v{height + 0.2:.1f}h-{wide + 0.2:.1f}z"
                step = int(steps[row, start])
                paths[step] = paths.get(step, "") + box
                start = column
        for step, path in sorted(paths.items()):
            if step:
                colour = "var(--a)" if step > 0 else "var(--b)"
                opacity = f"{strongest * abs(step) / levels:.2f}"
                self.parts.append(element("path", d=path, fill=colour, fill_opacity=opacity))

    def bar(self, x: float, value: float, width: float, colour: str, name: str = "") -> None:
        """A bar from the lower end of the axis, with a text on it."""
        top = self.y(value)
        self.parts.append(
            element(
                "rect",
                x=self.x(x - width / 2),
                y=top,
                width=self.x(width) - self.x(0),
                height=HEIGHT - BOTTOM - top,
                fill=f"var(--{colour})",
            )
        )
        if name:
            self.parts.append(text(self.x(x), top - 4, name, text_anchor="middle"))

    def note(
        self, x: float, y: float, content: str, colour: str = "", anchor: str = "start"
    ) -> None:
        """A text at a place of the data."""
        fill = f"fill:var(--{colour});font-weight:600" if colour else None
        self.parts.append(text(self.x(x), self.y(y), content, text_anchor=anchor, style=fill))

    def name_below(self, x: float, *lines: str) -> None:
        """A name of several lines under the axis."""
        self.has_names = True
        for number, content in enumerate(lines):
            place = HEIGHT - BOTTOM + 15 + 14 * number
            self.parts.append(
                text(self.x(x), place, content, text_anchor="middle", style="font-size:11px")
            )

    def drawn(self) -> list[Markup]:
        """Everything of the panel."""
        left, right, floor = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM
        frame = [
            line(left, floor, right, floor, stroke="var(--rule)"),
            line(left, TOP, left, floor, stroke="var(--rule)"),
            text(left, TOP - 12, self.title, class_="title"),
        ]
        for value, name in self.x_ticks:
            frame.append(text(self.x(value), floor + 15, name, text_anchor="middle"))
        for value, name in self.y_ticks:
            frame.append(text(left - 5, self.y(value) + 4, name, text_anchor="end"))
        if self.x_title:
            middle = (left + right) / 2
            frame.append(text(middle, HEIGHT - 7, self.x_title, text_anchor="middle"))
        if self.y_title:
            place = f"translate(12 {(TOP + floor) / 2:.0f}) rotate(-90)"
            frame.append(element("text", self.y_title, transform=place, text_anchor="middle"))
        return [*self.parts, *frame]


def picture(title: str, *panels: Panel) -> str:
    """Panels side by side as one SVG file."""
    groups = [
        element("g", panel.drawn(), transform=f"translate({number * (WIDTH + GAP)} 0)")
        for number, panel in enumerate(panels)
    ]
    width = len(panels) * (WIDTH + GAP) - GAP
    style = element("style", Markup(_STYLE.replace("\n", "")))
    # The name space makes the file a picture where it stands alone.
    space = {"xmlns": "http://www.w3.org/2000/svg"}
    height = HEIGHT if any(panel.has_texts_below for panel in panels) else HEIGHT - BOTTOM + 8
    whole = drawing(width, height, title, style, *groups, class_="picture", **space)
    return f"{whole}\n"


def span(values: Any, margin: float = 0.06) -> tuple[float, float]:
    """The range of values with some room around it."""
    low, high = float(np.min(values)), float(np.max(values))
    room = margin * (high - low or 1.0)
    return low - room, high + room
