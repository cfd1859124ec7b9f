"""LIBSVM with several labels a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import iter_lines
from protolabel.datasets.readers.index_value_dataset import to_dataset
from protolabel.datasets.readers.index_value_rows import IndexValueRows


def read_libsvm(
    path: str | Path,
    *,
    feature_base: int = 1,
    n_features: int | None = None,
    n_labels: int | None = None,
    blank_rows: bool = False,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read rows ``label,label feature:value ... # comment``, labels counted from 0.

    Parameters
    ----------
    path : str or Path
        Plain or gzip-compressed text.
    feature_base : {0, 1}, default=1
        Index of the first feature.
    n_features, n_labels : int, default=None
        Number of columns; None takes the highest index.
    blank_rows : bool, default=False
        Whether blank lines are rows of zeros; else they are skipped.
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
    >>> from protolabel.datasets import read_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.svm"
    ...     _ = path.write_text("# two rows\n0,1 1:0.5\n1 2:2.5 # last\n")
    ...     read_libsvm(path).X.toarray().tolist()
    [[0.5, 0.0], [0.0, 2.5]]
    """
    path = Path(path)
    if feature_base not in (0, 1):
        raise ValueError(f"feature_base is {feature_base!r}; expected 0 or 1")
    declared = None if n_features is None else n_features + feature_base
    rows = IndexValueRows(path, limits, declared, n_labels)
    lines = iter_lines(path, encoding=encoding, limits=limits)
    rows.add_lines(_without_comments(lines), blank_rows=blank_rows)
    return to_dataset(
        path,
        rows,
        name=name,
        feature_base=feature_base,
        n_features=n_features,
        n_labels=n_labels,
    )


def _without_comments(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    """Yield numbered rows without what follows a hash sign."""
    for number, line in enumerate(lines, start=1):
        text, mark, _ = line.partition("#")
        if text.strip() or not mark:
            yield number, text
