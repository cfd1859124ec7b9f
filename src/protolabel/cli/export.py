"""``protolabel export``: a model for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protolabel.cli import common, places


def export(
    model: common.ModelPlace,
    onnx: Annotated[Path, typer.Option("--onnx", help="ONNX file to write.", show_default=False)],
    force: common.Force = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Write a model as an ONNX file, from features to probabilities.

    The file takes numbers: columns of words have to be spelt out and empty cells filled as
    columns.json of the model says. The order of the features is in its metadata.

    Example: protolabel export songs-model --onnx songs.onnx
    """
    places.check_new_file(onnx, force=force)
    from protolabel.persistence import export_onnx
    from protolabel.workflows.model_folder import load_trained

    tell = common.messenger(quiet=quiet)
    with common.plain_warnings(tell):
        trained = load_trained(model)
        common.check_is_pnml(model, trained.model, "exported")
        export_onnx(trained.model, onnx, force=force)
    size = onnx.stat().st_size
    if as_json:
        answer = {
            "output": str(onnx),
            "n_bytes": size,
            "n_features": trained.model.n_features_in_,
            "feature_names": trained.inputs.feature_names,
            "label_names": trained.label_names,
        }
        common.print_json("export", answer)
        return
    typer.echo(
        f"{onnx}: {size} bytes, {common.counted(trained.model.n_features_in_, 'feature')}, "
        f"{common.counted(len(trained.label_names), 'label')}"
    )
