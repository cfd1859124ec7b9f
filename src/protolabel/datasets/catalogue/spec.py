"""What the catalogue says about a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset as it lies in a data folder.

    Parameters
    ----------
    name : str
        File name.
    sha256 : str, default=""
        Checksum of the copy that the declared statistics were measured on; empty if unknown.
    size : int, default=0
        Its size in bytes; 0 if unknown.
    """

    name: str
    sha256: str = ""
    size: int = 0


@dataclass(frozen=True)
class RemoteFile:
    """One file that can be downloaded.

    Parameters
    ----------
    name : str
        Name to store it under.
    sha256 : str
        Checksum of the whole file: without one nothing is downloaded.
    urls : tuple of str
        Addresses of the same bytes, tried in order.
    """

    name: str
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class SplitRule:
    """How the predefined split lies in the rows.

    Parameters
    ----------
    kind : {"train-first", "test-first", "test-rows", "parts"}
        First rows are for training, first rows are for testing, the test rows are listed in
        test_rows.txt, or each part is a file of its own (train, dev, test).
    n_train, n_test : int
        Sizes of the two parts.
    n_validation : int, default=0
        Size of the part for tuning, if any.
    """

    kind: Literal["train-first", "test-first", "test-rows", "parts"]
    n_train: int
    n_test: int
    n_validation: int = 0


@dataclass(frozen=True)
class DatasetSpec:
    """One entry of the catalogue: what a dataset is and what it has to measure.

    Parameters
    ----------
    name : str
        Name to load it by.
    domain : str
        What the rows are.
    n_samples, n_features, n_labels : int
        Sizes that a loaded copy must have.
    cardinality : float
        Mean number of labels a row that a loaded copy must have.
    citation : str
        Publication to cite.
    licence : str
        What the source states.
    sources : tuple of str
        Public project pages and repositories that have it.
    files : tuple of DataFile
        The files as they lie in a data folder.
    remote : tuple of RemoteFile, default=()
        Files to download, where their checksum is known.
    split : SplitRule, default=None
        The predefined split.
    folder : str, default=""
        Name of the data folder where it is not the name of the dataset.
    aliases : tuple of str, default=()
        Other names to load it by.
    stems : tuple of str, default=()
        Other file names, without endings, under which copies circulate.
    drop_features : tuple of str, default=()
        Columns that are no features, such as row identifiers.
    notes : tuple of str, default=()
        What a user has to know.
    cardinality_tolerance : float, default=0.00005
        Half of the last digit of the declared cardinality.
    feature_density : float, default=1.0
        Share of the cells of X that are not zero.
    mean_imbalance_ratio : float, default=1.0
        MeanIR: mean over labels of (largest number of positives / own number).
    is_in_paper : bool, default=False
        Whether it is one of the 15 datasets of the paper's tables.
    is_measured : bool, default=True
        Whether the declared numbers were measured on the files; else the notes say where they
        are from.
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    citation: str
    licence: str
    sources: tuple[str, ...]
    files: tuple[DataFile, ...]
    remote: tuple[RemoteFile, ...] = ()
    split: SplitRule | None = None
    folder: str = ""
    aliases: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()
    drop_features: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cardinality_tolerance: float = 5e-5
    feature_density: float = 1.0
    mean_imbalance_ratio: float = 1.0
    is_in_paper: bool = False
    is_measured: bool = True

    @property
    def data_folder(self) -> str:
        """Name of the folder that holds its files."""
        return self.folder or self.name
