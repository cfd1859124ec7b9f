"""Formulas as MathML, which browsers draw without a script or a font from elsewhere."""

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the renderer the one of the site."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    app.config.html_math_renderer = "mathml"  # type: ignore[attr-defined]
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_formula(node, is_block=False))
    raise nodes.SkipNode


def _visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{_formula(node, is_block=True)}</div>\n')
    raise nodes.SkipNode


def _formula(node: nodes.Element, *, is_block: bool) -> str:
    """Turn TeX into MathML; what it does not know ends the build with the place in the page."""
    try:
        return str(latex2mathml.tex2mathml(node.astext(), as_block=is_block))
    except Exception as error:
        raise ValueError(f"{node.source}:{node.line}: {node.astext()!r}: {error}") from error
