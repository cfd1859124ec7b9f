"""The rows of an ARFF file, dense or sparse, as a feature matrix and a label matrix."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.arff_columns import Column, plan_column
from protolabel.datasets.readers.arff_dense import DenseRows
from protolabel.datasets.readers.arff_header import ArffHeader
from protolabel.datasets.readers.arff_sparse import SparseRows


@dataclass(frozen=True, eq=False)
class ArffTable:
    """The cells of an ARFF file.

    Parameters
    ----------
    X : ndarray or CSR matrix
        One column an attribute that is no label, in order.
    Y : CSR matrix
        One column a label, in the order of the attributes.
    feature_columns : tuple of Column
        What each column of X means.
    is_sparse : bool
        Whether the rows were written in the sparse notation.
    """

    X: Any
    Y: Any
    feature_columns: tuple[Column, ...]
    is_sparse: bool


def read_rows(
    path: Path, header: ArffHeader, lines: Iterator[str], label_positions: list[int]
) -> ArffTable:
    """Read the rows after ``@data`` in one pass.

    Parameters
    ----------
    path : Path
        Named in errors.
    header : ArffHeader
        The declared attributes.
    lines : iterator of str
        The lines after the header.
    label_positions : list of int
        Which attributes are labels, in increasing order.

    Returns
    -------
    ArffTable
        Features and labels.
    """
    columns = tuple(plan_column(attribute) for attribute in header.attributes)
    for position in label_positions:
        if not columns[position].may_be_label:
            attribute = header.attributes[position]
            shown = ", ".join(attribute.values[:6]) or attribute.kind
            raise problem_at(
                path,
                attribute.line_number,
                f"label {attribute.name!r} has the values {{{shown}}}; "
                "expected 0 and 1, or yes and no",
            )
    rows = _meaningful_lines(lines, header.n_lines + 1)
    first = next(rows, None)
    is_sparse = first is not None and first[1].startswith("{")
    rows = itertools.chain([] if first is None else [first], rows)
    parser: DenseRows | SparseRows = (SparseRows if is_sparse else DenseRows)(
        path, columns, label_positions
    )
    for number, line in rows:
        parser.add(number, line)
    X, Y = parser.finish()
    features = tuple(
        column for position, column in enumerate(columns) if position not in parser.label_set
    )
    return ArffTable(X, Y, features, is_sparse)


def _meaningful_lines(lines: Iterator[str], first_number: int) -> Iterator[tuple[int, str]]:
    """Yield numbered rows, without blank lines and comments."""
    for number, line in enumerate(lines, start=first_number):
        text = line.strip()
        if text and text[0] != "%":
            yield number, text
