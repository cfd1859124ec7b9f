"""How much faster networks trained side by side are than one scikit-learn network per label.

Usage: ``python benchmarks/binary_relevance.py [--dataset bibtex] [--labels 3] [--epochs 3]
[--repeats 3] [--json]``, with the data folder in ``PROTOLABEL_DATA``. The batched method trains
all labels; scikit-learn's ``MLPClassifier`` trains an evenly spaced sample of them, and its time
is scaled up to all. Both have the same width, epochs, batch size and scaled input, run on one
thread and take turns ``repeats`` times; the medians of their processor time count, which other
programs disturb less than the wall clock. Exits with 1 below a ratio of 5.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from protolabel.baselines.binary_relevance import BinaryRelevanceMLP
from protolabel.datasets import load_dataset
from protolabel.pnml.settings import embedding_dim_of_paper
from protolabel.preprocessing.features import FeatureScaler

REQUIRED_RATIO = 5.0


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(name: str, n_sampled: int, epochs: int, repeats: int) -> dict[str, Any]:
    """Median times per epoch of all labels, batched and one by one."""
    data = load_dataset(name)
    X = FeatureScaler(row_norm=1.0).fit_transform(data.X)
    n_labels = data.Y.shape[1]
    sampled = np.linspace(0, n_labels - 1, n_sampled).astype(int)
    columns = data.Y[:, sampled].toarray().T
    width = embedding_dim_of_paper(X.shape[1])
    common: dict[str, Any] = {"max_iter": epochs, "n_iter_no_change": epochs, "random_state": 0}
    batched = BinaryRelevanceMLP(hidden_dim=width, feature_scaling="none", **common)

    def one_by_one(features: Any) -> None:
        for column in columns:
            MLPClassifier((width,), **common).fit(features, column)

    X32 = X.astype(np.float32)
    batched.fit(X, data.Y[:, sampled])  # what only the first fit of a process costs
    one_by_one(X32)
    times: dict[str, list[float]] = {"batched": [], "float64": [], "float32": []}
    for _ in range(repeats):
        times["batched"].append(seconds(lambda: batched.fit(X, data.Y)))
        times["float64"].append(seconds(lambda: one_by_one(X)) * n_labels / n_sampled)
        times["float32"].append(seconds(lambda: one_by_one(X32)) * n_labels / n_sampled)
    medians = {key: statistics.median(values) / epochs for key, values in times.items()}
    return {
        "dataset": name,
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "n_labels": n_labels,
        "width": width,
        "epochs": epochs,
        "sampled_labels": n_sampled,
        "batched_seconds_per_epoch": medians["batched"],
        "separate_seconds_per_epoch": medians["float64"],
        "separate_float32_seconds_per_epoch": medians["float32"],
        "ratio": medians["float64"] / medians["batched"],
        "ratio_to_float32": medians["float32"] / medians["batched"],
    }


def main() -> int:
    """Print the comparison; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="bibtex")
    parser.add_argument("--labels", type=int, default=3, help="labels that scikit-learn trains")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    torch.set_num_threads(1)
    with threadpool_limits(1):
        found = compare(arguments.dataset, arguments.labels, arguments.epochs, arguments.repeats)
    if arguments.json:
        print(json.dumps(found))
    else:
        print(
            f"{found['dataset']}: {found['n_samples']} rows, {found['n_features']} features, "
            f"{found['n_labels']} labels, {found['width']} hidden units"
        )
        print(f"  batched, all labels       {found['batched_seconds_per_epoch']:8.2f} s per epoch")
        for key, title in (("", "float64"), ("float32_", "float32")):
            print(
                f"  one by one, {title}       "
                f"{found[f'separate_{key}seconds_per_epoch']:8.2f} s per epoch "
                f"(scaled up from {found['sampled_labels']} labels)"
            )
        print(f"  ratio {found['ratio']:.1f}, to float32 {found['ratio_to_float32']:.1f}")
    if found["ratio"] < REQUIRED_RATIO:
        print(f"below the required ratio of {REQUIRED_RATIO}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
