"""``protolabel benchmark``: cross-validation of named methods that can be stopped at any time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from protolabel.cli import closing_report, common, places

if TYPE_CHECKING:
    from protolabel.experiments.engines.work import Engine
    from protolabel.experiments.folder import RunFolder
    from protolabel.experiments.record import Record

app = typer.Typer(help="Cross-validate methods and compare them.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(help="Folder that `benchmark run` wrote.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Worker processes, one thread each; one per core by default.",
        show_default=False,
        envvar="PROTOLABEL_JOBS",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of a dask scheduler, as tcp://host:8786, in place of --jobs."),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Compute units anew that failed before.")
]


@app.command()
def run(
    datasets: Annotated[
        str,
        typer.Option(
            help="Names, separated by commas; synthetic-<name>:<rows> for made-up data of its kind."
        ),
    ],
    output: Annotated[Path, typer.Option(help="Folder of the run; finished work is kept.")],
    methods: Annotated[
        str, typer.Option(help="Method names, separated by commas.")
    ] = "pnml-single,pnml-multiple,pnml",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of a method, as pnml.max_epochs=5; repeatable."),
    ] = None,
    tuning: Annotated[
        str,
        typer.Option(help="none; grid, reduced; full-grid, the paper's; or a number of trials."),
    ] = "none",
    thresholds: Annotated[
        str, typer.Option(help="none: as the method decides; tuned: by inner cross-validation.")
    ] = "none",
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    seed: Annotated[
        int,
        typer.Option(help="Seed of the folds and of the methods.", callback=common.check_seed),
    ] = 0,
    metrics: Annotated[
        str | None,
        common.names_option("metric", "Metrics beside the five of the paper, by commas."),
    ] = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    retry_failed: RetryFailed = False,
    report: closing_report.ReportFile = None,
    no_report: closing_report.NoReport = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Compute every unit that has no record yet, and print the table.

    The same folder can be given again with more datasets or methods: only what is new is
    computed. Ends with code 5 if some units failed. A page with all results is written to
    report.html in the folder, and anew each time.

    Example: protolabel benchmark run --datasets emotions,yeast --output runs/small
    """
    from protolabel.experiments.compute import PAPER_METRICS
    from protolabel.experiments.folder import RunFolder
    from protolabel.experiments.protocol import Protocol, plan_arms

    names = common.split_names(methods)
    further = [name for name in common.split_names(metrics or "") if name not in PAPER_METRICS]
    with common.usage_errors():
        arms = plan_arms(
            names, tuning=tuning, thresholds=thresholds, settings=_parse_settings(settings or [])
        )
        protocol = Protocol(
            datasets=tuple(common.split_names(datasets)),
            arms=arms,
            n_folds=folds,
            seed=seed,
            metrics=(*PAPER_METRICS, *further),
        )
    folder = RunFolder(output)
    with places.refused_places():
        folder.check_place()
    page_file = _page_file(folder, report, no_report=no_report)
    folder.add(protocol)
    _run(
        folder,
        "benchmark run",
        jobs=jobs,
        scheduler=scheduler,
        retry_failed=retry_failed,
        page_file=page_file,
        quiet=quiet,
        as_json=as_json,
    )


@app.command()
def resume(
    folder: Folder,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    retry_failed: RetryFailed = False,
    report: closing_report.ReportFile = None,
    no_report: closing_report.NoReport = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Go on with a run that was stopped.

    Example: protolabel benchmark resume runs/small --jobs 2
    """
    found = _existing_run(folder)
    page_file = _page_file(found, report, no_report=no_report)
    _run(
        found,
        "benchmark resume",
        jobs=jobs,
        scheduler=scheduler,
        retry_failed=retry_failed,
        page_file=page_file,
        quiet=quiet,
        as_json=as_json,
    )


@app.command()
def status(folder: Folder, as_json: common.AsJson = False) -> None:
    """Print how far a run is and what failed, also while it goes on.

    Example: protolabel benchmark status runs/small
    """
    from protolabel.cli.benchmark_text import print_status
    from protolabel.experiments.status import run_status

    found = run_status(_existing_run(folder))
    if as_json:
        common.print_json("benchmark status", found.to_json())
    else:
        print_status(found)


@app.command()
def table(
    folder: Folder,
    spread: Annotated[
        bool, typer.Option("--spread", help="Show standard deviations between the folds.")
    ] = False,
    as_json: common.AsJson = False,
) -> None:
    """Print the mean over the folds beside the published values.

    Example: protolabel benchmark table runs/small --spread
    """
    from protolabel.cli.benchmark_text import print_table

    records = _records(folder)
    if as_json:
        common.print_json("benchmark table", _table_rows(records))
    else:
        print_table(records, with_spread=spread)


@app.command()
def compare(
    folder: Folder,
    other: Annotated[
        Path | None, typer.Argument(help="Another run, to compare cell by cell.")
    ] = None,
    as_json: common.AsJson = False,
) -> None:
    """Rank the methods of a run over its datasets, or compare two runs cell by cell.

    Example: protolabel benchmark compare runs/small runs/after-the-change
    """
    from protolabel.cli.benchmark_text import print_differences, print_rankings, ranking_to_json
    from protolabel.experiments.comparison import differences, rank_arms
    from protolabel.experiments.tables import METRIC_TITLES

    records = _records(folder)
    if other is None:
        rankings = [rank_arms(records, metric) for metric in METRIC_TITLES]
        if as_json:
            common.print_json(
                "benchmark compare", [ranking_to_json(ranking) for ranking in rankings]
            )
        else:
            print_rankings(rankings)
        return
    found = differences(records, _records(other))
    if not found:
        raise ValueError(f"{folder} and {other} have no unit in common.")
    if as_json:
        common.print_json("benchmark compare", [difference.to_json() for difference in found])
    else:
        print_differences(found)


def _run(
    folder: RunFolder,
    command: str,
    *,
    jobs: int | None,
    scheduler: str | None,
    retry_failed: bool,
    page_file: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Compute what is missing, print the table, write the page, end with the fitting code."""
    from rich.console import Console

    from protolabel.cli.benchmark_text import print_table
    from protolabel.experiments.live import LiveView
    from protolabel.experiments.runner import run_missing

    engine, n_workers = _engine(jobs, scheduler)
    with LiveView(Console(stderr=True, quiet=quiet), n_workers) as view:
        records = run_missing(folder, engine=engine, retry_failed=retry_failed, observer=view)
    failed = [record for record in records if not record.is_ok]
    if not as_json:
        print_table(records)
    written = closing_report.write_closing_report(lambda: _page(folder), page_file)
    if as_json:
        result = {
            "n_done": len(records) - len(failed),
            "n_failed": len(failed),
            "table": _table_rows(records),
            "report": None if written.path is None else str(written.path),
        }
        common.print_json(command, result, **written.as_json())
    elif written.path is not None and not quiet:
        typer.echo(f"Report written to {written.path}", err=True)
    if failed:
        typer.echo(
            f"{len(failed)} of {len(records)} units failed; see `protolabel benchmark status "
            f"{folder.path}`, and --retry-failed to compute them anew.",
            err=True,
        )
        if written.problem is None:
            raise typer.Exit(common.EXIT_SOME_FAILED)
    written.end()


def _page_file(folder: RunFolder, given: Path | None, *, no_report: bool) -> Path | None:
    """File of the page: report.html of the run by default."""
    return closing_report.check_report_file(
        folder.path / "report.html", given, no_report=no_report, may_replace="own"
    )


def _page(folder: RunFolder) -> str:
    from protolabel.report.run_report import run_report

    return run_report(folder.path)


def _engine(jobs: int | None, scheduler: str | None) -> tuple[Engine, int | None]:
    """The engine asked for and the number of units it computes at a time, if known."""
    if scheduler is not None:
        if jobs is not None:
            raise typer.BadParameter(
                "--jobs is for this machine and --scheduler for a cluster; use one."
            )
        from protolabel.experiments.engines.cluster import ClusterEngine

        return ClusterEngine(scheduler), None
    import joblib

    n_jobs = jobs or joblib.cpu_count()
    if n_jobs == 1:
        from protolabel.experiments.engines.sequential import SequentialEngine

        return SequentialEngine(), 1
    from protolabel.experiments.engines.processes import ProcessEngine

    return ProcessEngine(n_jobs), n_jobs


def _existing_run(path: Path) -> RunFolder:
    from protolabel.experiments.folder import RunFolder

    folder = RunFolder(path)
    if not folder.protocols():
        raise typer.BadParameter(f"{path} holds no run; start one with `protolabel benchmark run`.")
    return folder


def _records(path: Path) -> list[Record]:
    from protolabel.experiments.store import RecordStore

    records = RecordStore(path).read()
    if not any(record.is_ok for record in records):
        raise typer.BadParameter(
            f"{path} holds no records; write some with `protolabel benchmark run`."
        )
    return records


def _table_rows(records: Sequence[Record]) -> list[dict[str, Any]]:
    from protolabel.experiments.tables import fold_means, fold_spreads, records_by_arm

    groups, spreads = records_by_arm(records), fold_spreads(records)
    return [
        {
            "dataset": dataset,
            **arm.to_json(),
            "n_records": len(groups[dataset, arm]),
            **means,
            "standard_deviations": spreads[dataset, arm],
        }
        for (dataset, arm), means in fold_means(records).items()
    ]


def _parse_settings(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Turn ``method.parameter=value`` into settings; a value that is no JSON is a string."""
    settings: dict[str, dict[str, Any]] = {}
    for text in texts:
        target, equals, value = text.partition("=")
        method, dot, parameter = target.partition(".")
        if not (equals and dot and method and parameter):
            raise ValueError(f"--set {text} was given; expected method.parameter=value.")
        settings.setdefault(method, {})[parameter] = common.parse_value(value)
    return settings
