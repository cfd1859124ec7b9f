"""``protolabel demo``: the paper's method on bundled data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from protolabel.cli import closing_report, common

NEXT_STEPS = """
What to try next:
  protolabel datasets list              what can be loaded by name
  protolabel datasets info yeast        the data behind this demo
  protolabel benchmark run --datasets yeast --output runs/yeast
                                        five folds, resumable
  python -c "import protolabel; help(protolabel.PNMLClassifier)"
"""


def demo(
    seed: common.Seed = 0,
    report: closing_report.ReportFile = None,
    no_report: closing_report.NoReport = False,
    as_json: common.AsJson = False,
    quiet: Annotated[bool, typer.Option(help="No progress and no hints.")] = False,
) -> None:
    """Train on the bundled yeast data and score a held-out fifth of it.

    Trains PNML-single and PNML-multiple as in the paper, and the recommended configuration, and
    writes a page on them to protolabel-demo.html.

    Example: protolabel demo --seed 1
    """
    page_file = closing_report.check_report_file(
        Path("protolabel-demo.html"), report, no_report=no_report, may_replace="own"
    )
    from rich.console import Console

    from protolabel.datasets import load_dataset
    from protolabel.experiments.tables import metric_table
    from protolabel.progress import ProgressBar
    from protolabel.workflows.demonstration import demonstrate

    messages = Console(stderr=True, quiet=quiet)

    def watch(title: str) -> Sequence[Any] | None:
        messages.print(f"Training {title} ...")
        return None if quiet else [ProgressBar(title, messages)]

    dataset = load_dataset("yeast")
    summary = dataset.summary()
    messages.print(
        f"yeast: {summary.n_samples} genes, {summary.n_features} features, "
        f"{summary.n_labels} functional classes, {summary.cardinality:.2f} per gene."
    )
    done = demonstrate(
        dataset, ("pnml-single", "pnml-multiple", "pnml"), seed=seed, callbacks=watch
    )
    if not as_json:
        Console().print(metric_table("yeast, held-out fifth", done.results))
    written = closing_report.write_closing_report(
        lambda: done.page("Demo: yeast", "yeast that were held out"), page_file
    )
    if as_json:
        place = None if written.path is None else str(written.path)
        common.print_json("demo", done.results, report=place, **written.as_json())
    else:
        if written.path is not None:
            messages.print(f"Report written to {written.path}", markup=False, highlight=False)
        messages.print(NEXT_STEPS, highlight=False)
    written.end()
