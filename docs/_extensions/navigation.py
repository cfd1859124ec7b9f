"""Pages that may be missing: they are in the navigation where they exist."""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Read ``optional_pages`` of the configuration: names as they stand in a toctree."""
    app.add_config_value("optional_pages", [], "env", [list])
    app.connect("source-read", _leave_out_missing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _leave_out_missing(app: Sphinx, name: str, source: list[str]) -> None:
    folder = (Path(app.srcdir) / name).parent
    missing = {page for page in app.config.optional_pages if not (folder / f"{page}.md").is_file()}
    lines = source[0].splitlines(keepends=True)
    source[0] = "".join(line for line in lines if line.strip() not in missing)
