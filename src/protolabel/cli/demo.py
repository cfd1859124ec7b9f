"""``protolabel demo``: the paper's method on bundled data."""

from __future__ import annotations

import json
from typing import Annotated

import typer

NEXT_STEPS = """
What to try next:
  protolabel datasets list              what can be loaded by name
  protolabel datasets info yeast        the data behind this demo
  protolabel benchmark run --datasets yeast --output runs/yeast
                                        five folds, resumable
  python -c "import protolabel; help(protolabel.PNMLClassifier)"
"""


def demo(
    seed: Annotated[int, typer.Option(help="Seed of the split and of the training.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option(help="No progress and no hints.")] = False,
) -> None:
    """Train on the bundled yeast data and score a held-out fifth of it.

    Trains PNML-single and PNML-multiple as in the paper, and the recommended configuration.

    Example: protolabel demo --seed 1
    """
    from rich.console import Console

    from protolabel.datasets import load_dataset
    from protolabel.experiments.holdout import hold_out_scores
    from protolabel.experiments.tables import metric_table
    from protolabel.methods import find_method
    from protolabel.progress import ProgressBar

    messages = Console(stderr=True, quiet=quiet)
    dataset = load_dataset("yeast")
    summary = dataset.summary()
    messages.print(
        f"yeast: {summary.n_samples} genes, {summary.n_features} features, "
        f"{summary.n_labels} functional classes, {summary.cardinality:.2f} per gene."
    )
    results = {}
    for name in ("pnml-single", "pnml-multiple", "pnml"):
        title = find_method(name).title
        messages.print(f"Training {title} ...")
        callbacks = None if quiet else [ProgressBar(title, messages)]
        results[title] = hold_out_scores(dataset, name, seed=seed, callbacks=callbacks)
    if as_json:
        typer.echo(json.dumps({"schema": 1, "command": "demo", "result": results}))
        return
    Console().print(metric_table("yeast, held-out fifth", results))
    messages.print(NEXT_STEPS, highlight=False)
