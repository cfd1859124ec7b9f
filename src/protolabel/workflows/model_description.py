"""What a model folder holds, in words and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from protolabel.preprocessing.table import WordRule
from protolabel.workflows.columns_file import FOLDER_FILES
from protolabel.workflows.inputs import Inputs, PlainInputs, SparseInputs, TableInputs
from protolabel.workflows.model_folder import load_trained, read_manifest


def describe_model(folder: Path) -> dict[str, Any]:
    """Method, settings that differ from their defaults, labels, columns and metrics.

    Parameters
    ----------
    folder : Path
        The model is loaded, and so checked, in full.

    Raises
    ------
    ModelFileError
        The folder holds no sound model.
    """
    trained = load_trained(folder)
    model = trained.model
    defaults = type(model)().get_params(deep=False)
    params = model.get_params(deep=False)
    return {
        "estimator": type(model).__name__,
        "written_by": f"protolabel {read_manifest(folder)['package_version']}",
        "settings": {name: value for name, value in params.items() if value != defaults[name]},
        "label_names": trained.label_names,
        "n_features": model.n_features_in_,
        "columns": _columns(trained.inputs),
        "metrics": dict(trained.metrics),
        "n_bytes": sum(file_sizes(folder).values()),
    }


def verify_model(folder: Path) -> dict[str, int]:
    """Load a model, which checks it, and return the sizes of its files.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    ModelFileError
        The folder holds no sound model.
    """
    load_trained(folder)
    return file_sizes(folder)


def file_sizes(folder: Path) -> dict[str, int]:
    """Bytes of the files of a model that are there."""
    return {
        name: (folder / name).stat().st_size for name in FOLDER_FILES if (folder / name).exists()
    }


def _columns(inputs: Inputs) -> list[str]:
    """What the model expects in a file, one entry a column."""
    if isinstance(inputs, TableInputs):
        return [
            f"{rule.name} (one of {', '.join(rule.words)})"
            if isinstance(rule, WordRule)
            else f"{rule.name} (number)"
            for rule in inputs.table.rules
        ]
    if isinstance(inputs, SparseInputs | PlainInputs):
        return list(inputs.names or [f"{inputs.n_features} numbers"])
    return [f"texts ({len(inputs.words)} words known)"]
