"""Archives unpacked so that nothing lands outside the target folder."""

from __future__ import annotations

import shutil
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from protolabel.datasets.limits import DEFAULT_LIMITS, ReadLimits
from protolabel.exceptions import DatasetError


def unpack_archive(
    path: str | Path, folder: str | Path, *, limits: ReadLimits = DEFAULT_LIMITS
) -> list[Path]:
    """Unpack the plain files of a ZIP or TAR archive.

    Parameters
    ----------
    path : str or Path
        Archive; its content tells which kind it is.
    folder : str or Path
        Target, created when missing.
    limits : ReadLimits, default=DEFAULT_LIMITS
        How much it may unpack to.

    Returns
    -------
    list of Path
        The files written, in the order of the archive.

    Raises
    ------
    DatasetError
        When a member has an absolute path, leads out of the folder, is a link or device,
        would overwrite a file, or the archive is damaged or too large. Nothing of an archive
        with such a member is written.

    Examples
    --------
    >>> import tempfile, zipfile
    >>> from pathlib import Path
    >>> from protolabel.datasets import unpack_archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.zip"
    ...     with zipfile.ZipFile(path, "w") as archive:
    ...         archive.writestr("yeast/yeast.xml", "<labels/>")
    ...     [file.name for file in unpack_archive(path, Path(folder) / "out")]
    ['yeast.xml']
    """
    path, folder = Path(path), Path(folder)
    budget = limits.content_budget(path.stat().st_size)
    try:
        if zipfile.is_zipfile(path):
            return _unpack_zip(path, folder, budget)
        if tarfile.is_tarfile(path):
            return _unpack_tar(path, folder, budget)
    except (OSError, EOFError, RuntimeError, NotImplementedError, zlib.error) as error:
        raise DatasetError(f"{path} is damaged or encrypted ({error}); fetch it again") from error
    except (zipfile.BadZipFile, tarfile.TarError) as error:
        raise DatasetError(f"{path} is damaged ({error}); fetch it again") from error
    raise DatasetError(f"{path} is neither a ZIP nor a TAR archive")


def _unpack_zip(path: Path, folder: Path, budget: int) -> list[Path]:
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        for info in members:
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                raise DatasetError(f"{path}: member {info.filename!r} is a link or device")
        targets = _targets(path, folder, [info.filename for info in members])
        _check_total(path, sum(info.file_size for info in members), budget)
        for info, target in zip(members, targets, strict=True):
            with archive.open(info) as source:
                _write(source, target)
        return targets


def _unpack_tar(path: Path, folder: Path, budget: int) -> list[Path]:
    with tarfile.open(path) as archive:
        members: list[tarfile.TarInfo] = []
        total = 0
        # headers are read one by one, so that an endless archive stops at the limit
        for info in archive:
            if info.isdir():
                continue
            if not info.isreg():
                raise DatasetError(f"{path}: member {info.name!r} is a link or device")
            total += info.size
            _check_total(path, total, budget)
            members.append(info)
        targets = _targets(path, folder, [info.name for info in members])
        for info, target in zip(members, targets, strict=True):
            source = archive.extractfile(info)
            if source is None:
                raise DatasetError(f"{path}: member {info.name!r} cannot be read")
            with source:
                _write(source, target)
        return targets


def _targets(path: Path, folder: Path, names: list[str]) -> list[Path]:
    """Return where the members go; refuse the archive when one would go elsewhere."""
    root = folder.resolve()
    targets: list[Path] = []
    seen: set[Path] = set()
    for name in names:
        parts = PurePosixPath(name.replace("\\", "/")).parts
        unsafe = not parts or parts[0] == "/" or ".." in parts or ":" in parts[0] or "\0" in name
        target = root.joinpath(*parts) if not unsafe else root
        if unsafe or not target.resolve().is_relative_to(root):
            raise DatasetError(f"{path}: member {name!r} would land outside {folder}; refused")
        if target.exists() or target in seen:
            raise DatasetError(f"{path}: member {name!r} would overwrite {target}; refused")
        seen.add(target)
        targets.append(target)
    return targets


def _check_total(path: Path, total: int, budget: int) -> None:
    if total > budget:
        raise DatasetError(
            f"{path} unpacks to more than {budget} bytes, the limit for an archive of this size"
        )


def _write(source: IO[bytes], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        shutil.copyfileobj(source, file)
