"""Rows for a model that is there already: read by its columns, with or without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from protolabel.datasets import load_dataset, read_dataset, read_text
from protolabel.datasets.lines import iter_lines
from protolabel.datasets.names import NumberedNames
from protolabel.datasets.readers.arff import read_arff
from protolabel.datasets.readers.arff_header import ArffHeader, unquote
from protolabel.datasets.readers.mulan import stem_of
from protolabel.exceptions import DatasetError
from protolabel.workflows.file_options import TABLE_FORMATS, FileOptions, format_of
from protolabel.workflows.inputs import Inputs, SparseInputs
from protolabel.workflows.labelled_data import (
    LabelledData,
    TextCollector,
    from_dataset,
    quiet_notes,
    unknown_label,
)
from protolabel.workflows.new_table import read_new_table


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows as a model takes them.

    Parameters
    ----------
    X : ndarray or CSR array
    Y : CSR array or None
        Labels in the order asked for, None where they were not.
    kept : mapping of str to cells
        Columns of the file to repeat beside the answer.
    notes : tuple of str
        What a person should know about the rows.
    """

    X: Any
    Y: Any
    kept: dict[str, list[str]]
    notes: tuple[str, ...] = ()


def read_rows(
    source: str | Path,
    inputs: Inputs,
    label_names: Sequence[str],
    options: FileOptions,
    *,
    wanted_labels: Sequence[str] | None = None,
    keep: Sequence[str] = (),
) -> NewRows:
    """Read rows for a model.

    Parameters
    ----------
    source : str or Path
        A file of any known format, or the name of a dataset of the catalogue.
    inputs : Inputs
        What the model takes.
    label_names : sequence of str
        Labels of the model; columns of these names are no features.
    options : FileOptions
    wanted_labels : sequence of str or None, default=None
        Labels to read; None for none, and then the file need not have any.
    keep : sequence of str, default=()
        Columns of a table to repeat beside the answer.

    Returns
    -------
    NewRows
    """
    kind = format_of(source, options)
    path = Path(source)
    if kind is not None and kind in TABLE_FORMATS:
        found = read_new_table(path, kind, inputs, label_names, options, wanted_labels, keep)
        return NewRows(inputs.encode(found.columns), found.Y, found.kept, found.notes)
    if keep:
        raise DatasetError(f"{source} is no table, so its column {keep[0]!r} cannot be kept")
    if kind == "text":
        return _read_texts(path, inputs, label_names, options, wanted_labels)
    skipped: tuple[str, ...] = ()
    if kind is None:
        dataset = load_dataset(str(source))
    elif kind in ("mulan", "meka"):
        known = set(label_names)

        def find_labels(header: ArffHeader) -> list[int]:
            return [
                position
                for position, attribute in enumerate(header.attributes)
                if attribute.name in known or unquote(attribute.name) in known
            ]

        dataset, _ = read_arff(path, find_labels, name=stem_of(path), encoding=options.encoding)
    else:
        counted: dict[str, Any] = {}
        if isinstance(inputs, SparseInputs) and inputs.feature_base is not None:
            counted["feature_base"] = inputs.feature_base
        with quiet_notes():
            # Answers stand in the lines of their rows, so a blank line is a row as well.
            dataset = read_dataset(
                path,
                format=kind,
                encoding=options.encoding,
                blank_rows=wanted_labels is None,
                **counted,
            )
            skipped = tuple(note for note in dataset.provenance.notes if "skipped" in note)
    data = from_dataset(dataset)
    Y = None
    if wanted_labels is not None:
        is_numbered = isinstance(dataset.label_names, NumberedNames)
        Y = _aligned_labels(data, wanted_labels, may_lack=is_numbered)
    return NewRows(inputs.encode(data.content), Y, {}, skipped)


def _read_texts(
    path: Path,
    inputs: Inputs,
    label_names: Sequence[str],
    options: FileOptions,
    wanted_labels: Sequence[str] | None,
) -> NewRows:
    if wanted_labels is None:
        lines = iter_lines(path, encoding=options.encoding)
        return NewRows(inputs.encode(tuple(line.split("\t")[0] for line in lines)), None, {})
    collector = TextCollector()
    dataset = read_text(path, label_names, vectorizer=collector, encoding=options.encoding)
    Y = _aligned_labels(from_dataset(dataset), wanted_labels, may_lack=False)
    return NewRows(inputs.encode(collector.texts), Y, {})


def _aligned_labels(data: LabelledData, wanted: Sequence[str], *, may_lack: bool) -> Any:
    """The labels asked for, in their order; those that a numbered file lacks are absent."""
    place = {name: position for position, name in enumerate(data.label_names)}
    for name in wanted:
        if name not in place and not may_lack:
            raise unknown_label(data.name, name, data.label_names)
    pairs = [(place[name], position) for position, name in enumerate(wanted) if name in place]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    placement = sp.csr_array(
        (np.ones(len(pairs), dtype=np.int32), (rows, columns)),
        shape=(len(data.label_names), len(wanted)),
    )
    return sp.csr_array(sp.csr_array(data.Y) @ placement)
