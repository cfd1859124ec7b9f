"""Links from a page to text files outside the folder of the site: they are copied with it."""

import re
from typing import Any

from sphinx.application import Sphinx

# Other kinds of files are copied without this.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+(?:results|src|benchmarks)/[^)#]+\.md)\)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite the links of every page that is read."""
    app.connect("source-read", _make_downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _make_downloads(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = _OUTSIDE.sub(_download, source[0])


def _download(link: re.Match[str]) -> str:
    text = " ".join(link[1].split())
    return f"{{download}}`{text} <{link[2]}>`"
