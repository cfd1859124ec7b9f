"""The report that ends a command: where it goes, and what becomes of a failure.

The results are saved before: a report that cannot be written ends the command with an error, and
costs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from protolabel.cli import common, places

ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="File to write the report to.", show_default=False),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.")]


@dataclass(frozen=True)
class ClosingReport:
    """What became of a report.

    Parameters
    ----------
    path : Path or None
        The file; None where none was written.
    problem : str or None, default=None
        Why it could not be written.
    """

    path: Path | None
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The problem, as a further part of the object that ``--json`` prints."""
        if self.problem is None:
            return {}
        return {"error": {"message": self.problem, "exit_code": common.EXIT_FAILED}}

    def end(self) -> None:
        """Show the problem, if there is one, and end with its exit code."""
        if self.problem is not None:
            typer.echo(f"Error: {self.problem}", err=True)
            raise typer.Exit(common.EXIT_FAILED)


def check_report_file(
    default: Path, given: Path | None, *, no_report: bool, may_replace: Literal["any", "own", "no"]
) -> Path | None:
    """Refuse, before any work, a file that the report cannot be written to.

    Parameters
    ----------
    default : Path
        File beside the results, for when none is named.
    given : Path or None
        File that was named.
    no_report : bool
        Whether there shall be none.
    may_replace : {"any", "own", "no"}
        Which existing file gives way: any, a page that protolabel wrote, or none.

    Returns
    -------
    Path or None
        File of the report.
    """
    if no_report:
        if given is not None:
            raise typer.BadParameter("--report and --no-report contradict each other; use one.")
        return None
    target = given or default
    if target.is_dir():
        raise typer.BadParameter(f"{target} is a folder; name a file with --report.")
    places.check_regular_file(target)
    if target.exists() and not (may_replace == "any" or (may_replace == "own" and _is_own(target))):
        remedy = "pass --force to replace it, " if may_replace == "no" else ""
        raise typer.BadParameter(
            f"{target} exists; {remedy}name another file with --report, or pass --no-report."
        )
    if given is not None and not given.absolute().parent.is_dir():
        raise typer.BadParameter(f"The folder {given.absolute().parent} does not exist; create it.")
    if target.absolute().parent.is_dir():
        places.check_can_be_made(target)
    return target


def write_closing_report(make_page: Callable[[], str], target: Path | None) -> ClosingReport:
    """Make and write the page; whatever fails becomes the problem of the report alone."""
    if target is None:
        return ClosingReport(None)
    from protolabel.report.writing import write_page

    try:
        write_page(make_page(), target, force=True)
    except Exception as error:
        if common.wants_traceback():
            raise
        reason = str(error) or type(error).__name__
        return ClosingReport(None, f"The report {target} could not be written: {reason}")
    return ClosingReport(target)


def _is_own(path: Path) -> bool:
    from protolabel.report.writing import is_own_page

    return is_own_page(path)
