"""A bundle: one folder with ``manifest.json`` and ``tensors.safetensors``.

The manifest names the format and its version, describes every array, and carries the checksums
of both files. Model files and training checkpoints are bundles of two formats.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from protolabel.exceptions import ModelFileError
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.folder import publish_folder
from protolabel.safefiles.strict_json import checksum, parse_object, pretty_bytes, shown
from protolabel.safefiles.tensor_file import (
    DTYPES,
    MAX_DIMENSIONS,
    TensorFile,
    TensorSpec,
    open_regular,
    sha256_of,
    write_tensors,
)
from protolabel.version import __version__

MANIFEST = "manifest.json"
TENSORS = "tensors.safetensors"
FILES = (MANIFEST, TENSORS)
MAX_MANIFEST_BYTES = 32 * 2**20
MAX_TENSOR_BYTES = 8 * 2**30
# Times that a folder may be replaced while it is opened.
_MOST_REPLACEMENTS = 10
_BUNDLE_KEYS = ("format", "format_version", "package_version", "tensors", "checksum")


@dataclass(frozen=True)
class BundleFormat:
    """A kind of bundle: its name, the version written, and all versions read."""

    name: str
    version: int
    readable: tuple[int, ...]


def write_bundle(
    folder: Path,
    kind: BundleFormat,
    content: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    *,
    force: bool = False,
) -> None:
    """Write a bundle so that it is there as a whole or not at all.

    Parameters
    ----------
    folder : Path
    kind : BundleFormat
    content : mapping of str to Any
        What the manifest says besides the tensors; values that JSON can hold.
    arrays : mapping of str to ndarray
    force : bool, default=False
        Replace an existing bundle.
    """
    with publish_folder(folder, force=force, replaceable=FILES) as partial:
        schema = write_tensors(partial / TENSORS, arrays)
        manifest = {
            "format": kind.name,
            "format_version": kind.version,
            "package_version": __version__,
            **content,
            "tensors": {
                "size": (partial / TENSORS).stat().st_size,
                "sha256": sha256_of(partial / TENSORS),
                "schema": {
                    name: {"dtype": spec.dtype, "shape": list(spec.shape)}
                    for name, spec in schema.items()
                },
            },
        }
        manifest["checksum"] = checksum(manifest)
        data = pretty_bytes(manifest)
        if len(data) > MAX_MANIFEST_BYTES:
            raise ValueError(
                f"The manifest would take {len(data)} bytes, more than the {MAX_MANIFEST_BYTES} "
                "that are read again; use shorter label or feature names."
            )
        (partial / MANIFEST).write_bytes(data)
        # The tensors arrive readable by their owner alone, whatever the umask says.
        (partial / TENSORS).chmod((partial / MANIFEST).stat().st_mode & 0o777)


class Bundle:
    """An opened bundle whose checks have passed; use it as a context manager.

    Parameters
    ----------
    folder : Path
    kind : BundleFormat
    keys : mapping of int to collection of str
        What the manifest of each format version has to say besides the tensors.
    max_bytes : int
        Largest tensor file to accept.

    Attributes
    ----------
    version : int
        Format version of the bundle.
    content : Fields
        What the manifest says besides the tensors.
    tensors : TensorFile
    """

    def __init__(
        self,
        folder: Path,
        kind: BundleFormat,
        keys: Mapping[int, Collection[str]],
        max_bytes: int = MAX_TENSOR_BYTES,
    ) -> None:
        self.path = folder / MANIFEST
        manifest = _read_manifest(folder)
        self.version = _checked_version(manifest, kind, self.path)
        wanted = {*_BUNDLE_KEYS, *keys[self.version]}
        self.content = Fields(manifest, "the manifest", self.path, wanted)
        announced = self.content.text("checksum")
        found = checksum({key: value for key, value in manifest.items() if key != "checksum"})
        if found != announced:
            raise ModelFileError(
                f"{self.path}: the SHA-256 of its content is {found}, it announces "
                f"{shown(announced)}. The manifest was changed or damaged; save or fetch the "
                "model again."
            )
        entry = Fields(
            self.content.raw("tensors"), "tensors", self.path, {"size", "sha256", "schema"}
        )
        size = entry.integer("size")
        if size > max_bytes:
            raise ModelFileError(
                f"{self.path}: announces {size} bytes of tensors, more than max_bytes={max_bytes}. "
                "If you trust the file, load it with a larger max_bytes."
            )
        schema = {name: self._spec(name, value) for name, value in entry.members("schema").items()}
        self.tensors = TensorFile(folder / TENSORS, schema, size, entry.text("sha256"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.tensors.__exit__()

    def refuse(self, found: str) -> NoReturn:
        """Refuse the bundle for what its manifest says."""
        raise ModelFileError(
            f"{self.path}: {found}. The files are damaged or were made by something else; save or "
            "fetch the model again."
        )

    def _spec(self, name: str, value: Any) -> TensorSpec:
        entry = Fields(value, f"the schema of {shown(name)}", self.path, {"dtype", "shape"})
        shape = entry.items("shape")
        if len(shape) > MAX_DIMENSIONS or any(
            type(n) is not int or not 0 <= n < 2**53 for n in shape
        ):
            self.refuse(f"the shape of {shown(name)} is not a list of a few sizes")
        return TensorSpec(entry.text("dtype", choices=DTYPES.keys()), tuple(shape))


def open_bundle(
    folder: Path,
    kind: BundleFormat,
    keys: Mapping[int, Collection[str]],
    max_bytes: int = MAX_TENSOR_BYTES,
) -> Bundle:
    """Open a bundle, anew where another process replaced it between one file and the other.

    Parameters are those of :class:`Bundle`.
    """
    for _ in range(_MOST_REPLACEMENTS):
        seen = _identity(folder)
        try:
            return Bundle(folder, kind, keys, max_bytes)
        except ModelFileError:
            if _identity(folder) == seen:
                raise
    return Bundle(folder, kind, keys, max_bytes)


def _identity(folder: Path) -> tuple[int, ...] | None:
    """What is another number when a folder is another one, None where there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise ModelFileError(
            f"{folder}: there is no such folder. Give the folder that the model was saved to."
        )
    path = folder / MANIFEST
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_MANIFEST_BYTES:
            raise ModelFileError(
                f"{path}: found {size} bytes; no manifest is as large. Fetch the model again from "
                "a source you trust."
            )
        data = file.read(size)
    return parse_object(data, path)


def _checked_version(manifest: dict[str, Any], kind: BundleFormat, path: Path) -> int:
    name, version = manifest.get("format"), manifest.get("format_version")
    if name != kind.name:
        raise ModelFileError(
            f"{path}: the format is {shown(name)}; expected {kind.name!r}. Give a folder that "
            "was written for this purpose."
        )
    if type(version) is not int or version not in kind.readable:
        written = manifest.get("package_version")
        raise ModelFileError(
            f"{path}: the format version is {shown(version)}, written by protolabel "
            f"{shown(written)}; protolabel {__version__} reads {kind.name} version "
            f"{', '.join(map(str, kind.readable))}. Upgrade protolabel, or save the model again."
        )
    return version
