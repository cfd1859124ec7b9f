"""Mulan: an ARFF file and an XML list of its labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.datasets.lines import problem_at
from protolabel.datasets.readers.arff import read_arff
from protolabel.datasets.readers.arff_header import ArffHeader, unquote
from protolabel.datasets.readers.mulan_labels import read_label_names
from protolabel.exceptions import DatasetError


def read_mulan(
    path: str | Path,
    labels: str | Path | Sequence[str] | None = None,
    *,
    name: str | None = None,
    encoding: str = "utf-8",
    limits: ReadLimits = DEFAULT_LIMITS,
) -> MultiLabelDataset:
    r"""Read an ARFF file whose labels are listed in an XML file.

    Labels are matched by name: the order of the XML file does not matter, and the result has
    them in the order of the ARFF file.

    Parameters
    ----------
    path : str or Path
        ARFF file, dense or sparse, plain or gzip-compressed.
    labels : str, Path or sequence of str, default=None
        XML file, or the names themselves. None takes the XML file of the same name.
    name : str, default=None
        Name of the dataset; None takes the name of the file.
    encoding : str, default="utf-8"
        Encoding of the ARFF file.
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
    >>> from protolabel.datasets import read_mulan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.arff"
    ...     rows = "@relation t\n@attribute x numeric\n@attribute red {0,1}\n@data\n0.5,1\n"
    ...     _ = path.write_text(rows)
    ...     read_mulan(path, labels=["red"])
    <MultiLabelDataset 'tiny': 1 samples, 1 dense features, 1 labels>
    """
    path = Path(path)
    if labels is None:
        labels = find_label_list(path)
    if isinstance(labels, str | Path):
        label_path: Path | None = Path(labels)
        wanted = read_label_names(Path(labels))
    else:
        label_path = None
        wanted = list(labels)

    def find_labels(header: ArffHeader) -> list[int]:
        return match_labels(path, header, wanted, label_path)

    dataset, _ = read_arff(
        path, find_labels, name=name or stem_of(path), encoding=encoding, limits=limits
    )
    return dataset


def find_label_list(path: Path) -> Path:
    """Return the XML file that stands beside an ARFF file."""
    stem = stem_of(path)
    for stop in (stem, stem.removesuffix("-train").removesuffix("-test")):
        candidate = path.with_name(f"{stop}.xml")
        if candidate.is_file():
            return candidate
    raise DatasetError(
        f"{path} needs to be told its labels: there is no {stem}.xml beside it and its relation "
        "carries no -C option; pass labels= with an XML file or a list of names"
    )


def stem_of(path: Path) -> str:
    """Return the file name without its endings."""
    return path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name


def match_labels(
    path: Path, header: ArffHeader, wanted: Sequence[str], label_path: Path | None
) -> list[int]:
    """Return the positions of the attributes of these names, exact or up to ARFF escapes."""
    position_of = {attribute.name: i for i, attribute in enumerate(header.attributes)}
    positions: dict[int, str] = {}
    for label in wanted:
        position = position_of.get(label)
        if position is None:
            position = position_of.get(unquote(label))
        if position is None:
            listed = f"listed in {label_path}" if label_path else "asked for"
            raise problem_at(
                path,
                header.n_lines,
                f"label {label!r} is {listed} but is none of the "
                f"{len(header.attributes)} attributes declared above",
            )
        if position in positions:
            raise problem_at(
                path,
                header.attributes[position].line_number,
                f"labels {positions[position]!r} and {label!r} both mean attribute "
                f"{header.attributes[position].name!r}",
            )
        positions[position] = label
    if not positions:
        raise DatasetError(f"{path}: no label was asked for; name at least one")
    return list(positions)
