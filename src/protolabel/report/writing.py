"""A page on the disk: whole or not at all, and never over another file by accident."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from protolabel.safefiles.places import replaceable_file

_MARK = b'<meta name="generator" content="protolabel '
_HEAD = 4096


def is_own_page(path: Path) -> bool:
    """Whether a file is a page that protolabel wrote.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from protolabel.report.page import render_page
    >>> path = Path(mkdtemp()) / "page.html"
    >>> write_page(render_page("Mine", "", []), path)
    >>> is_own_page(path)
    True
    """
    with path.open("rb") as file:
        return _MARK in file.read(_HEAD)


def write_page(page: str, path: Path, *, force: bool = False) -> None:
    """Write a page.

    Parameters
    ----------
    page : str
        HTML text.
    path : Path
        File to write; its folder has to exist.
    force : bool, default=False
        Replace an existing file; of a link, the file that it leads to.
    """
    path = replaceable_file(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists; use --force to replace it, or name another file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to.")
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    try:
        # Names in old files may hold what is no valid text; a page shows a mark in its place.
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(page)
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    finally:
        Path(draft).unlink(missing_ok=True)
