"""The datasets known by name."""

from __future__ import annotations

from difflib import get_close_matches

from protolabel.datasets.catalogue.further import FURTHER
from protolabel.datasets.catalogue.paper_small import PAPER_SMALL
from protolabel.datasets.catalogue.paper_text import PAPER_TEXT
from protolabel.datasets.catalogue.rcv1 import RCV1
from protolabel.datasets.catalogue.spec import DataFile, DatasetSpec, RemoteFile, SplitRule
from protolabel.datasets.catalogue.tagged import TAGGED
from protolabel.exceptions import DatasetError

__all__ = [
    "CATALOGUE",
    "DataFile",
    "DatasetSpec",
    "RemoteFile",
    "SplitRule",
    "dataset_names",
    "find_spec",
]

CATALOGUE: tuple[DatasetSpec, ...] = (*PAPER_SMALL, *PAPER_TEXT, *RCV1, *FURTHER, *TAGGED)
_BY_NAME = {name: spec for spec in CATALOGUE for name in (spec.name, *spec.aliases)}


def dataset_names() -> tuple[str, ...]:
    """Return the names of all datasets of the catalogue.

    Returns
    -------
    tuple of str
        Names, in the order of the catalogue.

    Examples
    --------
    >>> from protolabel.datasets import dataset_names
    >>> "yeast" in dataset_names()
    True
    """
    return tuple(spec.name for spec in CATALOGUE)


def find_spec(name: str) -> DatasetSpec:
    """Return what the catalogue says about a dataset.

    Parameters
    ----------
    name : str
        Name or alias.

    Returns
    -------
    DatasetSpec
        The entry.

    Raises
    ------
    DatasetError
        When there is no such name; the message offers the nearest ones.

    Examples
    --------
    >>> from protolabel.datasets import find_spec
    >>> find_spec("yeast").n_labels
    14
    """
    spec = _BY_NAME.get(name)
    if spec is None:
        near = get_close_matches(name, _BY_NAME, n=3) or sorted(_BY_NAME)
        raise DatasetError(
            f"there is no dataset {name!r} in the catalogue; did you mean {', '.join(near)}? "
            "A file of your own has to exist under the path given (read_dataset reads it)"
        )
    return spec
