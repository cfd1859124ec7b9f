"""The rows of an ARFF file, dense or sparse, as a feature matrix and a label matrix."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protolabel.datasets.lines import LineStream, problem_at
from protolabel.datasets.readers.arff_columns import Column, plan_column
from protolabel.datasets.readers.arff_dense import DenseRows
from protolabel.datasets.readers.arff_header import ArffHeader
from protolabel.datasets.readers.arff_sparse import SparseRows

_BLOCK_BYTES = 256 * 1024


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
    path: Path, header: ArffHeader, lines: LineStream, label_positions: list[int]
) -> ArffTable:
    """Read the rows after ``@data`` in one pass.

    Parameters
    ----------
    path : Path
        Named in errors.
    header : ArffHeader
        The declared attributes.
    lines : LineStream
        The file, after its header.
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
    first = _first_row(lines)
    is_sparse = first.startswith("{")
    parser: DenseRows | SparseRows = (SparseRows if is_sparse else DenseRows)(
        path, columns, label_positions
    )
    if first:
        parser.add(lines.n_lines, first)
    while block := lines.read_block(_BLOCK_BYTES):
        number = lines.n_lines - block.count(b"\n") + block.endswith(b"\n")
        if isinstance(parser, SparseRows) and parser.add_block(number, block):
            continue
        for raw in io.BytesIO(block):
            text = lines.decode(raw, number).strip()
            if text and text[0] != "%":
                parser.add(number, text)
            number += 1
    X, Y = parser.finish()
    features = tuple(
        column for position, column in enumerate(columns) if position not in parser.label_set
    )
    return ArffTable(X, Y, features, is_sparse)


def _first_row(lines: LineStream) -> str:
    """Return the first line that is neither blank nor a comment; empty at the end."""
    for line in lines:
        text = line.strip()
        if text and text[0] != "%":
            return text
    return ""
