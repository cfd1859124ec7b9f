"""Tables written for a test, and read without warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

from protolabel.datasets import (
    DatasetWarning,
    MultiLabelDataset,
    read_dataset,
)


def write(folder: Path, text: str, name: str = "mine.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read_quietly(*args: object, **kwargs: object) -> MultiLabelDataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DatasetWarning)
        return read_dataset(*args, **kwargs)


def numbered(cells: list[str], *, row: int, cell: str) -> str:
    rows = [f"{value},{value % 2}" for value in cells]
    rows[row] = f"{cell},1"
    return "price,dear\n" + "\n".join(rows) + "\n"


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
