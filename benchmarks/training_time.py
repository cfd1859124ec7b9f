"""Training time of one fold in the paper configuration: PNML-single, PNML-multiple, their ratio.

The sampling rates are those of the paper's run-time table. Both modes run in one process on
the same fold; the paper's times, taken on a GPU, stand beside them.

    python benchmarks/training_time.py --datasets bibtex,corel5k
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import torch

from protolabel.datasets import MultiLabelDataset, load_dataset
from protolabel.experiments.published import load_runtime
from protolabel.methods import make_method
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="bibtex,corel5k")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--metric-penalty", type=float, default=1e-3, help="the preset has 5e-3")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    published = {runtime.dataset: runtime for runtime in load_runtime()}
    results = []
    for name in options.datasets.split(","):
        dataset = load_dataset(name)
        runtime = published[name]
        params = {
            "positive_rate": runtime.rate_positive,
            "negative_rate": runtime.rate_negative,
            "metric_penalty": options.metric_penalty,
        }
        single = train_one_fold(dataset, "pnml-single", options.epochs, params)
        multiple = train_one_fold(dataset, "pnml-multiple", options.epochs, params)
        result = {
            "dataset": name,
            "epochs": options.epochs,
            "threads": options.threads,
            **params,
            "single": single,
            "multiple": multiple,
            "multiple_over_single": multiple["seconds"] / single["seconds"],
            "paper_multiple_over_single": runtime.hours_multiple / runtime.hours_single,
            "paper_single_over_ours": 3600 * runtime.hours_single / single["seconds"],
            "paper_multiple_over_ours": 3600 * runtime.hours_multiple / multiple["seconds"],
            "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        results.append(result)
        print(
            f"{name}: single {single['seconds']:.0f} s, multiple {multiple['seconds']:.0f} s "
            f"for {options.epochs} epochs; multiple / single {result['multiple_over_single']:.2f} "
            f"(paper {result['paper_multiple_over_single']:.1f}); paper's GPU time / ours: single "
            f"{result['paper_single_over_ours']:.0f}, multiple "
            f"{result['paper_multiple_over_ours']:.0f}; peak {result['peak_memory_mb']:.0f} MB",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def train_one_fold(
    dataset: MultiLabelDataset, method: str, epochs: int, params: dict[str, float]
) -> dict[str, Any]:
    """Seconds of training on the first of five folds, and the scores on its test part."""
    splitter = MultilabelStratifiedKFold(5, shuffle=True, random_state=0)
    train, test = next(iter(splitter.split(dataset.X, dataset.Y)))
    model = make_method(method, random_state=0, max_epochs=epochs, **params)
    started = time.perf_counter()
    model.fit(dataset.X[train], dataset.Y[train])
    seconds = time.perf_counter() - started
    X_test = dataset.X[test]
    scores = evaluate(dataset.Y[test], model.predict(X_test), model.decision_function(X_test))
    return {"seconds": seconds, "mean_prototypes": float(model.n_prototypes_.mean()), **scores}


if __name__ == "__main__":
    main()
