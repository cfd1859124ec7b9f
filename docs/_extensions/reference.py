"""The directive ``public-names``: all names that a package exports, from their docstrings.

Its content may describe constants, which have no docstring: ``NAME : what it is``.
"""

import inspect
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive."""
    app.add_directive("public-names", PublicNames)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class PublicNames(Directive):
    """A table of the names in ``__all__`` of a module, and the whole of each."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the directives of autodoc for every name and parse them."""
        module = self.arguments[0]
        described = dict(line.split(" : ", 1) for line in self.content if line.strip())
        lines = StringList(reference_of(module, described), source=f"names of {module}")
        parent = nodes.container()
        self.state.nested_parse(lines, self.content_offset, parent)
        return parent.children


def reference_of(module: str, described: dict[str, str]) -> list[str]:
    """Lines of reStructuredText.

    Parameters
    ----------
    module : str
        Module with an ``__all__``.
    described : dict of str to str
        Texts for constants.

    Returns
    -------
    list of str
        The lines.
    """
    home = import_module(module)
    values = {name: getattr(home, name) for name in home.__all__}
    documented = [name for name, value in values.items() if _kind(value) != "data"]
    lines = [".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   ~{module}.{name}" for name in documented]
    for name, value in values.items():
        kind = _kind(value)
        if kind == "data":
            text = described.get(name) or f"A {type(value).__name__}."
            lines += ["", f".. py:data:: {module}.{name}", "", f"   {text}"]
            continue
        lines += ["", f".. auto{kind}:: {module}.{name}"]
        if kind == "class":
            lines.append("   :members:")
    return [*lines, ""]


def _kind(value: Any) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) else "data"
