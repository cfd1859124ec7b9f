"""Links from a page to text files outside the folder of the site: they are copied with it."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# Other kinds of files are copied without this.
_UPWARDS = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+\.md)\)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite the links of every page that is read."""
    app.connect("source-read", _make_downloads)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _make_downloads(app: Sphinx, name: str, source: list[str]) -> None:
    folder = (Path(app.srcdir) / name).parent

    def download(link: re.Match[str]) -> str:
        if (folder / link[2]).resolve().is_relative_to(app.srcdir):
            return link[0]
        text = " ".join(link[1].split())
        return f"{{download}}`{text} <{link[2]}>`"

    source[0] = _UPWARDS.sub(download, source[0])
