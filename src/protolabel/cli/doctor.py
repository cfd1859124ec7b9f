"""``protolabel doctor`` and ``protolabel version``: what is installed, and whether it works."""

from __future__ import annotations

from dataclasses import asdict

import typer

from protolabel.cli import common
from protolabel.version import __version__


def doctor(as_json: common.AsJson = False) -> None:
    """Look at versions, threads, extras, data folder, cache and GPU; exit 1 if one is a problem.

    Example: protolabel doctor
    """
    from protolabel.workflows.environment import examine

    findings = examine()
    problems = [finding for finding in findings if finding.status == "problem"]
    if as_json:
        answer = {
            "healthy": not problems,
            "findings": [asdict(finding) for finding in findings],
        }
        common.print_json("doctor", answer)
    else:
        for finding in findings:
            typer.echo(f"{finding.status:<8} {finding.name:<15} {finding.detail}")
    if problems:
        typer.echo(f"{len(problems)} problem(s) found.", err=True)
        raise typer.Exit(common.EXIT_FAILED)


def version(as_json: common.AsJson = False) -> None:
    """Print the version.

    Example: protolabel version --json
    """
    if as_json:
        common.print_json("version", {"version": __version__})
    else:
        typer.echo(__version__)
