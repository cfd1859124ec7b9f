"""``protolabel train``: from a file to a model folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from protolabel.cli import closing_report, common, places


def train(
    data: common.DataSource,
    model: Annotated[
        Path,
        typer.Option("--model", "-o", help="Folder to write the model to.", show_default=False),
    ],
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
    objective: Annotated[
        str | None,
        typer.Option(help="What decisions maximise: balanced, accuracy, micro_f1 or macro_f1."),
    ] = None,
    compact: Annotated[
        bool,
        typer.Option(
            "--compact",
            help="Keep one small network: fast predictions, no training rows; for pnml.",
        ),
    ] = False,
    test_size: Annotated[
        float | None,
        typer.Option(
            help="Share of the rows to measure with; the split of the data, or 0.2, by default.",
            show_default=False,
        ),
    ] = None,
    no_holdout: Annotated[
        bool, typer.Option("--no-holdout", help="Train on all rows and measure nothing.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Folder for the state of training: the same command goes on from it."),
    ] = None,
    seed: common.Seed = 0,
    device: common.Device = "auto",
    jobs: common.Jobs = None,
    file_format: common.FileFormat = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = "utf-8",
    report: closing_report.ReportFile = None,
    no_report: closing_report.NoReport = False,
    force: common.Force = False,
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Train a model, measure it on held-out rows and write it to a folder.

    Columns of numbers and of words may be mixed and have empty cells; what becomes of them is
    stored with the model. The model is the one that was measured; --no-holdout uses all rows.
    A page on the model and the held-out rows is written beside it, as MODEL.html.

    Example: protolabel train songs.csv --labels calm,happy,sad --model songs-model

    Example: protolabel train posts.csv --tags topics --effort best -o posts-model

    Example: protolabel train yeast -o yeast-model --set max_epochs=20 --checkpoint state
    """
    if no_holdout and test_size is not None:
        raise typer.BadParameter("--test-size and --no-holdout contradict each other; use one.")
    if test_size is not None and not 0 < test_size < 1:
        raise typer.BadParameter(f"--test-size is {test_size}; expected a share between 0 and 1.")
    if no_holdout and report is not None:
        raise typer.BadParameter("--report shows held-out rows; leave out --no-holdout.")
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
    from protolabel.workflows.columns_file import FOLDER_FILES
    from protolabel.workflows.file_options import format_of

    # What costs nothing to find out comes before the libraries that take seconds to load.
    places.check_new_folder(model, force=force, replaceable=FOLDER_FILES)
    beside = model.with_name(f"{model.resolve().name}.html")
    page_file = closing_report.check_report_file(
        beside,
        report,
        no_report=no_report or no_holdout,
        may_replace="any" if force else "no",
    )
    if checkpoint is not None:
        places.check_growing_folder(checkpoint)
    places.check_apart(
        {"--model": model, "--report": page_file, "--checkpoint": checkpoint}, shared="--checkpoint"
    )
    format_of(data, options)
    estimator = _estimator(
        method,
        settings,
        effort,
        objective,
        compact=compact,
        seed=seed,
        device=device,
        checkpoint=checkpoint,
    )
    from protolabel.cli.training_watch import checkpoint_as_option, forget_watchers, watcher
    from protolabel.workflows.labelled_data import read_labelled
    from protolabel.workflows.model_folder import save_trained
    from protolabel.workflows.training import train_model
    from protolabel.workflows.training_report import training_report

    tell = common.messenger(quiet=quiet)
    common.limit_threads(jobs)
    with common.plain_warnings(tell):
        found = read_labelled(data, options)
        for note in found.notes:
            tell(f"Note: {note}")
        tell(
            f"{found.name}: {common.counted(found.Y.shape[0], 'row')}, "
            f"{common.counted(len(found.label_names), 'label')}, "
            f"{found.Y.nnz / max(found.Y.shape[0], 1):.2f} a row."
        )
        with checkpoint_as_option():
            result = train_model(
                estimator,
                found,
                test_size=test_size,
                hold_out=not no_holdout,
                seed=seed,
                checkpoint=checkpoint,
                observe=None if quiet else watcher(method, checkpoint, tell),
            )
        forget_watchers(result.model)
        save_trained(result.model, result.inputs, model, metrics=result.metrics, force=force)
        if not as_json:
            _print_result(result, model)
        written = closing_report.write_closing_report(
            lambda: training_report(result, title=f"Model {model.resolve().name}", data=found.name),
            page_file,
        )
    if as_json:
        answer = {
            "model": str(model),
            "method": method,
            "label_names": found.label_names,
            "n_features": result.model.n_features_in_,
            "n_train": result.n_train,
            "n_test": result.n_test,
            "metrics": result.metrics,
            "seconds": round(result.seconds, 3),
            "notes": found.notes,
            "report": None if written.path is None else str(written.path),
        }
        common.print_json("train", answer, **written.as_json())
    else:
        if written.path is not None:
            tell(f"Report written to {written.path}")
        tell(f"Next: protolabel predict {shlex.quote(str(model))} NEW-FILE")
    written.end()


def _print_result(result: Any, model: Path) -> None:
    if result.metrics:
        common.print_metrics(
            f"Trained on {result.n_train} rows, measured on {result.n_test} others:",
            result.metrics,
        )
    typer.echo(f"Model written to {model}")


def _estimator(
    method: str,
    settings: list[str] | None,
    effort: str | None,
    objective: str | None,
    *,
    compact: bool,
    seed: int,
    device: str,
    checkpoint: Path | None,
) -> Any:
    """The method with its settings; what cannot be used is a mistake of the command line."""
    given = common.parse_settings(settings or [])
    if effort is not None:
        given["effort"] = effort
    if objective is not None:
        given["threshold_objective"] = objective
    if compact:
        given["compact"] = True
    from protolabel.classifier import PNMLClassifier
    from protolabel.workflows.method_settings import build_method

    with common.usage_errors():
        estimator = build_method(method, given, seed=seed, device=device)
    if checkpoint is not None and not isinstance(estimator, PNMLClassifier):
        raise typer.BadParameter(
            f"--checkpoint is for the methods named pnml..., {method} keeps no state; leave it out."
        )
    return estimator
