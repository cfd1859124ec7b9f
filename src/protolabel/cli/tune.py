"""``protolabel tune``: the settings of a method that suit a user's data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from protolabel.cli import common, places


def tune(
    data: common.DataFile,
    labels: common.Labels = None,
    n_labels: common.NumberOfLabels = None,
    tags: common.Tags = None,
    tag_separator: common.TagSeparator = None,
    categorical: common.Categorical = None,
    drop: common.Drop = None,
    groups: common.Groups = None,
    method: Annotated[str, typer.Option(help="Name of the method.")] = "pnml",
    settings: common.Settings = None,
    effort: common.Effort = None,
    space: Annotated[
        list[str] | None,
        typer.Option(help="Values to search, as learning_rate=0.001,0.003; repeatable."),
    ] = None,
    search: Annotated[
        str,
        typer.Option(
            help="A number of trials; grid, a few points of the method's grid; or full-grid."
        ),
    ] = "grid",
    storage: Annotated[
        Path | None,
        typer.Option(help="Folder of what was found: the same command goes on from it."),
    ] = None,
    seed: common.Seed = 0,
    device: common.Device = "auto",
    jobs: common.Jobs = None,
    file_format: common.FileFormat = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = "utf-8",
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Search settings by three inner folds, and print the command that trains with them.

    Settings are compared by the sum of the five metrics, ranking loss counted against them. All
    rows of the file take part: measure the final model on other rows.

    Example: protolabel tune songs.csv --labels calm,happy,sad --search 20

    Example: protolabel tune yeast --method ml-knn --space n_neighbors=5,10,20
    """
    options = common.file_options(
        labels=labels,
        n_labels=n_labels,
        tags=tags,
        tag_separator=tag_separator,
        categorical=categorical,
        drop=drop,
        groups=groups,
        file_format=file_format,
        delimiter=delimiter,
        encoding=encoding,
    )
    from protolabel.workflows.file_options import format_of

    if storage is not None:
        places.check_growing_folder(storage)
    format_of(data, options)
    fixed = common.parse_settings(settings or [])
    if effort is not None:
        fixed["effort"] = effort
    values = _parse_space(space or [])
    from protolabel.workflows.labelled_data import read_labelled
    from protolabel.workflows.method_settings import build_method
    from protolabel.workflows.search import SearchPlan, search_settings, train_command

    with common.usage_errors():
        estimator = build_method(method, fixed, seed=seed, device=device)
        for name, choices in values.items():
            for choice in choices:
                build_method(method, fixed | {name: choice}, seed=seed)
        plan = SearchPlan(method, search, fixed, values, seed)
        plan.check()
    tell = common.messenger(quiet=quiet)
    common.limit_threads(jobs)
    with common.plain_warnings(tell):
        found = read_labelled(data, options)
        for note in found.notes:
            tell(f"Note: {note}")
        tell(f"{found.name}: searching settings of {method} ...")
        result = search_settings(estimator, found, plan, storage=storage)
    told = {
        "--labels": labels,
        "--n-labels": n_labels,
        "--tags": tags,
        "--tag-separator": tag_separator,
        "--categorical": categorical,
        "--drop": drop,
        "--groups": groups,
        "--method": method,
        "--seed": seed,
        "--device": None if device == "auto" else device,
        "--format": file_format,
        "--delimiter": delimiter,
        "--encoding": None if encoding == "utf-8" else encoding,
    }
    arguments = [data]
    for option, value in told.items():
        arguments += [] if value is None else [option, str(value)]
    command = train_command(arguments, fixed | result.settings)
    if as_json:
        answer = {
            "method": method,
            "settings": result.settings,
            "fixed": fixed,
            "value": result.value,
            "n_candidates": result.n_candidates,
            "n_combinations": result.n_combinations,
            "train_command": command,
        }
        common.print_json("tune", answer)
        return
    typer.echo(
        f"Best of {result.n_candidates} candidates ({result.n_combinations} combinations), "
        f"sum of metrics {result.value:.4f}:"
    )
    for name, value in result.settings.items():
        typer.echo(f"  {name} = {value}")
    typer.echo(command)


def _parse_space(texts: list[str]) -> dict[str, list[Any]]:
    """Turn ``name=value,value`` into values to search."""
    values: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, choices = text.partition("=")
        found = [common.parse_value(choice) for choice in common.split_names(choices)]
        if not (equals and name.strip() and found):
            raise typer.BadParameter(f"--space {text} was given; expected name=value,value.")
        values[name.strip()] = found
    return values
