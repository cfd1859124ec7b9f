"""A model in a folder together with what it makes of a file: ``columns.json`` beside it.

The folder is a model folder like any other, see :mod:`protolabel.persistence`; the third file
says how columns become features. All three appear at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protolabel.exceptions import ModelFileError
from protolabel.persistence import load_model, save_model
from protolabel.safefiles.bundle import FILES, MANIFEST
from protolabel.safefiles.fields import Fields
from protolabel.safefiles.folder import publish_folder
from protolabel.safefiles.strict_json import checksum, parse_object, pretty_bytes, shown
from protolabel.safefiles.tensor_file import open_regular
from protolabel.version import __version__
from protolabel.workflows.inputs import Inputs, StoredInputs, inputs_from_json, inputs_of_model

COLUMNS = "columns.json"
FOLDER_FILES = (*FILES, COLUMNS)
_FORMAT = "protolabel-columns"
_VERSION = 1
_MAX_BYTES = 32 * 2**20


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A fitted model, what it makes of a file, and what it was measured to be worth."""

    model: Any
    inputs: Inputs
    metrics: Mapping[str, float]

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(str(name) for name in self.model.label_names_)


def save_trained(
    model: Any,
    inputs: StoredInputs,
    folder: Path,
    *,
    metrics: Mapping[str, float] | None = None,
    force: bool = False,
) -> None:
    """Write a model and what it makes of a file; the folder appears complete or not at all.

    Parameters
    ----------
    model : estimator
        Fitted, of a kind that :func:`protolabel.persistence.save_model` knows.
    inputs : TableInputs, SparseInputs or TextInputs
    folder : Path
        Folder to create; the one that holds it has to exist.
    metrics : mapping of str to float or None, default=None
        What the model was measured to be worth.
    force : bool, default=False
        Replace an existing model.
    """
    with publish_folder(folder, force=force, replaceable=FOLDER_FILES) as partial:
        save_model(model, partial / "model", metrics=metrics)
        for name in FILES:
            (partial / "model" / name).rename(partial / name)
        (partial / "model").rmdir()
        document = {
            "format": _FORMAT,
            "format_version": _VERSION,
            "package_version": __version__,
            "model": _manifest(partial)["checksum"],
            "inputs": inputs.to_json(),
        }
        document["checksum"] = checksum(document)
        data = pretty_bytes(document)
        if len(data) > _MAX_BYTES:
            raise ValueError(
                f"{COLUMNS} would take {len(data)} bytes, more than the {_MAX_BYTES} that are read "
                "again; use shorter names of columns."
            )
        (partial / COLUMNS).write_bytes(data)


def load_trained(folder: Path) -> TrainedModel:
    """Read a model folder, with or without ``columns.json``.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    ModelFileError
        The folder holds no model, a damaged one, or one that this version does not know.
    """
    model = load_model(folder)
    if not hasattr(model, "_kind") or model._kind != "multilabel":
        raise ModelFileError(
            f"{folder}: the model gives one class a row; expected a multi-label model, as "
            "`protolabel train` writes."
        )
    manifest = _manifest(folder)
    metrics = manifest["metrics"]
    if not os.path.lexists(folder / COLUMNS):
        return TrainedModel(model, inputs_of_model(model), metrics)
    inputs = _read_inputs(folder / COLUMNS, manifest["checksum"])
    names = inputs.feature_names
    n_features = inputs.n_features if names is None else len(names)  # type: ignore[union-attr]
    if n_features != model.n_features_in_:
        raise ModelFileError(
            f"{folder / COLUMNS}: gives {n_features} features, the model has "
            f"{model.n_features_in_}. The files do not belong together; train the model again."
        )
    return TrainedModel(model, inputs, metrics)


def name_outputs(model: Any, label_names: tuple[str, ...], inputs: Inputs) -> None:
    """Give a model that was fitted to plain matrices the names of its labels and features."""
    model.label_names_ = _as_objects(label_names)
    if inputs.feature_names is not None:
        model.feature_names_in_ = _as_objects(inputs.feature_names)


def read_manifest(folder: Path) -> dict[str, Any]:
    """What the manifest of a model says, for people; use :func:`load_trained` to check it."""
    return _manifest(folder)


def _as_objects(names: tuple[str, ...]) -> np.ndarray:
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _manifest(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
    return manifest


def _read_inputs(path: Path, model_checksum: str) -> StoredInputs:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > _MAX_BYTES:
            raise ModelFileError(
                f"{path}: found {size} bytes; no {COLUMNS} is as large. Fetch the model again from "
                "a source you trust."
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
