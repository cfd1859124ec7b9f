"""``protolabel report``: a run or a model as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from protolabel.cli import common, places
from protolabel.cli.pipes import readable_twice


def report(
    folder: Annotated[
        Path, typer.Argument(help="Folder of `benchmark run`, or of a model with --data.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write; report.html in the folder of a run or <model>.html by default.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="Rows with labels to show a model on: a file, - for the standard input, or the "
            "name of a dataset.",
            callback=readable_twice,
        ),
    ] = None,
    tags: common.TagsOfNewRows = None,
    tag_separator: common.TagSeparator = None,
    file_format: common.FileFormat = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = "utf-8",
    force: common.Force = False,
    quiet: common.Quiet = False,
) -> None:
    """Write a page that needs no network: the results of a run, or a look into a model.

    Example: protolabel report runs/small --output small.html

    Example: protolabel report songs-model --data test.csv --output test.html
    """
    from protolabel.report.writing import write_page

    if data is None:
        _check_is_run(folder)
        if tags is not None:
            raise typer.BadParameter("--tags is about the rows of --data; give both or neither.")
        target = output or folder / "report.html"
        places.check_new_file(target, force=force)
        from protolabel.report.run_report import run_report

        page = run_report(folder)
    else:
        target = output or folder.with_name(f"{folder.resolve().name}.html")
        places.check_new_file(target, force=force)
        options = common.file_options(
            tags=tags,
            tag_separator=tag_separator,
            file_format=file_format,
            delimiter=delimiter,
            encoding=encoding,
        )
        from protolabel.report.model_report import model_report
        from protolabel.workflows.model_calls import unnamed_rows
        from protolabel.workflows.model_folder import load_trained
        from protolabel.workflows.new_rows import read_rows

        tell = common.messenger(quiet=quiet)
        with common.plain_warnings(tell):
            trained = load_trained(folder)
            names = trained.label_names
            rows = read_rows(data, trained.inputs, names, options, wanted_labels=names)
            for note in rows.notes:
                tell(f"Note: {note}")
            title = f"Model {folder.resolve().name}"
            # Not the place, which for a pipe is that of a passing copy.
            name = Path(data).name
            with unnamed_rows():
                page = model_report(trained.model, rows.X, rows.Y, title=title, data_name=name)
    write_page(page, target, force=force)
    typer.echo(str(target))


def _check_is_run(folder: Path) -> None:
    """Refuse, before any work, a folder that is missing or holds a model."""
    from protolabel.safefiles.bundle import MANIFEST

    if not folder.is_dir():
        raise typer.BadParameter(
            f"There is no folder {folder}; give one of `benchmark run`, or a model with --data."
        )
    if (folder / MANIFEST).is_file():
        raise typer.BadParameter(
            f"{folder} holds a model; give rows with labels to show it on, as --data FILE."
        )
