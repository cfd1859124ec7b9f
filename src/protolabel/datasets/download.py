"""Downloads that are either whole and verified, or absent."""

from __future__ import annotations

import logging
import shutil
import sys
from pathlib import Path
from typing import Any

from protolabel.datasets.catalogue.spec import DatasetSpec, RemoteFile
from protolabel.exceptions import DatasetError

_LOG = logging.getLogger(__name__)
_CHUNK_BYTES = 64 * 1024
_TIMEOUT_SECONDS = 30
_HTTP_PARTIAL = 206


def fetch_files(spec: DatasetSpec, folder: Path, *, show_progress: bool | None = None) -> Path:
    """Download the files of a dataset that are not there yet.

    A file appears under its name only after its SHA-256 checksum was found right. Until then
    the bytes are in ``<name>.partial``, from where an interrupted download goes on.

    Parameters
    ----------
    spec : DatasetSpec
        The catalogue entry.
    folder : Path
        Where to put the files.
    show_progress : bool, default=None
        Whether to draw a progress bar; None draws one on a terminal.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    DatasetError
        When no address gives the right bytes; the message has the reason for each address.
    """
    if not spec.remote:
        raise DatasetError(
            f"no checksum is known to download {spec.name!r} by; get it from "
            f"{' or '.join(spec.sources)}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for remote in spec.remote:
        fetch_file(remote, folder, show_progress=show_progress)
    return folder


def fetch_file(remote: RemoteFile, folder: Path, *, show_progress: bool | None = None) -> Path:
    """Download one file from the first address that has the right bytes.

    Parameters
    ----------
    remote : RemoteFile
        Name, checksum and addresses.
    folder : Path
        Where to put it; has to exist.
    show_progress : bool, default=None
        Whether to draw a progress bar; None draws one on a terminal.

    Returns
    -------
    Path
        The verified file.
    """
    import pooch  # noqa: PLC0415

    if Path(remote.name).name != remote.name or remote.name in ("", ".", ".."):
        raise ValueError(f"{remote.name!r} is not a plain file name")
    shown = sys.stderr.isatty() if show_progress is None else show_progress
    failures: list[str] = []
    for url in remote.urls:
        downloader = _ResumingDownloader(folder / f"{remote.name}.partial", shown)
        for _ in range(2):
            try:
                path = pooch.retrieve(
                    url,
                    known_hash=f"sha256:{remote.sha256}",
                    fname=remote.name,
                    path=folder,
                    downloader=downloader,
                )
            except (OSError, ValueError) as error:
                _LOG.info("%s failed: %s", url, error)
                failures.append(f"{url}: {error}")
                # old partial bytes may be at fault: the same address gets one fresh try
                if isinstance(error, ValueError) and downloader.has_resumed:
                    continue
                break
            return Path(path)
    reasons = "; ".join(failures) or "no address is known"
    raise DatasetError(
        f"{remote.name} could not be downloaded ({reasons}). Try again later, or put the file "
        f"into {folder} yourself; its SHA-256 has to be {remote.sha256}"
    )


class _ResumingDownloader:
    """Fetch a file in pieces that survive an interruption; pooch then verifies the copy."""

    def __init__(self, partial: Path, show_progress: bool) -> None:
        self.partial = partial
        self.show_progress = show_progress
        self.has_resumed = False

    def __call__(self, url: str, output_file: Any, _pooch: Any) -> None:
        """Bring the partial file to its full length and hand a copy over for verification."""
        import requests  # noqa: PLC0415

        done = self.partial.stat().st_size if self.partial.is_file() else 0
        self.has_resumed = done > 0
        headers = {"Range": f"bytes={done}-"} if done else {}
        # compressed transfer would make byte ranges and lengths refer to other bytes
        headers["Accept-Encoding"] = "identity"
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_SECONDS) as response:
            resumes = response.headers.get("Content-Range", "").startswith(f"bytes {done}-")
            if done and not (response.status_code == _HTTP_PARTIAL and resumes):
                # the server cannot go on from there: start over
                self.partial.unlink(missing_ok=True)
                self(url, output_file, _pooch)
                return
            response.raise_for_status()
            declared = response.headers.get("Content-Length")
            total = done + int(declared) if declared and declared.isdigit() else None
            self._receive(response, done, total)
        length = self.partial.stat().st_size
        if total is not None and length != total:
            raise OSError(f"the connection ended after {length} of {total} bytes")
        shutil.copyfile(self.partial, output_file)
        # a wrong checksum must not be resumed from: from here on the copy is what counts
        self.partial.unlink()

    def _receive(self, response: Any, done: int, total: int | None) -> None:
        """Append what arrives to the partial file."""
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import Progress  # noqa: PLC0415

        with (
            self.partial.open("ab" if done else "wb") as file,
            Progress(console=Console(stderr=True), disable=not self.show_progress) as progress,
        ):
            task = progress.add_task(self.partial.name.removesuffix(".partial"), total=total)
            progress.update(task, completed=done)
            for chunk in response.iter_content(_CHUNK_BYTES):
                file.write(chunk)
                progress.update(task, advance=len(chunk))
