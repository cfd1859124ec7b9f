"""``columns.json``: what a model makes of a file, beside the files of the model itself."""

from __future__ import annotations

import os
from pathlib import Path

from protolabel.exceptions import ModelFileError
from protolabel.safefiles.bundle import FILES
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.strict_json import checksum, parse_object, pretty_bytes, shown
from protolabel.safefiles.tensor_file import open_regular
from protolabel.version import __version__
from protolabel.workflows.inputs import StoredInputs, inputs_from_json

COLUMNS = "columns.json"
FOLDER_FILES = (*FILES, COLUMNS)
_FORMAT = "protolabel-columns"
_VERSION = 1
_MAX_BYTES = 32 * 2**20


def write_columns(path: Path, inputs: StoredInputs, model_checksum: str) -> None:
    """Write what a model makes of a file.

    Parameters
    ----------
    path : Path
    inputs : TableInputs, SparseInputs or TextInputs
    model_checksum : str
        Checksum of the manifest that the file belongs to.
    """
    document = {
        "format": _FORMAT,
        "format_version": _VERSION,
        "package_version": __version__,
        "model": model_checksum,
        "inputs": inputs.to_json(),
    }
    document["checksum"] = checksum(document)
    data = pretty_bytes(document)
    if len(data) > _MAX_BYTES:
        raise ValueError(
            f"{path.name} would take {len(data)} bytes, more than the {_MAX_BYTES} that are read "
            "again; use shorter names of columns."
        )
    path.write_bytes(data)


def read_columns(path: Path, model_checksum: str) -> StoredInputs:
    """Read it back; nothing is executed, and all that is not known is refused.

    Parameters
    ----------
    path : Path
    model_checksum : str
        Checksum of the manifest that the file has to belong to.

    Raises
    ------
    ModelFileError
        The file is damaged, of another version, or belongs to another model.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _MAX_BYTES:
            raise ModelFileError(
                f"{path}: found {size} bytes; no {path.name} is as large. Fetch the model again "
                "from a source you trust."
            )
        document = parse_object(file.read(size), path)
    keys = {"format", "format_version", "package_version", "model", "inputs", "checksum"}
    fields = Fields(document, "the file", path, keys)
    fields.text("format", choices=(_FORMAT,))
    version = fields.integer("format_version")
    if version != _VERSION:
        raise ModelFileError(
            f"{path}: the format version is {version}; protolabel {__version__} reads {_VERSION}. "
            "Upgrade protolabel, or train the model again."
        )
    announced = fields.text("checksum")
    found = checksum({key: value for key, value in document.items() if key != "checksum"})
    if found != announced:
        raise ModelFileError(
            f"{path}: the SHA-256 of its content is {found}, it announces {shown(announced)}. The "
            "file was changed or damaged; train or fetch the model again."
        )
    if fields.text("model") != model_checksum:
        raise ModelFileError(
            f"{path}: belongs to another model than the manifest beside it; train or fetch the "
            "model again."
        )
    return inputs_from_json(fields.raw("inputs"), path)
