"""``protolabel reproduce``: the tables and figures of the paper, computed anew."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from protolabel.cli import common, places
from protolabel.cli.benchmark import Jobs, RetryFailed, Scheduler, _engine, _parse_settings

if TYPE_CHECKING:
    from protolabel.experiments.studies import StudyResult

ALL = "all"


def reproduce(
    study: Annotated[
        str,
        typer.Argument(
            help="main, statistics, ablation, sampling, runtime, sensitivity, prototypes, "
            "correlation, ingredients, or all of them."
        ),
    ],
    output: Annotated[Path, typer.Option(help="Folder; each study has one of its name in it.")],
    datasets: Annotated[
        str | None,
        common.names_option(
            "dataset", "In place of the paper's, by commas; synthetic-<name>:<rows> as well."
        ),
    ] = None,
    methods: Annotated[
        str | None,
        common.names_option("method", "In place of the study's, separated by commas."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of a method, as pnml-single.batch_size=64."),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Training epochs of every form of PNML.")
    ] = None,
    tuning: Annotated[
        str | None, typer.Option(help="none, grid, full-grid or a number of trials.")
    ] = None,
    thresholds: Annotated[str | None, typer.Option(help="none or tuned.")] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Number of folds; 5 by default.", show_default=False)
    ] = None,
    first_folds: Annotated[
        int | None, typer.Option(min=1, help="Compute only the first so many of the folds.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Of folds and methods; 0 by default.",
            show_default=False,
            callback=common.check_seed,
        ),
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Run for `statistics` to look at; that of `main` by default."),
    ] = None,
    no_figures: Annotated[
        bool, typer.Option("--no-figures", help="Tables only; needs no matplotlib.")
    ] = False,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    retry_failed: RetryFailed = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Compute a table or figure of the paper anew, and set it beside the published values.

    Finished work is kept: the same command goes on after a stop, and in a finished folder
    `protolabel reproduce STUDY --output DIR` only draws again. Ends with code 5 if some units
    failed.

    Example: protolabel reproduce sensitivity --output results
    """
    from rich.console import Console

    from protolabel.experiments.live import LiveView
    from protolabel.experiments.studies import (
        STUDIES,
        Request,
        find_study,
        freeze_method_settings,
        run_study,
    )

    request = Request(
        datasets=None if datasets is None else common.split_names(datasets),
        methods=None if methods is None else common.split_names(methods),
        tuning=tuning,
        thresholds=thresholds,
        settings=freeze_method_settings(_parse_settings(settings or [])),
        epochs=epochs,
        n_folds=folds,
        seed=seed,
        first_folds=first_folds,
        records=None if records is None else records.as_posix(),
    )
    is_all = study == ALL
    with common.usage_errors():
        chosen = list(STUDIES.values()) if is_all else [find_study(study)]
    if records is not None and study not in {ALL, "statistics"}:
        raise typer.BadParameter(f"--records is for statistics; {study} makes its own records.")
    places.check_growing_folder(output)
    engine, n_workers = _engine(jobs, scheduler)
    results = []
    for one in chosen:
        with LiveView(Console(stderr=True, quiet=quiet), n_workers) as view:
            result = run_study(
                one,
                output,
                one.relevant_part(request) if is_all else request,
                engine=engine,
                observer=view,
                retry_failed=retry_failed,
                figures=not no_figures,
                tell=None if quiet else partial(typer.echo, err=True),
            )
        results.append(result)
        if not as_json:
            _print_result(result)
    if as_json:
        found = [result.to_json() for result in results]
        common.print_json(f"reproduce {study}", found if is_all else found[0])
    if any(result.n_failed for result in results):
        raise typer.Exit(common.EXIT_SOME_FAILED)


def _print_result(result: StudyResult) -> None:
    for path in result.files:
        typer.echo(str(path))
    if result.n_failed:
        typer.echo(
            f"{result.n_failed} units of {result.study} failed and are in no table; see "
            "`protolabel benchmark status` of its run folder, and --retry-failed.",
            err=True,
        )
