"""``protolabel evaluate``: what a model is worth on labelled rows."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from protolabel.cli import common

if TYPE_CHECKING:
    from protolabel.workflows.evaluation import Evaluation


def evaluate(
    model: common.ModelPlace,
    data: common.DataSource,
    labels: Annotated[
        str | None,
        common.names_option(
            "label", "The labels to measure, as a,b,c; a file with one name a line."
        ),
    ] = None,
    tags: common.TagsOfNewRows = None,
    tag_separator: common.TagSeparator = None,
    jobs: common.Jobs = None,
    file_format: common.FileFormat = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = "utf-8",
    quiet: common.Quiet = False,
    as_json: common.AsJson = False,
) -> None:
    """Measure a model on rows with labels: five metrics, and every label on its own.

    All labels of the model are measured unless --labels names some of them.

    Example: protolabel evaluate songs-model test.csv

    Example: protolabel evaluate songs-model test.csv --labels calm,happy --json
    """
    options = common.file_options(
        tags=tags,
        tag_separator=tag_separator,
        file_format=file_format,
        delimiter=delimiter,
        encoding=encoding,
    )
    wanted = common.label_list(labels, encoding)
    from protolabel.workflows.evaluation import evaluate_model
    from protolabel.workflows.model_folder import load_trained

    tell = common.messenger(quiet=quiet)
    common.limit_threads(jobs)
    with common.plain_warnings(tell):
        found = evaluate_model(load_trained(model), data, options, wanted)
    for note in found.notes:
        tell(f"Note: {note}")
    if as_json:
        answer = {
            "n_rows": found.n_rows,
            "metrics": found.metrics,
            "labels": [asdict(line) for line in found.labels],
            "notes": found.notes,
        }
        common.print_json("evaluate", answer)
        return
    n_rows, n_labels = found.n_rows, len(found.labels)
    title = f"{common.counted(n_rows, 'row')}, {common.counted(n_labels, 'label')}:"
    common.print_metrics(title, found.metrics)
    _print_labels(found)


def _print_labels(found: Evaluation) -> None:
    width = max(len("label"), *(len(line.label) for line in found.labels)) + 2
    header = f"{'label':<{width}}{'true':>7}{'given':>7}{'precision':>11}{'recall':>8}"
    typer.echo(f"{header}{'F1':>8}{'AUC':>8}")
    for line in found.labels:
        auc = "-" if math.isnan(line.auc) else f"{line.auc:.3f}"
        typer.echo(
            f"{line.label:<{width}}{line.n_true:>7}{line.n_predicted:>7}{line.precision:>11.3f}"
            f"{line.recall:>8.3f}{line.f1:>8.3f}{auc:>8}"
        )
