"""``protolabel model``: what a model folder holds, and whether it is sound."""

from __future__ import annotations

from typing import Any

import typer

from protolabel.cli import common

app = typer.Typer(help="Model folders: info, verify.", no_args_is_help=True)


@app.command("info")
def info(model: common.ModelPlace, as_json: common.AsJson = False) -> None:
    """Describe a model: method, settings, labels, columns and metrics.

    Example: protolabel model info songs-model
    """
    from protolabel.workflows.model_description import describe_model

    found = describe_model(model)
    if as_json:
        common.print_json("model info", found)
        return
    for key, value in found.items():
        _print_entry(key, value)


@app.command("verify")
def verify(model: common.ModelPlace, as_json: common.AsJson = False) -> None:
    """Check all files of a model: checksums, shapes, values; exit 4 when one is refused.

    Example: protolabel model verify songs-model
    """
    from protolabel.workflows.model_description import verify_model

    checked = verify_model(model)
    if as_json:
        common.print_json("model verify", {"model": str(model), "files": checked})
        return
    for name, size in checked.items():
        typer.echo(f"{name}: {size} bytes, sound")


def _print_entry(key: str, value: Any) -> None:
    if isinstance(value, dict):
        typer.echo(f"{key}:")
        for name, item in value.items():
            shown = f"{item:.4f}" if isinstance(item, float) and key == "metrics" else item
            typer.echo(f"  {name}: {shown}")
    elif isinstance(value, list | tuple):
        some = ", ".join(str(item) for item in value[:20])
        more = f" and {len(value) - 20} more" if len(value) > 20 else ""
        typer.echo(f"{key} ({len(value)}): {some}{more}")
    else:
        typer.echo(f"{key}: {value}")
