"""What a person says about a file, and what kind of file it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from protolabel.datasets import dataset_names, sniff_format
from protolabel.datasets.lines import check_encoding
from protolabel.datasets.sniffing import FORMATS, Format
from protolabel.exceptions import DatasetError

TABLE_FORMATS = ("csv", "parquet")


@dataclass(frozen=True)
class FileOptions:
    """How to read a file; None finds out.

    Parameters
    ----------
    format : str or None, default=None
        One of mulan, meka, xmlc, libsvm, csv, parquet, npz, text.
    labels : tuple of str or None, default=None
        Names of the labels, columns of a table.
    label_file : Path or None, default=None
        XML label list of an ARFF file, label names of a text file, or names of the label columns
        of a table.
    n_labels : int or None, default=None
        The last columns of a table or an ARFF file are that many labels; the number of labels
        of formats that number them.
    tags : str or None, default=None
        Column of a table with several labels a cell.
    tag_separator : str or None, default=None
        What stands between tags.
    categorical, drop : tuple of str, default=()
        Columns of words, and columns to leave out.
    groups : str or None, default=None
        Column of a table that says which rows belong together; it is no feature.
    delimiter : str or None, default=None
        Character between the cells of a CSV file.
    encoding : str, default="utf-8"
        Encoding of text files; the byte-order mark of UTF-16 or UTF-32 overrules it.
    """

    format: str | None = None
    labels: tuple[str, ...] | None = None
    label_file: Path | None = None
    n_labels: int | None = None
    tags: str | None = None
    tag_separator: str | None = None
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    groups: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(
                f"The format {self.format!r} is unknown; use one of {', '.join(FORMATS)}."
            )
        given = [
            name for name in ("labels", "label_file", "n_labels") if getattr(self, name) is not None
        ]
        if len(given) > 1 or (self.n_labels is not None and self.tags is not None):
            raise ValueError(
                f"The labels are given by {' and '.join([*given, *(['tags'] * bool(self.tags))])}; "
                "use one of them."
            )
        if self.n_labels is not None and self.n_labels < 1:
            raise ValueError(f"{self.n_labels} labels were asked for; at least 1 is needed.")
        check_encoding(self.encoding)
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"The delimiter is {self.delimiter!r}; expected one character.")


def format_of(source: str | Path, options: FileOptions) -> Format | None:
    """Format of a file; None for a dataset of the catalogue.

    Parameters
    ----------
    source : str or Path
        A file, or the name of a dataset.
    options : FileOptions

    Raises
    ------
    DatasetError
        There is neither such a file nor such a dataset, or the content is of no known format.
    """
    path = Path(source)
    if str(source) == "-" or path.is_fifo() or path.is_socket() or path.is_char_device():
        raise DatasetError(
            f"{source} is no regular file, and a file is read more than once; save its content to "
            "a file first"
        )
    if not path.is_file():
        is_name = path.name == str(source) and not path.suffix
        if str(source) in dataset_names() or (is_name and not path.exists()):
            return None
        found = "a folder" if path.is_dir() else "not a file"
        raise DatasetError(f"{path} is {found}; give a data file or the name of a dataset")
    if options.format is not None:
        return next(known for known in get_args(Format) if known == options.format)
    return sniff_format(path, encoding=options.encoding)
