"""Entry point of ``protolabel``: the command tree and what becomes of errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from protolabel.cli import benchmark, datasets, demo, published, report
from protolabel.exceptions import DatasetError, ProtolabelError
from protolabel.version import __version__

EXIT_FAILED, EXIT_BAD_DATA, EXIT_INTERRUPTED = 1, 3, 130

app = typer.Typer(
    name="protolabel",
    help="Multi-label learning with prototypical networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("report")(report.report)
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(datasets.app, name="datasets")
app.add_typer(published.app, name="published")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the full traceback of an error.")
    ] = False,
) -> None:
    """Multi-label learning with prototypical networks."""
    if debug:
        os.environ["PROTOLABEL_DEBUG"] = "1"


def run() -> None:
    """Run the command line; a user's mistake ends in one line, not in a traceback."""
    try:
        app()
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except (ProtolabelError, ValueError, OSError, ModuleNotFoundError) as error:
        if os.environ.get("PROTOLABEL_DEBUG"):
            raise
        typer.echo(f"Error: {error}", err=True)
        sys.exit(EXIT_BAD_DATA if isinstance(error, DatasetError) else EXIT_FAILED)
