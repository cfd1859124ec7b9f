"""A user's own file, whatever its format."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.readers.csv_table import read_csv
from protolabel.datasets.readers.label_file import read_label_file
from protolabel.datasets.readers.libsvm import read_libsvm
from protolabel.datasets.readers.meka import read_meka
from protolabel.datasets.readers.mulan import read_mulan
from protolabel.datasets.readers.npz import read_npz
from protolabel.datasets.readers.parquet_table import read_parquet
from protolabel.datasets.readers.table import TableOptions
from protolabel.datasets.readers.text_tags import read_text
from protolabel.datasets.readers.xmlc import read_xmlc
from protolabel.datasets.sniffing import FORMATS, Format, sniff_format
from protolabel.exceptions import DatasetError


class DatasetWarning(UserWarning):
    """A message about a column that reading had to encode or drop."""


def read_dataset(
    path: str | Path,
    *,
    format: Format | None = None,  # noqa: A002
    labels: str | Path | Sequence[str] | None = None,
    tags: str | None = None,
    tag_separator: str | None = None,
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    feature_base: int | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    blank_rows: bool = False,
    vectorizer: Any = None,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read a file of any known format into features, labels and names.

    Every column that had to be encoded or dropped is reported by a ``DatasetWarning`` and in
    ``provenance.notes``.

    Parameters
    ----------
    path : str or Path
        The file, plain or gzip-compressed.
    format : str, default=None
        One of mulan, meka, xmlc, libsvm, csv, parquet, npz, text; None looks at the content.
    labels : str, Path or sequence of str, default=None
        Mulan: XML file or names. CSV and Parquet: names of the label columns, or a file
        with one a line. Text: file with the label names, or the names.
    tags : str, default=None
        CSV and Parquet: name of a column with several labels a cell.
    tag_separator : str, default=None
        What stands between tags; None finds it.
    categorical, drop : sequence of str, default=()
        CSV and Parquet: columns of words, and columns to leave out.
    delimiter : str, default=None
        CSV: character between cells; None finds it.
    feature_base : {0, 1}, default=None
        XMLC and LIBSVM: index of the first feature.
    n_features, n_labels : int, default=None
        XMLC and LIBSVM: number of columns of a file that does not say.
    blank_rows : bool, default=False
        XMLC and LIBSVM: whether blank lines are rows of zeros; else they are skipped.
    vectorizer : object, default=None
        Text: what turns texts into features.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    encoding : str, default="utf-8"
        Encoding of text files.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        The dataset.

    Raises
    ------
    DatasetError
        With the line number where the file goes wrong.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("size,weight,tags\n1.5,3,a;b\n2,4,b\n")
    ...     read_dataset(path, tags="tags", tag_separator=";")
    <MultiLabelDataset 'mine': 2 samples, 2 dense features, 2 labels>
    """
    path = Path(path)
    if format is not None and format not in FORMATS:
        raise ValueError(f"format is {format!r}; expected one of {', '.join(FORMATS)}")
    if not path.is_file():
        raise DatasetError(f"{path} is not a file; check the path")
    found = format or sniff_format(path, encoding=encoding, limits=limits)
    common: dict[str, Any] = {"name": name, "limits": limits}
    text = {**common, "encoding": encoding}
    columns: dict[str, Any] = {
        "feature_base": feature_base,
        "n_features": n_features,
        "n_labels": n_labels,
        "blank_rows": blank_rows,
    }
    if found in ("csv", "parquet"):
        if isinstance(labels, str | Path):
            if not Path(labels).is_file():
                raise ValueError(
                    f"labels is {str(labels)!r}; for a table pass a list of column names, or a "
                    "file with one a line"
                )
            labels = read_label_file(Path(labels), encoding)
        options = TableOptions(
            labels=labels,
            tags=tags,
            tag_separator=tag_separator,
            categorical=tuple(categorical),
            drop=tuple(drop),
        )
        if found == "csv":
            dataset = read_csv(path, options=options, delimiter=delimiter, **text)
        else:
            dataset = read_parquet(path, options=options, **common)
    elif found == "mulan":
        dataset = read_mulan(path, labels, **text)
    elif found == "meka":
        dataset = read_meka(path, **text) if labels is None else read_mulan(path, labels, **text)
    elif found == "xmlc":
        dataset = read_xmlc(path, **columns, **text)
    elif found == "libsvm":
        columns["feature_base"] = 1 if feature_base is None else feature_base
        dataset = read_libsvm(path, **columns, **text)
    elif found == "npz":
        dataset = read_npz(path, **common)
    else:
        if labels is None:
            raise DatasetError(
                f"{path} holds texts with numbered tags; pass labels= with the label names or a "
                "file of them"
            )
        dataset = read_text(path, labels, vectorizer=vectorizer, **text)
    for note in dataset.provenance.notes:
        warnings.warn(f"{dataset.name}: {note}", DatasetWarning, stacklevel=2)
    return dataset
