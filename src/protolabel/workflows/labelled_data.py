"""Rows with labels of any known format, as the data to train on or to measure with.

Features stay as they are in the file: columns of numbers and words, a sparse matrix, or texts.
What becomes of them is learned from the training rows and belongs to the model, see
:mod:`protolabel.workflows.inputs`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from protolabel.datasets import (
    DatasetWarning,
    MultiLabelDataset,
    Split,
    TableOptions,
    load_dataset,
    read_dataset,
    read_text,
)
from protolabel.datasets.names import NumberedNames
from protolabel.datasets.readers.arff import read_arff
from protolabel.datasets.readers.arff_header import ArffHeader
from protolabel.datasets.readers.label_file import read_label_file
from protolabel.datasets.readers.mulan import find_label_list, read_mulan, stem_of
from protolabel.datasets.readers.table import TableBuilder
from protolabel.datasets.readers.table_columns import CategoryColumn, NumberColumn
from protolabel.exceptions import DatasetError
from protolabel.preprocessing.table import MISSING_CODE, Numbers, TableColumns, Words
from protolabel.workflows.file_options import TABLE_FORMATS, FileOptions, format_of
from protolabel.workflows.group_column import GroupColumn
from protolabel.workflows.table_file import open_table

_COUNTED_FROM = re.compile(r"features are taken to be counted from (\d)")
Texts: TypeAlias = tuple[str, ...]
# Columns of a table, a CSR matrix with the names of its columns, or texts.
Content: TypeAlias = "TableColumns | SparseRows | Texts"


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A CSR matrix and the names of its columns, None where they are mere numbers.

    ``feature_base`` is the number of the first feature where the file left that open.
    """

    matrix: Any
    names: tuple[str, ...] | None
    feature_base: int | None = None


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Rows with labels.

    Parameters
    ----------
    name : str
        Short name.
    content : columns, SparseRows or texts
        Features as they are in the file.
    Y : CSR matrix of shape (n_samples, n_labels)
        Labels as 0 and 1.
    label_names : tuple of str
    split : Split or None, default=None
        The split predefined by the source.
    notes : tuple of str, default=()
        What reading did to columns.
    tag_separator : str or None, default=None
        What stood between labels, in a table that has several in a cell.
    groups : ndarray of shape (n_samples,) or None, default=None
        Names of the groups that rows belong to.
    """

    name: str
    content: Content
    Y: Any
    label_names: tuple[str, ...]
    split: Split | None = None
    notes: tuple[str, ...] = ()
    tag_separator: str | None = None
    groups: NDArray[np.str_] | None = None


def read_labelled(source: str | Path, options: FileOptions) -> LabelledData:
    r"""Read rows with labels.

    Parameters
    ----------
    source : str or Path
        A file of any known format, or the name of a dataset of the catalogue.
    options : FileOptions

    Returns
    -------
    LabelledData

    Raises
    ------
    DatasetError
        The file cannot be read, or its labels cannot be found.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("size,colour,sea,sky\n1,red,0,1\n,blue,1,1\n")
    ...     data = read_labelled(path, FileOptions(n_labels=2))
    >>> data.label_names, [column.name for column in data.content]
    (('sea', 'sky'), ['size', 'colour'])
    """
    kind = format_of(source, options)
    path = Path(source)
    if options.groups is not None and kind not in TABLE_FORMATS:
        raise DatasetError(
            f"groups are read from a column of a table; {source} is "
            f"{'a dataset of the catalogue' if kind is None else f'of the format {kind}'}"
        )
    if kind is None:
        data = from_dataset(load_dataset(str(source)))
        return _choose_labels(data, options)
    if kind in TABLE_FORMATS:
        return _read_table(path, kind, options)
    if kind == "text":
        return _read_texts(path, options)
    if kind in ("mulan", "meka"):
        return _read_arff(path, kind, options)
    with quiet_notes():
        dataset = read_dataset(
            path, format=kind, n_labels=options.n_labels, encoding=options.encoding
        )
    return _choose_labels(from_dataset(dataset), options)


def dense_columns(X: Any, names: Sequence[str]) -> tuple[Numbers, ...]:
    """Columns of a dense matrix; a name that occurs again gets a number."""
    seen: dict[str, int] = {}
    columns = []
    for position, name in enumerate(names):
        count = seen[name] = seen.get(name, 0) + 1
        columns.append(Numbers(name if count == 1 else f"{name}#{count}", X[:, position]))
    return tuple(columns)


def from_dataset(dataset: MultiLabelDataset) -> LabelledData:
    """A dataset as labelled data."""
    content: Content
    if sp.issparse(dataset.X):
        is_numbered = isinstance(dataset.feature_names, NumberedNames)
        names = None if is_numbered else tuple(dataset.feature_names)
        content = SparseRows(dataset.X, names, _feature_base(dataset))
    else:
        content = dense_columns(dataset.X, dataset.feature_names)
    return LabelledData(
        dataset.name,
        content,
        dataset.Y,
        tuple(dataset.label_names),
        dataset.split,
        dataset.provenance.notes,
    )


def _feature_base(dataset: MultiLabelDataset) -> int | None:
    """Where the reader began to count, if it had to find that out."""
    found = [_COUNTED_FROM.search(note) for note in dataset.provenance.notes]
    return next((int(match[1]) for match in found if match), None)


def _choose_labels(data: LabelledData, options: FileOptions) -> LabelledData:
    """Keep the labels asked for, of a source that carries labels."""
    if options.n_labels not in (None, len(data.label_names)):
        raise DatasetError(
            f"{data.name} carries {len(data.label_names)} labels, {options.n_labels} were asked "
            "for; leave the number out, or name the labels"
        )
    if options.labels is None:
        return data
    place = {name: position for position, name in enumerate(data.label_names)}
    for name in options.labels:
        if name not in place:
            raise unknown_label(data.name, name, data.label_names)
    Y = data.Y[:, [place[name] for name in options.labels]]
    return replace(data, Y=Y, label_names=options.labels)


def unknown_label(where: object, label: str, known: Sequence[str]) -> DatasetError:
    """The error for a label that is not there, with what may have been meant."""
    close = get_close_matches(label, known, n=3, cutoff=0.4) or list(known[:5])
    return DatasetError(
        f"{where} has no label {label!r}; did you mean {', '.join(close)}? It has {len(known)}"
    )


def _read_table(path: Path, kind: str, options: FileOptions) -> LabelledData:
    with open_table(path, kind, delimiter=options.delimiter, encoding=options.encoding) as table:
        labels = options.labels
        if options.label_file is not None:
            labels = read_label_file(options.label_file, options.encoding)
        if options.n_labels is not None:
            columns = table.columns()
            if options.n_labels >= len(columns):
                raise DatasetError(
                    f"{path} has {len(columns)} columns; its last {options.n_labels} cannot be "
                    "labels and leave any feature"
                )
            labels = columns[-options.n_labels :]
        if options.groups is not None and options.groups in (*(labels or ()), options.tags):
            raise DatasetError(
                f"{path}: column {options.groups!r} holds labels, and cannot say as well which "
                "rows belong together; name another column as groups (--groups)"
            )
        builder = TableBuilder(
            path,
            list(table.header),
            TableOptions(
                labels,
                options.tags,
                options.tag_separator,
                options.categorical,
                (*options.drop, *([] if options.groups is None else [options.groups])),
            ),
            list_columns=table.list_columns,
            index_columns=table.index_columns,
            decimal_commas=table.decimal_commas,
        )
        groups = None if options.groups is None else GroupColumn(table, options.groups)
        for block in table.blocks:
            builder.add_block(block.columns, block.line_numbers)
            if groups is not None:
                groups.add_block(block)
    dataset = builder.finish(stem_of(path))
    features = _table_columns(builder)
    notes = [note for note in dataset.provenance.notes if not note.endswith("before fitting")]
    if groups is not None:
        notes = [note for note in notes if note != f"column {groups.name!r} was dropped: as asked"]
        notes.append(groups.note())
    notes += _notes_on_missing_numbers(features)
    return LabelledData(
        dataset.name,
        features,
        dataset.Y,
        tuple(dataset.label_names),
        notes=tuple(notes),
        tag_separator=builder.tag_separator,
        groups=None if groups is None else groups.finish(),
    )


def _table_columns(builder: TableBuilder) -> tuple[Numbers | Words, ...]:
    """The features that the builder found, before they are spelt out."""
    columns: list[Numbers | Words] = []
    for column in builder.columns:
        if isinstance(column, NumberColumn):
            columns.append(Numbers(column.name, column.values.finish()))
        elif isinstance(column, CategoryColumn) and len(column.code_of) <= column.max_categories:
            codes = np.nan_to_num(column.codes.finish(), nan=MISSING_CODE).astype(np.int64)
            columns.append(Words(column.name, codes, tuple(column.code_of)))
    if not columns:
        raise DatasetError(f"{builder.path}: no column can serve as a feature")
    return tuple(columns)


def _notes_on_missing_numbers(columns: Sequence[Numbers | Words]) -> list[str]:
    missing = [c for c in columns if isinstance(c, Numbers) and np.isnan(c.values).any()]
    of_two = [column.name for column in missing if column.two_values is not None]
    others = [column.name for column in missing if column.two_values is None]
    replacements = {"mean": others, "more frequent value": of_two}
    return [
        f"missing numbers become the {value} of the training rows in: {', '.join(names)}"
        for value, names in replacements.items()
        if names
    ]


class TextCollector:
    """Stands where a vectoriser is expected, and keeps the texts."""

    def fit_transform(self, texts: Iterator[str]) -> Any:
        """Keep the texts; the matrix has no columns."""
        self.texts = tuple(texts)
        return sp.csr_matrix((len(self.texts), 0))

    def get_feature_names_out(self) -> list[str]:
        """No names for no columns."""
        return []


def _read_texts(path: Path, options: FileOptions) -> LabelledData:
    labels = options.labels or options.label_file
    if labels is None:
        raise DatasetError(
            f"{path} holds texts with tags; give the label names, or a file with one a line"
        )
    collector = TextCollector()
    dataset = read_text(path, labels, vectorizer=collector, encoding=options.encoding)
    return LabelledData(dataset.name, collector.texts, dataset.Y, tuple(dataset.label_names))


def _read_arff(path: Path, kind: str, options: FileOptions) -> LabelledData:
    if options.n_labels is not None:
        return from_dataset(_read_last_labels(path, options))
    if options.label_file is not None:
        with quiet_notes():
            return from_dataset(read_mulan(path, options.label_file, encoding=options.encoding))
    if options.labels is not None and kind == "mulan" and not _has_label_list(path):
        with quiet_notes():
            return from_dataset(read_mulan(path, options.labels, encoding=options.encoding))
    with quiet_notes():
        dataset = read_dataset(
            path, format="meka" if kind == "meka" else "mulan", encoding=options.encoding
        )
    # The labels that are not asked for are no features.
    return _choose_labels(from_dataset(dataset), options)


def _read_last_labels(path: Path, options: FileOptions) -> MultiLabelDataset:
    n_labels = options.n_labels or 0

    def find_labels(header: ArffHeader) -> list[int]:
        n_attributes = len(header.attributes)
        if n_labels >= n_attributes:
            raise DatasetError(
                f"{path} has {n_attributes} attributes; its last {n_labels} cannot be labels and "
                "leave any feature"
            )
        return list(range(n_attributes - n_labels, n_attributes))

    dataset, _ = read_arff(path, find_labels, name=stem_of(path), encoding=options.encoding)
    return dataset


def _has_label_list(path: Path) -> bool:
    try:
        find_label_list(path)
    except DatasetError:
        return False
    return True


@contextmanager
def quiet_notes() -> Iterator[None]:
    """Keep the messages of reading out of the warnings: they are in the notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DatasetWarning)
        yield
