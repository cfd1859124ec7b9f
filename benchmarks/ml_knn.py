"""How much faster ML-KNN is than that of scikit-multilearn, and what a grid of ten k costs.

Usage: ``python benchmarks/ml_knn.py [dataset ...] [--repeats 5] [--json]``, with the data folder
in ``PROTOLABEL_DATA`` and ``pip install 'protolabel[bench]'``. Fit and prediction count, four
fifths of the rows against the last fifth, the same scaled rows and k = 10 for both, one thread.
Times are processor times, which other programs disturb less than the wall clock: the median of
``repeats`` runs for us, one run for scikit-multilearn. The bound on the ratio is what remains if
all but the inner products of the rows were free; it lies below 100.
Exits with 1 below 5, which would be a step back.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from protolabel.baselines.ml_knn import MLkNN
from protolabel.datasets import load_dataset
from protolabel.preprocessing.features import FeatureScaler

DATASETS = ("enron", "arts")
REQUIRED_RATIO = 5.0
N_NEIGHBORS = 10
GRID = tuple(range(3, 22, 2))


def other_implementation() -> Any:
    """Return the class to compare with."""
    try:
        from skmultilearn.adapt import (  # noqa: PLC0415
            MLkNN as OtherMLkNN,
        )
    except ImportError as error:
        raise SystemExit(
            "scikit-multilearn-ng is missing; install it with: pip install 'protolabel[bench]'"
        ) from error
    return OtherMLkNN


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def compare(name: str, repeats: int) -> dict[str, Any]:
    """Times of both implementations and of the grid."""
    data = load_dataset(name)
    order = np.random.default_rng(0).permutation(data.X.shape[0])
    test, train = np.split(order, [len(order) // 5])
    scaler = FeatureScaler(row_norm=1.0).fit(data.X[train])
    X, X_new, Y = scaler.transform(data.X[train]), scaler.transform(data.X[test]), data.Y[train]
    ours = MLkNN(N_NEIGHBORS, feature_scaling="none")

    def run_grid(ks: tuple[int, ...]) -> None:
        for _ in ours.scores_for_grid(X, Y, X_new, ks):
            pass

    times: dict[str, list[float]] = {"ours": [], "largest": [], "grid": []}
    for _ in range(repeats):
        times["ours"].append(seconds(lambda: ours.fit(X, Y).predict(X_new)))
        times["largest"].append(seconds(lambda: run_grid(GRID[-1:])))
        times["grid"].append(seconds(lambda: run_grid(GRID)))
    medians = {key: statistics.median(values) for key, values in times.items()}
    other = other_implementation()(k=N_NEIGHBORS)
    rows, new_rows, labels = (
        getattr(matrix, "tolil", lambda matrix=matrix: matrix)() for matrix in (X, X_new, Y)
    )
    other_seconds = seconds(lambda: other.fit(rows, labels).predict(new_rows))
    size = X.shape[0], X.shape[1] + 1
    operand = np.ones(size, dtype=np.float32)
    queries = np.ones((size[0] + X_new.shape[0], size[1]), dtype=np.float32)
    product = statistics.median(seconds(lambda: queries @ operand.T) for _ in range(repeats))
    return {
        "dataset": name,
        "n_train": len(train),
        "n_test": len(test),
        "n_labels": Y.shape[1],
        "seconds": medians["ours"],
        "other_seconds": other_seconds,
        "ratio": other_seconds / medians["ours"],
        "product_seconds": product,
        "ratio_bound": other_seconds / product,
        "largest_k_seconds": medians["largest"],
        "grid_seconds": medians["grid"],
        "grid_ratio": medians["grid"] / medians["largest"],
    }


def main() -> int:
    """Print the comparison; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    arguments = parser.parse_args()
    other_implementation()
    too_slow = []
    for name in arguments.datasets:
        with threadpool_limits(1):
            found = compare(name, arguments.repeats)
        if arguments.json:
            print(json.dumps(found), flush=True)
        else:
            print(
                f"{name}: {found['seconds']:.3f} s, scikit-multilearn "
                f"{found['other_seconds']:.1f} s, ratio {found['ratio']:.0f} (at most "
                f"{found['ratio_bound']:.0f}: the products alone take "
                f"{found['product_seconds']:.3f} s); "
                f"k = {GRID[-1]} {found['largest_k_seconds']:.3f} s, all {len(GRID)} values of k "
                f"{found['grid_seconds']:.3f} s, ratio {found['grid_ratio']:.2f}",
                flush=True,
            )
        if found["ratio"] < REQUIRED_RATIO:
            too_slow.append(name)
    if too_slow:
        print(
            f"below the required ratio of {REQUIRED_RATIO:.0f}: {', '.join(too_slow)}",
            file=sys.stderr,
        )
    return 1 if too_slow else 0


if __name__ == "__main__":
    sys.exit(main())
