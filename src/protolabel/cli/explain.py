"""``protolabel explain``: why a model says what it says of one row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from protolabel.datasets import MultiLabelDataset


def explain(
    model: Annotated[Path, typer.Argument(help="Folder of a saved model.")],
    data: Annotated[str, typer.Argument(help="File to read, or a name of the catalogue.")],
    row: Annotated[int, typer.Option(min=0, help="Row of the data, counted from 0.")] = 0,
    label: Annotated[
        list[str] | None,
        typer.Option(help="A label to explain; repeatable. The most probable ones by default."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of most probable labels.")] = 5,
    features: Annotated[int, typer.Option(min=1, help="Features to name for a label.")] = 5,
    training: Annotated[
        str | None,
        typer.Option(help="Training data, to name the rows nearest to the prototypes."),
    ] = None,
    flips: Annotated[
        bool, typer.Option("--flips/--no-flips", help="Look for changes that turn a decision.")
    ] = True,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show learners, prototypes and features behind the probabilities of a row.

    Example: protolabel explain models/yeast yeast --row 3 --label Class1
    """
    from protolabel.inspection import explain as explain_row
    from protolabel.inspection import explanation_text
    from protolabel.persistence import load_model

    dataset = read_named(data)
    if row >= dataset.n_samples:
        raise ValueError(
            f"--row {row} was given but {dataset.name} has {dataset.n_samples} rows; "
            f"use 0 to {dataset.n_samples - 1}."
        )
    found = explain_row(
        load_model(model),
        dataset.X[[row]],
        labels=label,
        n_labels=top,
        n_features=features,
        flips=flips,
        X_train=None if training is None else read_named(training).X,
        feature_names=dataset.feature_names,
    )
    if html is not None:
        from protolabel.report.explanation_report import explanation_report
        from protolabel.report.writing import write_page

        page = explanation_report(found, title=f"Row {row} of {dataset.name}")
        write_page(page, html, force=force)
    if as_json:
        answer = {"schema": 1, "command": "explain", "result": found.to_json()}
        typer.echo(json.dumps(answer, allow_nan=False))
    elif html is not None:
        typer.echo(str(html))
    else:
        typer.echo(explanation_text(found))


def read_named(source: str) -> MultiLabelDataset:
    """Read a file, or load a dataset of the catalogue by its name."""
    from protolabel.datasets import load_dataset, read_dataset

    return read_dataset(source) if Path(source).exists() else load_dataset(source)
