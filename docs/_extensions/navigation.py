"""Pages that come and go: listed ones may be missing, and others take the place of ``others``."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

OTHERS = "others"


def setup(app: Sphinx) -> dict[str, Any]:
    """Read ``optional_pages`` of the configuration: names as they stand in a toctree."""
    app.add_config_value("optional_pages", [], "env", [list])
    app.connect("source-read", _complete)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _complete(app: Sphinx, name: str, source: list[str]) -> None:
    """Complete the table of contents of the first page."""
    if name != app.config.root_doc:
        return
    written = {path.stem for path in Path(app.srcdir).glob("*.md")} - {name}
    missing = set(app.config.optional_pages) - written
    lines = [line for line in source[0].splitlines() if line not in missing]
    listed = {re.sub(r"^.*<(.*)>$", r"\1", line) for line in lines}
    others = "\n".join(sorted(written - listed))
    source[0] = "\n".join(others if line == OTHERS else line for line in lines) + "\n"
