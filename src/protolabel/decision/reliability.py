"""The reliability diagram as a self-contained SVG string."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

from protolabel.metrics import ReliabilityCurve

SIZE = 320
MARGIN = 44
COLOURS = ("#1f5fa8", "#c2571a", "#3a7d44", "#7a4fa3", "#8a6d00", "#b03060")


def reliability_diagram(
    curves: Mapping[str, ReliabilityCurve], *, title: str = "Reliability"
) -> str:
    """Draw observed frequency against predicted probability.

    Parameters
    ----------
    curves : mapping of str to ReliabilityCurve
        Curves of :func:`protolabel.metrics.reliability_curve` by the name of the model, at most
        six.
    title : str, default="Reliability"
        Text above the drawing and its accessible name.

    Returns
    -------
    str
        An ``<svg>`` element; on the diagonal, probabilities are what they say. The area of a
        point grows with the number of cells in its bin.

    Examples
    --------
    >>> from protolabel.decision import reliability_diagram
    >>> from protolabel.metrics import reliability_curve
    >>> curve = reliability_curve([[1, 0], [1, 0]], [[0.9, 0.1], [0.8, 0.2]])
    >>> reliability_diagram({"model": curve}).count("<circle")
    4
    """
    if not 1 <= len(curves) <= len(COLOURS):
        raise ValueError(f"got {len(curves)} curves, expected 1 to {len(COLOURS)}.")
    height = SIZE + 2 * MARGIN + 18 * len(curves)
    width = SIZE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<text x="{MARGIN}" y="20">{escape(title)}</text>',
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIZE}" height="{SIZE}" fill="none" '
        'stroke="currentColor"/>',
        f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" stroke="currentColor" '
        'stroke-dasharray="4 4"/>',
        f'<text x="{_x(0.5)}" y="{_y(0) + 30}" text-anchor="middle">predicted probability</text>',
        f'<text x="14" y="{_y(0.5)}" text-anchor="middle" '
        f'transform="rotate(-90 14 {_y(0.5)})">observed frequency</text>',
    ]
    parts.extend(
        f'<text x="{_x(tick)}" y="{_y(0) + 15}" text-anchor="middle">{tick:g}</text>'
        f'<text x="{MARGIN - 5}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>'
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    for number, (name, curve) in enumerate(curves.items()):
        parts.extend(_draw_curve(curve, COLOURS[number]))
        y = _y(0) + 50 + 18 * number
        text = f"{name} (calibration error {curve.error:.3f})"
        parts.append(
            f'<rect x="{MARGIN}" y="{y - 9}" width="10" height="10" fill="{COLOURS[number]}"/>'
            f'<text x="{MARGIN + 16}" y="{y}">{escape(text)}</text>'
        )
    parts.append("</svg>")
    return "".join(parts)


def _draw_curve(curve: ReliabilityCurve, colour: str) -> list[str]:
    """Draw one curve with points sized by their cells."""
    points = list(zip(curve.predicted, curve.observed, curve.counts, strict=True))
    path = " ".join(f"{_x(predicted)},{_y(observed)}" for predicted, observed, _ in points)
    most = max(count for _, _, count in points)
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        *(
            f'<circle cx="{_x(predicted)}" cy="{_y(observed)}" '
            f'r="{2 + 4 * (count / most) ** 0.5:.1f}" fill="{colour}">'
            f"<title>predicted {predicted:.3f}, observed {observed:.3f}, {count} cells</title>"
            "</circle>"
            for predicted, observed, count in points
        ),
    ]


def _x(share: float) -> float:
    """Horizontal place of a probability."""
    return round(MARGIN + share * SIZE, 1)


def _y(share: float) -> float:
    """Vertical place of a frequency."""
    return round(MARGIN + (1 - share) * SIZE, 1)
