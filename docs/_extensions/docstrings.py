"""Docstrings in the style of numpydoc as the site needs them."""

import re
from typing import Any

from sphinx.application import Sphinx

_FIELD = re.compile(r"^(\s*[*\w, ]+ : )(.*)$")
# To reStructuredText a name that ends with an underscore is a link.
_FITTED_NAME = re.compile(r"(?<=\w)_(?=[,)\s]|$)")
_BEFORE_NAPOLEON = 100


def setup(app: Sphinx) -> dict[str, Any]:
    """Change docstrings before they are parsed."""
    app.connect("autodoc-process-docstring", _escape_fitted_names, priority=_BEFORE_NAPOLEON)
    app.connect("autodoc-process-docstring", _join_summary, priority=_BEFORE_NAPOLEON)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _escape_fitted_names(
    _app: Sphinx, _what: str, _name: str, _item: Any, _options: Any, lines: list[str]
) -> None:
    for number, line in enumerate(lines):
        field = _FIELD.match(line)
        if field is not None:
            lines[number] = field[1] + _FITTED_NAME.sub(r"\\_", field[2])


def _join_summary(
    _app: Sphinx, _what: str, _name: str, _item: Any, _options: Any, lines: list[str]
) -> None:
    """Keep tables of summaries from taking three dots for the end of a sentence."""
    if lines:
        lines[0] = lines[0].replace("...", "…")
