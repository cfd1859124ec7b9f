"""The text format of the extreme-classification collections."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import iter_lines, problem_at
from protolabel.datasets.readers.index_value_dataset import to_dataset
from protolabel.datasets.readers.index_value_rows import IndexValueRows

HEADER = re.compile(r"\s*(\d{1,12})\s+(\d{1,12})\s+(\d{1,12})\s*", re.ASCII)


def read_xmlc(
    path: str | Path,
    *,
    feature_base: int | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    blank_rows: bool = False,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read rows ``label,label feature:value feature:value``, labels counted from 0.

    The first line may hold the number of rows, features and labels. Then every further line
    is a row, blank ones too, and features are counted from 0. Without that line, blank lines
    are skipped by default and features are counted from 1 unless index 0 occurs.

    Parameters
    ----------
    path : str or Path
        Plain or gzip-compressed text.
    feature_base : {0, 1}, default=None
        Index of the first feature; None chooses as said above.
    n_features, n_labels : int, default=None
        Number of columns of a file without header; None takes the highest index.
    blank_rows : bool, default=False
        Whether blank lines of a file without header are rows of zeros.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    encoding : str, default="utf-8"
        Encoding of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        Sparse features; columns are numbered, for the format has no names.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import read_xmlc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.txt"
    ...     _ = path.write_text("2 3 2\n0,1 0:0.5 2:1\n1 1:2.5\n")
    ...     read_xmlc(path).Y.toarray().tolist()
    [[1, 1], [0, 1]]
    """
    path = Path(path)
    if feature_base not in (None, 0, 1):
        raise ValueError(f"feature_base is {feature_base!r}; expected 0, 1 or None")
    lines = enumerate(iter_lines(path, encoding=encoding, limits=limits), start=1)
    first = next(lines, None)
    if first is None:
        raise problem_at(path, 1, "the file is empty")
    header = HEADER.fullmatch(first[1])
    if header is None:
        rows = IndexValueRows(path, limits, _declared(n_features, feature_base), n_labels)
        rows.add_lines(chain([first], lines), blank_rows=blank_rows)
    else:
        n_rows, n_features, n_labels = (int(count) for count in header.groups())
        if max(n_features, n_labels) > limits.max_columns:
            raise problem_at(
                path,
                1,
                f"declares {n_features} features and {n_labels} labels; at most "
                f"{limits.max_columns} columns are accepted",
            )
        feature_base = feature_base or 0
        rows = IndexValueRows(path, limits, n_features + feature_base, n_labels)
        number = 1
        for number, line in lines:
            if rows.n_rows == n_rows and not line.strip():
                continue
            if rows.n_rows == n_rows:
                raise problem_at(path, number, f"more rows than the {n_rows} that line 1 declares")
            rows.add(number, line)
        if rows.n_rows != n_rows:
            raise problem_at(
                path, number, f"the file ends after {rows.n_rows} of {n_rows} declared rows"
            )
    return to_dataset(
        path,
        rows,
        name=name,
        feature_base=feature_base,
        n_features=n_features,
        n_labels=n_labels,
    )


def _declared(n_features: int | None, feature_base: int | None) -> int | None:
    """Return the bound on indices that the caller's number of features implies."""
    if n_features is None:
        return None
    return n_features + (1 if feature_base is None else feature_base)
