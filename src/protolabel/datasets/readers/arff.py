"""From an ARFF file and the positions of its labels to a dataset; shared by Mulan and MEKA."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from protolabel.datasets.categories import expand_categories
from protolabel.datasets.dataset import MultiLabelDataset, Provenance
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import LineStream
from protolabel.datasets.readers.arff_header import ArffHeader, read_header
from protolabel.datasets.readers.arff_rows import ArffTable, read_rows


def read_arff(
    path: Path,
    find_labels: Callable[[ArffHeader], list[int]],
    *,
    name: str,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> tuple[MultiLabelDataset, ArffHeader]:
    """Read an ARFF file whose labels are found from its header.

    Parameters
    ----------
    path : Path
        Plain or gzip-compressed ARFF.
    find_labels : callable
        Given the header, returns the positions of the label attributes.
    name : str
        Name of the dataset.
    encoding : str, default="utf-8"
        Encoding of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    dataset : MultiLabelDataset
        Labels in the order of their attributes.
    header : ArffHeader
        What the file declares.
    """
    with LineStream(path, encoding=encoding, limits=limits) as lines:
        header = read_header(path, lines)
        positions = sorted(find_labels(header))
        table = read_rows(path, header, lines, positions)
    label_names = tuple(header.attributes[position].name for position in positions)
    X, feature_names, notes = _finish_features(table)
    dataset = MultiLabelDataset(
        name=name,
        X=X,
        Y=table.Y,
        feature_names=feature_names,
        label_names=label_names,
        provenance=Provenance(source=str(path), notes=notes),
    )
    return dataset, header


def _finish_features(table: ArffTable) -> tuple[object, tuple[str, ...], tuple[str, ...]]:
    """Drop strings and dates, spell out categories."""
    names = tuple(column.attribute.name for column in table.feature_columns)
    dropped = {
        position: "it holds text or dates"
        for position, column in enumerate(table.feature_columns)
        if column.attribute.kind == "unusable"
    }
    categories = {
        position: tuple(dict.fromkeys(column.attribute.values))
        for position, column in enumerate(table.feature_columns)
        if column.is_category
    }
    X, names, notes = expand_categories(table.X, names, categories, dropped)
    truths = [
        column.attribute.name
        for column in table.feature_columns
        if column.codes is not None and not column.is_plain and not column.is_category
    ]
    if truths:
        shown = truths[0] if len(truths) == 1 else f"{truths[0]} and {len(truths) - 1} more"
        notes = (*notes, f"encoded as 1 for yes and 0 for no: {shown}")
    return X, names, notes
