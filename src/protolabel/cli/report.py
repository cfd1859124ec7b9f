"""``protolabel report``: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of `benchmark run`.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write; report.html in the folder of a run by default.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a report that needs no network: results, ranks, times, settings.

    Example: protolabel report runs/small --output small.html
    """
    from protolabel.report.run_report import run_report
    from protolabel.report.writing import write_page

    target = output or folder / "report.html"
    write_page(run_report(folder), target, force=force)
    typer.echo(str(target))
