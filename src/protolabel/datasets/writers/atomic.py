"""Files that appear only once they are whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protolabel.exceptions import DatasetError


@contextmanager
def replace_when_done(path: Path) -> Iterator[Path]:
    """Give a temporary file to write to, and move it into place when the block succeeds.

    Parameters
    ----------
    path : Path
        Final place; its folder has to exist.

    Yields
    ------
    Path
        File to write to, in the same folder.
    """
    if not path.parent.is_dir():
        raise DatasetError(f"folder {path.parent} does not exist; create it before writing {path}")
    handle, partial_name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}.", suffix=".partial"
    )
    os.close(handle)
    partial = Path(partial_name)
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
