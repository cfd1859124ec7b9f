"""MEKA: an ARFF file whose relation says how many attributes are labels."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from protolabel.datasets.dataset import MultiLabelDataset, Split
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.arff import read_arff
from protolabel.datasets.readers.arff_header import ArffHeader
from protolabel.datasets.readers.mulan import stem_of

_LABEL_COUNT = re.compile(r"(?:^|[\s:])-[cC]\s+(-?\d{1,9})(?=\s|$)", re.ASCII)
_SPLIT_NUMBER = re.compile(r"-split-number\s+(\d{1,12})(?=\s|$)", re.ASCII)


def read_meka(
    path: str | Path,
    *,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read an ARFF file with ``-C n`` in its relation.

    The first n attributes are the labels; with a negative n the last ones are. The option
    ``-split-number m`` makes the first m rows the training part.

    Parameters
    ----------
    path : str or Path
        ARFF file, dense or sparse, plain or gzip-compressed.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    encoding : str, default="utf-8"
        Encoding of the file.
    limits : ReadLimits, default=DEFAULT_LIMITS
        When to refuse the file.

    Returns
    -------
    MultiLabelDataset
        Features as ndarray (dense file) or CSR matrix (sparse file).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import read_meka
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.arff"
    ...     head = "@relation 'tiny: -C 1'\n@attribute red {0,1}\n@attribute x numeric\n"
    ...     _ = path.write_text(head + "@data\n1,0.5\n")
    ...     read_meka(path).label_names
    ('red',)
    """
    path = Path(path)

    def find_labels(header: ArffHeader) -> list[int]:
        return label_positions(path, header)

    dataset, header = read_arff(
        path, find_labels, name=name or stem_of(path), encoding=encoding, limits=limits
    )
    found = _SPLIT_NUMBER.search(header.relation)
    if found is None:
        return dataset
    n_train = int(found[1])
    if not 0 < n_train < dataset.n_samples:
        raise problem_at(
            path,
            header.n_lines,
            f"the relation asks for -split-number {n_train} but there are {dataset.n_samples} rows",
        )
    rows = np.arange(dataset.n_samples)
    return replace(dataset, split=Split(train=rows[:n_train], test=rows[n_train:]))


def has_label_count(relation: str) -> bool:
    """Tell whether a relation carries the option that marks a MEKA file."""
    return _LABEL_COUNT.search(relation) is not None


def label_positions(path: Path, header: ArffHeader) -> list[int]:
    """Return the positions of the labels that the relation declares."""
    found = _LABEL_COUNT.search(header.relation)
    n_attributes = len(header.attributes)
    if found is None:
        raise problem_at(
            path,
            header.n_lines,
            f"the relation {header.relation[:60]!r} carries no option -C n; give an XML label "
            "list or the names of the labels",
        )
    count = int(found[1])
    if not 0 < abs(count) <= n_attributes:
        raise problem_at(
            path,
            header.n_lines,
            f"the relation asks for -C {count} but {n_attributes} attributes are declared",
        )
    if count > 0:
        return list(range(count))
    return list(range(n_attributes + count, n_attributes))
