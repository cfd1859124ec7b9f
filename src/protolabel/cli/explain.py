"""``protolabel explain``: why a model says what it says of one row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protolabel.cli import common, places
from protolabel.exceptions import DatasetError


def explain(
    model: common.ModelPlace,
    data: common.DataSource,
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
    file_format: common.FileFormat = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = "utf-8",
    force: common.Force = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Show learners, prototypes and features behind the probabilities of a row.

    The model has to be one of the PNML family.

    Example: protolabel explain songs-model new.csv --row 3

    Example: protolabel explain songs-model new.csv --row 3 --label calm --html calm.html
    """
    if html is not None:
        places.check_new_file(html, force=force)
    options = common.file_options(file_format=file_format, delimiter=delimiter, encoding=encoding)
    from protolabel.inspection import explain as explain_row
    from protolabel.inspection import explanation_text
    from protolabel.workflows.labelled_data import unknown_label
    from protolabel.workflows.model_calls import unnamed_rows
    from protolabel.workflows.model_folder import load_trained
    from protolabel.workflows.new_rows import read_rows

    tell = common.messenger(quiet=quiet)
    with common.plain_warnings(tell):
        trained = load_trained(model)
        common.check_is_pnml(model, trained.model, "explained")
        for name in label or ():
            if name not in trained.label_names:
                raise unknown_label("the model", name, trained.label_names)
        rows, *known = (
            read_rows(source, trained.inputs, trained.label_names, options)
            for source in (data, training)
            if source is not None
        )
        for note in rows.notes:
            tell(f"Note: {note}")
        n_rows = rows.X.shape[0]
        if not n_rows:
            raise DatasetError(f"{data} has no rows; give a file with the row to explain")
        if row >= n_rows:
            raise typer.BadParameter(
                f"--row {row} was given; {data} has the rows 0 to {n_rows - 1}."
            )
        table = getattr(trained.inputs, "table", None)
        with unnamed_rows():
            found = explain_row(
                trained.model,
                rows.X[[row]],
                labels=label,
                n_labels=top,
                n_features=features,
                flips=flips,
                X_train=known[0].X if known else None,
                feature_names=trained.inputs.feature_names,
                words=table.words_of_columns if table is not None else (),
            )
    if html is not None:
        from protolabel.report.explanation_report import explanation_report
        from protolabel.report.writing import write_page

        page = explanation_report(found, title=f"Row {row} of {Path(data).name}")
        write_page(page, html, force=force)
    if as_json:
        common.print_json("explain", found.to_json())
    else:
        typer.echo(explanation_text(found) if html is None else str(html))
