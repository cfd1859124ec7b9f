"""One self-contained HTML page made of sections."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from protolabel.version import __version__

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Parameters
    ----------
    anchor : str
        Its address in the page; lower-case letters and dashes.
    title : str
        Heading.
    template : str
        File of the folder ``templates``; it sees the content under the name ``content``.
    content : object
        What the template shows.
    """

    anchor: str
    title: str
    template: str
    content: Any


def render_page(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """Put sections into one page with its style and its script.

    Parameters
    ----------
    title, subtitle : str
        Head of the page, any text.
    sections : sequence of Section
        In the order of the page.

    Returns
    -------
    str
        An HTML document that loads nothing and runs no script but its own.

    Examples
    --------
    >>> page = render_page("A <b>report</b>", "of nothing", [])
    >>> "A &lt;b&gt;report&lt;/b&gt;" in page
    True
    """
    script = asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            subtitle=subtitle,
            sections=sections,
            policy=_POLICY.format(digest=digest),
            style=Markup(asset("report.css")),
            script=Markup(script),
            version=__version__,
        )
    )


def asset(name: str) -> str:
    """Text of a file of the folder ``assets``."""
    return files("protolabel.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("protolabel.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["signed"] = signed
    environment.filters["duration"] = duration
    environment.filters["counted"] = counted
    return environment


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign, with a real minus; zero has none.

    Examples
    --------
    >>> signed(0.0123), signed(-0.5), signed(0.0001)
    ('+0.012', '−0.500', '0.000')
    """
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        return text[1:]
    return text.replace("-", "−")


def duration(seconds: float) -> str:
    """Seconds in the unit that people would choose.

    Examples
    --------
    >>> duration(0.0042), duration(3.14159), duration(75), duration(7260)
    ('4 ms', '3.1 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s"
    return f"{minutes // 60} h {minutes % 60} min"


def counted(number: int, noun: str) -> str:
    """A number of things, in the singular where there is one.

    Examples
    --------
    >>> counted(1, "dataset"), counted(3, "dataset")
    ('1 dataset', '3 datasets')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
