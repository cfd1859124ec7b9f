"""The critical-difference diagram as a self-contained SVG string."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

WIDTH = 640
MARGIN = 150
AXIS_Y = 60
ROW_HEIGHT = 22


def similar_groups(
    average_ranks: Mapping[str, float], difference: float
) -> tuple[tuple[str, ...], ...]:
    """Find the largest groups of methods that the test cannot tell apart.

    Parameters
    ----------
    average_ranks : mapping of str to float
        Average rank of each method.
    difference : float
        Critical difference; ranks at least this far apart differ.

    Returns
    -------
    tuple of tuple of str
        Groups of at least two methods, best rank first; no group is part of another.

    Examples
    --------
    >>> from protolabel.experiments.statistics import similar_groups
    >>> similar_groups({"a": 1.0, "b": 1.8, "c": 2.6}, 1.0)
    (('a', 'b'), ('b', 'c'))
    """
    names = sorted(average_ranks, key=lambda name: average_ranks[name])
    groups: list[tuple[str, ...]] = []
    furthest = 0
    for start, name in enumerate(names):
        end = start + 1
        while end < len(names) and average_ranks[names[end]] - average_ranks[name] < difference:
            end += 1
        if end - start > 1 and end > furthest:
            groups.append(tuple(names[start:end]))
            furthest = end
    return tuple(groups)


def critical_difference_diagram(
    average_ranks: Mapping[str, float], difference: float, *, title: str = "Average rank"
) -> str:
    """Draw methods on a rank axis, with bars joining those that do not differ significantly.

    Parameters
    ----------
    average_ranks : mapping of str to float
        Average rank of each method.
    difference : float
        Critical difference.
    title : str, default="Average rank"
        Text above the axis and accessible name of the drawing.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> from protolabel.experiments.statistics import critical_difference_diagram
    >>> drawing = critical_difference_diagram({"a": 1.2, "b": 1.8}, 0.5)
    >>> drawing.startswith("<svg") and drawing.endswith("</svg>")
    True
    """
    if len(average_ranks) < 2:
        raise ValueError(f"got {len(average_ranks)} method(s); a diagram needs at least two.")
    names = sorted(average_ranks, key=lambda name: average_ranks[name])
    groups = similar_groups(average_ranks, difference)
    highest = max(len(names), 2)

    def place(rank: float) -> float:
        return MARGIN + (rank - 1) / (highest - 1) * (WIDTH - 2 * MARGIN)

    bars_y = AXIS_Y + 14
    first_name_y = bars_y + 10 * len(groups) + 16
    n_left = (len(names) + 1) // 2
    height = first_name_y + n_left * ROW_HEIGHT + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<text x="{MARGIN}" y="16">{escape(title)}</text>',
        _line(place(1), 28, place(1 + min(difference, highest - 1)), 28, 3),
        f'<text x="{place(1 + min(difference, highest - 1)) + 6:.1f}" y="32">'
        f"CD = {difference:.3f}</text>",
        _line(place(1), AXIS_Y, place(highest), AXIS_Y, 1),
    ]
    for rank in range(1, highest + 1):
        parts.append(_line(place(rank), AXIS_Y - 5, place(rank), AXIS_Y, 1))
        parts.append(
            f'<text x="{place(rank):.1f}" y="{AXIS_Y - 9}" text-anchor="middle">{rank}</text>'
        )
    for number, group in enumerate(groups):
        y = bars_y + 10 * number
        ends = (average_ranks[group[0]], average_ranks[group[-1]])
        parts.append(_line(place(ends[0]) - 3, y, place(ends[1]) + 3, y, 4))
    for position, name in enumerate(names):
        on_left = position < n_left
        row = position if on_left else len(names) - 1 - position
        y = first_name_y + row * ROW_HEIGHT
        x = place(average_ranks[name])
        edge = MARGIN - 10 if on_left else WIDTH - MARGIN + 10
        text = f"{name} {average_ranks[name]:.2f}"
        parts.append(_line(x, AXIS_Y, x, y, 1))
        parts.append(_line(x, y, edge, y, 1))
        parts.append(
            f'<text x="{edge - 4 if on_left else edge + 4}" y="{y + 4}" '
            f'text-anchor="{"end" if on_left else "start"}">{escape(text)}</text>'
        )
    parts.append("</svg>")
    return "".join(parts)


def _line(x1: float, y1: float, x2: float, y2: float, width: int) -> str:
    """Draw one line."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="currentColor" stroke-width="{width}"/>'
    )
