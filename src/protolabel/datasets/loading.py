"""A dataset by its name, wherever a copy of it can be found."""

from __future__ import annotations

import os
from pathlib import Path

from protolabel.datasets.bundled import BUNDLED_NAMES, load_bundled
from protolabel.datasets.catalogue import find_spec
from protolabel.datasets.catalogue.spec import DatasetSpec
from protolabel.datasets.dataset import MultiLabelDataset
from protolabel.datasets.folders import (
    check_statistics,
    find_main_file,
    finish_dataset,
    read_folder,
)
from protolabel.exceptions import DatasetError

DATA_VARIABLE = "PROTOLABEL_DATA"
CACHE_VARIABLE = "PROTOLABEL_CACHE"


def load_dataset(name: str, data_home: str | Path | None = None) -> MultiLabelDataset:
    """Load a dataset of the catalogue.

    It is looked for in the package, in the folder named by ``PROTOLABEL_DATA`` (layout
    ``<name>/<files>``), in the
    download cache, and then downloaded where its checksum is known.
    What was found has to agree with the declared statistics.

    Parameters
    ----------
    name : str
        Name in the catalogue, see ``dataset_names``.
    data_home : str or Path, default=None
        Folder to use instead of ``PROTOLABEL_DATA`` and of the cache; downloads go there too,
        and files in it go before the copy in the package.

    Returns
    -------
    MultiLabelDataset
        The dataset, with its predefined split where there is one.

    Raises
    ------
    DatasetError
        When the name is unknown, no copy can be had (the message names all places tried) or
        the copy does not agree with the catalogue.

    Examples
    --------
    >>> from protolabel.datasets import load_dataset
    >>> load_dataset("yeast")
    <MultiLabelDataset 'yeast': 2417 samples, 103 dense features, 14 labels>
    """
    spec = find_spec(name)
    if uses_bundled_copy(spec, data_home):
        dataset = finish_dataset(spec, load_bundled(spec.name), None)
    else:
        dataset = read_folder(spec, find_folder(spec, data_home))
    check_statistics(spec, dataset)
    return dataset


def uses_bundled_copy(spec: DatasetSpec, data_home: str | Path | None = None) -> bool:
    """Tell whether a dataset comes from the package: files in a given folder go first."""
    if spec.name not in BUNDLED_NAMES:
        return False
    return data_home is None or find_main_file(spec, Path(data_home) / spec.data_folder) is None


def find_folder(spec: DatasetSpec, data_home: str | Path | None = None) -> Path:
    """Return a folder that holds a dataset, downloading it when there is none yet.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    data_home : str or Path, default=None
        Folder to use instead of ``PROTOLABEL_DATA`` and of the cache.

    Returns
    -------
    Path
        The folder with the files.
    """
    tried: list[str] = ["the package"]
    for home in data_homes(data_home):
        folder = home / spec.data_folder
        if find_main_file(spec, folder) is not None:
            return folder
        tried.append(str(folder))
    if DATA_VARIABLE not in os.environ and data_home is None:
        tried.append(f"the folder in {DATA_VARIABLE} (not set)")
    if spec.remote:
        from protolabel.datasets.download import fetch_files  # noqa: PLC0415

        return fetch_files(spec, cache_home(data_home) / spec.data_folder)
    files = " and ".join(file.name for file in spec.files)
    raise DatasetError(
        f"dataset {spec.name!r} was not found in {', '.join(tried)}, and it has no checksum to "
        f"download it by. Get it from {' or '.join(spec.sources)}, put {files} into "
        f"<folder>/{spec.data_folder} and set {DATA_VARIABLE}=<folder>"
    )


def data_homes(data_home: str | Path | None = None) -> list[Path]:
    """Return the folders to search, best first."""
    if data_home is not None:
        return [Path(data_home)]
    homes = [Path(os.environ[DATA_VARIABLE])] if os.environ.get(DATA_VARIABLE) else []
    return [*homes, cache_home()]


def cache_home(data_home: str | Path | None = None) -> Path:
    """Return the folder that downloads go to."""
    if data_home is not None:
        return Path(data_home)
    if os.environ.get(CACHE_VARIABLE):
        return Path(os.environ[CACHE_VARIABLE])
    import pooch  # noqa: PLC0415

    return Path(pooch.os_cache("protolabel"))
