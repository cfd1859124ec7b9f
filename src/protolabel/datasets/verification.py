"""Files of a data folder against the checksums and statistics of the catalogue."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from protolabel.datasets.bundled import BUNDLED_NAMES
from protolabel.datasets.catalogue.spec import DatasetSpec
from protolabel.datasets.folders import find_main_file
from protolabel.datasets.loading import data_homes, load_dataset
from protolabel.exceptions import DatasetError

_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True)
class VerificationReport:
    """What was found about one dataset.

    Parameters
    ----------
    name : str
        Name of the dataset.
    status : {"ok", "differs", "absent"}
        Verified, at odds with the catalogue, or without files here.
    problems : tuple of str
        What differs, or which file has no known checksum.
    """

    name: str
    status: Literal["ok", "differs", "absent"]
    problems: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the report ready for JSON."""
        return asdict(self)


def verify_dataset(spec: DatasetSpec, data_home: str | Path | None = None) -> VerificationReport:
    """Compare the files of a dataset with the catalogue; nothing is downloaded.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    data_home : str or Path, default=None
        Folder to look in instead of ``PROTOLABEL_DATA`` and the cache.

    Returns
    -------
    VerificationReport
        The finding.

    Examples
    --------
    >>> from protolabel.datasets import find_spec
    >>> from protolabel.datasets.verification import verify_dataset
    >>> verify_dataset(find_spec("yeast")).status
    'ok'
    """
    folders = [home / spec.data_folder for home in data_homes(data_home)]
    folder = next((f for f in folders if find_main_file(spec, f) is not None), None)
    if folder is None and spec.name not in BUNDLED_NAMES:
        return VerificationReport(spec.name, "absent")
    problems = [] if folder is None else _checksum_problems(spec, folder)
    try:
        load_dataset(spec.name, data_home=folder.parent if folder is not None else None)
    except DatasetError as error:
        problems.append(str(error))
    return VerificationReport(spec.name, "differs" if problems else "ok", tuple(problems))


def _checksum_problems(spec: DatasetSpec, folder: Path) -> list[str]:
    """Compare the checksums of the files that are there and have a known one."""
    known = {file.name: file.sha256 for file in spec.files if file.sha256}
    known |= {remote.name: remote.sha256 for remote in spec.remote if remote.name not in known}
    problems: list[str] = []
    for name, expected in known.items():
        path = folder / name
        if path.is_file():
            found = file_checksum(path)
            if found != expected:
                problems.append(f"{path} has SHA-256 {found}, declared {expected}")
    return problems


def file_checksum(path: Path) -> str:
    """Return the SHA-256 checksum of a file.

    Parameters
    ----------
    path : Path
        The file, read in pieces.

    Returns
    -------
    str
        Hexadecimal digest.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
