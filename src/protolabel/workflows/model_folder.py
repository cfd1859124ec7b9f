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
from protolabel.safefiles.folder import publish_folder
from protolabel.workflows.columns_file import COLUMNS, FOLDER_FILES, read_columns, write_columns
from protolabel.workflows.inputs import Inputs, StoredInputs, inputs_of_model


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
        write_columns(partial / COLUMNS, inputs, _manifest(partial)["checksum"])


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
    inputs = read_columns(folder / COLUMNS, manifest["checksum"])
    if inputs.n_features != model.n_features_in_:
        raise ModelFileError(
            f"{folder / COLUMNS}: gives {inputs.n_features} features, the model has "
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
