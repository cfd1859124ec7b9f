"""Write a dataset as Mulan ARFF with its XML label list."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.writers.atomic import replace_when_done, write_text_bytes
from protolabel.exceptions import DatasetError

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_XML_ESCAPES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def write_mulan(dataset: MultiLabelDataset, path: str | Path) -> tuple[Path, Path]:
    """Write a dataset so that ``read_mulan`` gives the same one back.

    Sparse features are written in the sparse notation, dense ones value by value. A name ending
    in ``.gz`` compresses the ARFF file.

    Parameters
    ----------
    dataset : MultiLabelDataset
        What to write. No feature may share its name with a label or another feature.
    path : str or Path
        ARFF file; the label list goes beside it, ending in ``.xml``. Existing files are
        replaced once the new ones are whole.

    Returns
    -------
    arff, xml : Path
        The files written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import load_dataset, read_mulan, write_mulan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     arff, xml = write_mulan(load_dataset("yeast"), Path(folder) / "copy.arff.gz")
    ...     read_mulan(arff)
    <MultiLabelDataset 'copy': 2417 samples, 103 dense features, 14 labels>
    """
    path = Path(path)
    _check_names(dataset)
    xml_path = path.with_name(path.name.removesuffix(".gz").removesuffix(".arff") + ".xml")
    with write_text_bytes(path) as file:
        for line in _lines(dataset):
            file.write(line.encode("utf-8"))
    with replace_when_done(xml_path) as partial:
        partial.write_text(_label_list(dataset), encoding="utf-8")
    return path, xml_path


def quote(name: str) -> str:
    r"""Return a name as a quoted ARFF token.

    Parameters
    ----------
    name : str
        Any text.

    Returns
    -------
    str
        The token.

    Examples
    --------
    >>> from protolabel.datasets.writers.mulan import quote
    >>> print(quote("it's"))
    'it\'s'
    """
    return f"'{name.translate(_ESCAPES)}'"


def _check_names(dataset: MultiLabelDataset) -> None:
    """ARFF tells attributes apart by name only, and XML has no control characters."""
    seen: set[str] = set()
    for name in (*dataset.feature_names, *dataset.label_names):
        if name in seen:
            raise DatasetError(
                f"dataset {dataset.name!r} has two columns named {name!r}; ARFF needs different "
                "names, so rename one or write NPZ"
            )
        seen.add(name)
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise DatasetError(f"the name {name!r} has no UTF-8 form; rename the column")
    for name in dataset.label_names:
        if any(_is_forbidden_in_xml(character) for character in name):
            raise DatasetError(
                f"label {name!r} holds a control character that XML cannot carry; rename it or "
                "write NPZ"
            )


def _is_forbidden_in_xml(character: str) -> bool:
    return (character < " " and character not in "\t\n\r") or character in "\ufffe\uffff"


def _lines(dataset: MultiLabelDataset) -> Iterator[str]:
    """Yield the ARFF file line by line."""
    yield f"@relation {quote(dataset.name)}\n\n"
    for name in dataset.feature_names:
        yield f"@attribute {quote(name)} numeric\n"
    for name in dataset.label_names:
        yield f"@attribute {quote(name)} {{0,1}}\n"
    yield "\n@data\n"
    Y = dataset.Y
    if sparse.issparse(dataset.X):
        yield from _sparse_rows(dataset.X, Y)
        return
    for row, values in enumerate(dataset.X):
        labels = np.zeros(Y.shape[1], dtype=int)
        labels[Y.indices[Y.indptr[row] : Y.indptr[row + 1]]] = 1
        yield ",".join([*map(number_text, values.tolist()), *map(str, labels.tolist())]) + "\n"


def _sparse_rows(X: Any, Y: Any) -> Iterator[str]:
    """Yield rows in the sparse notation; labels come after the features."""
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        order = np.argsort(X.indices[part])
        entries = [
            f"{column} {number_text(value)}"
            for column, value in zip(
                X.indices[part][order].tolist(), X.data[part][order].tolist(), strict=True
            )
            if value != 0
        ]
        labels = np.sort(Y.indices[Y.indptr[row] : Y.indptr[row + 1]]) + X.shape[1]
        yield "{" + ",".join([*entries, *(f"{label} 1" for label in labels.tolist())]) + "}\n"


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    if math.isnan(value):
        return "?"
    if math.isinf(value):
        raise DatasetError("an infinite feature value cannot be written")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _label_list(dataset: MultiLabelDataset) -> str:
    """Return the XML file."""
    labels = "".join(
        f"<label name={quoteattr(name, _XML_ESCAPES)}></label>\n" for name in dataset.label_names
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<labels xmlns="http://mulan.sourceforge.net/labels">\n{labels}</labels>\n'
    )
