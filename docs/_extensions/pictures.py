"""SVG pictures within the page instead of beside it, so that they follow its theme."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace image nodes once the files are known."""
    app.connect("doctree-read", _put_pictures_in)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _put_pictures_in(app: Sphinx, doctree: nodes.document) -> None:
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir) / image["uri"]
        # A missing file is reported by Sphinx itself.
        if path.suffix != ".svg" or not path.is_file():
            continue
        app.env.note_dependency(str(path))
        svg = path.read_text(encoding="utf-8")
        raw = nodes.raw("", f'<div class="picture">{svg}</div>', format="html")
        # A picture alone in its paragraph: a block may not stand within one.
        parent = image.parent
        if isinstance(parent, nodes.paragraph) and len(parent) == 1:
            parent.replace_self(raw)
        else:
            image.replace_self(raw)
