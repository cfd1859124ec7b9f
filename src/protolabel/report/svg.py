"""SVG elements as text that is safe to put into a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup, escape


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """One element; texts among children and attributes are escaped.

    Parameters
    ----------
    name : str
        Name of the element.
    *children
        Elements, texts or iterables of such.
    **attributes
        Underscores become dashes, one at the end is dropped; None leaves the attribute out, and
        floats are rounded to a hundredth.

    Returns
    -------
    Markup
        The element.

    Examples
    --------
    >>> print(element("text", "a < b", x=1.0, text_anchor="end"))
    <text x="1" text-anchor="end">a &lt; b</text>
    """
    texts = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(str(escape(child)) for child in _flat(children))
    return Markup(f"<{name}{texts}>{inner}</{name}>" if inner else f"<{name}{texts}/>")


def drawing(width: float, height: float, title: str, *children: Any, **attributes: Any) -> Markup:
    """An ``svg`` element that shrinks with its place and has an accessible name."""
    # A drawing with parts to be focussed is a group, not an image without inner life.
    given = {"role": "img", "class_": "drawing"} | attributes
    return element(
        "svg",
        element("title", title),
        *children,
        viewBox=f"0 0 {_short(width)} {_short(height)}",
        width=width,
        height=height,
        **given,
    )


def text(x: float, y: float, content: str, **attributes: Any) -> Markup:
    """A text."""
    return element("text", content, x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> Markup:
    """A line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def polyline(points: Iterable[tuple[float, float]], **attributes: Any) -> Markup:
    """A line through points."""
    path = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
    return element("polyline", points=path, fill="none", **attributes)


def shorten(name: str, length: int = 24) -> str:
    """Cut a name that has no room.

    Examples
    --------
    >>> shorten("a very long name of a label", 12)
    'a very long…'
    """
    return name if len(name) <= length else name[: length - 1].rstrip() + "…"


def _short(value: Any) -> str:
    """A number without digits that no screen shows."""
    if isinstance(value, float):
        rounded = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if rounded == "-0" else rounded
    return str(value)


def _flat(children: Iterable[Any]) -> Iterable[Any]:
    for child in children:
        if isinstance(child, str):
            yield child
        else:
            yield from _flat(child)
