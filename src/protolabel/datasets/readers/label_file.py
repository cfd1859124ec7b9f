"""A file with the names of labels."""

from __future__ import annotations

from pathlib import Path

from protolabel.datasets.lines import iter_lines
from protolabel.datasets.readers.mulan_labels import read_label_names
from protolabel.exceptions import DatasetError


def read_label_file(path: Path, encoding: str = "utf-8") -> tuple[str, ...]:
    """Names of labels, one a line or in the XML list of an ARFF file.

    Parameters
    ----------
    path : Path
    encoding : str, default="utf-8"
        Of a file with one name a line.

    Raises
    ------
    DatasetError
        There are none.
    """
    if path.suffix.lower() == ".xml":
        return tuple(read_label_names(path))
    names = tuple(line.strip() for line in iter_lines(path, encoding=encoding) if line.strip())
    if not names:
        raise DatasetError(f"{path} holds no names of labels; write one a line")
    return names
