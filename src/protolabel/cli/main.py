"""Entry point of ``protolabel``: the command tree and what becomes of errors."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from protolabel.cli import (
    benchmark,
    common,
    datasets,
    demo,
    doctor,
    evaluate,
    explain,
    export,
    model,
    predict,
    published,
    report,
    reproduce,
    train,
    tune,
)
from protolabel.exceptions import ProtolabelError
from protolabel.version import __version__

app = typer.Typer(
    name="protolabel",
    help="Multi-label learning with prototypical networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("reproduce")(reproduce.reproduce)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("evaluate")(evaluate.evaluate)
app.command("tune")(tune.tune)
app.command("export")(export.export)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("doctor")(doctor.doctor)
app.command("version")(doctor.version)
app.add_typer(model.app, name="model")
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
        _run_command()
    except KeyboardInterrupt:
        common.finish_with_error(app, "Interrupted.", common.EXIT_INTERRUPTED)
    except SystemExit as stop:
        # Typer has shown the problem already; a program that asked for JSON gets it as such.
        if stop.code == common.EXIT_USAGE:
            problem = getattr(stop.__context__, "format_message", lambda: "wrong usage")()
            common.finish_with_error(app, problem, common.EXIT_USAGE, shown=True)
        if stop.code == common.EXIT_INTERRUPTED:
            common.finish_with_error(app, "Interrupted.", common.EXIT_INTERRUPTED)
        raise
    except BrokenPipeError:
        # Whoever reads the output has seen enough of it.
        common.abandon_output()
        sys.exit(common.EXIT_FAILED)
    except (ProtolabelError, ValueError, OSError, ImportError) as error:
        if common.wants_traceback():
            raise
        common.finish_with_error(app, str(error), common.exit_code_of(error))
    except Exception as error:
        if common.wants_traceback():
            raise
        told = f"{type(error).__name__}: {error} (--debug shows where it comes from)"
        common.finish_with_error(app, told, common.EXIT_FAILED)


def _run_command() -> None:
    """Run a command to the end of its output: what cannot be written is an error like others."""
    try:
        app()
    finally:
        common.flush_output()
