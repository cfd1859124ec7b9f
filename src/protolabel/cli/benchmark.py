"""``protolabel benchmark``: cross-validation of named methods, resumable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Cross-validate methods and compare them.", no_args_is_help=True)


@app.command()
def run(
    datasets: Annotated[str, typer.Option(help="Dataset names, separated by commas.")],
    output: Annotated[Path, typer.Option(help="Folder of the records; finished work is kept.")],
    methods: Annotated[
        str, typer.Option(help="Method names, separated by commas.")
    ] = "pnml-single,pnml-multiple,pnml",
    tuning: Annotated[
        str,
        typer.Option(help="none, or grid: ends and middle of the paper's grids, by inner folds."),
    ] = "none",
    folds: Annotated[int, typer.Option(help="Number of folds.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of the methods.")] = 0,
    quiet: Annotated[bool, typer.Option(help="No progress.")] = False,
) -> None:
    """Run every fold that has no record yet, and print the table.

    Example: protolabel benchmark run --datasets emotions,yeast --output runs/small
    """
    from protolabel.experiments.folder import RunFolder
    from protolabel.experiments.protocol import Protocol, plan_arms
    from protolabel.experiments.runner import run_missing

    arms = plan_arms(methods.split(","), tuning=tuning)
    protocol = Protocol(tuple(datasets.split(",")), arms, n_folds=folds, seed=seed)
    folder = RunFolder(output)
    folder.add(protocol)
    run_missing(folder)
    table(output)


@app.command()
def table(
    folder: Annotated[Path, typer.Argument(help="Folder that `benchmark run` wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print the mean over the folds beside the published values.

    Example: protolabel benchmark table runs/small
    """
    from rich.console import Console

    from protolabel.experiments.store import RecordStore
    from protolabel.experiments.tables import comparison_table, fold_means

    records = RecordStore(folder).read()
    if not records:
        raise ValueError(f"{folder} holds no records; write some with `protolabel benchmark run`.")
    if as_json:
        rows = [
            {"dataset": dataset, **arm.to_json(), **means}
            for (dataset, arm), means in fold_means(records).items()
        ]
        typer.echo(json.dumps({"schema": 1, "command": "benchmark table", "result": rows}))
        return
    Console().print(comparison_table(records))
