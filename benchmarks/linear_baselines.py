"""Time of one fit of MLTSVM and JFSC, as ratios to references measured in the same process.

Usage: ``python benchmarks/linear_baselines.py [dataset] [--json]``, with the data folder in
``PROTOLABEL_DATA``. The references are one-vs-rest linear support vector machines on the same
rows and, for MLTSVM, successive over-relaxation with the explicit dual matrix on a subset, to
the same duality gap. Processor time is compared. Exits with 1 if a fit leaves the duality gap
open or takes longer than its limit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from protolabel.baselines._twin_dual import TwinProblem, solution_of, solve_lbfgs
from protolabel.baselines._twin_gram import PositiveGram, with_constant
from protolabel.baselines.jfsc import JFSC
from protolabel.baselines.mltsvm import MLTSVM
from protolabel.datasets import load_dataset
from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

SUBSET_ROWS = 1000
GAP = 1e-4
LIMITS = {"mltsvm": 100.0, "jfsc": 10.0}  # times the one-vs-rest fit


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of an action, and what it returns."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def naive_sor(G: np.ndarray, H: np.ndarray, c: float, penalty: float) -> np.ndarray:
    """Solve the dual with its matrix formed; the gap is looked at every ten sweeps."""
    gram = PositiveGram(H, penalty)
    problem = TwinProblem(G, gram, c)
    Q = G @ np.linalg.inv(gram.dense()) @ G.T
    a = np.zeros(len(G))
    while solution_of(problem, a).gap > GAP:
        for _ in range(10):
            for i in range(len(a)):
                a[i] = min(max(a[i] - (Q[i] @ a - 1) / Q[i, i], 0.0), c)
    return a


def subset_times(X: Any, y: np.ndarray, c: float, penalty: float) -> tuple[float, float]:
    """Times of naive SOR and of the default solver for one label of a subset."""
    rows = with_constant(X[:SUBSET_ROWS])
    is_positive = y[:SUBSET_ROWS] > 0
    G, H = rows[~is_positive], rows[is_positive]
    naive, _ = seconds(lambda: naive_sor(G.toarray(), H.toarray(), c, penalty))
    ours, solution = seconds(
        lambda: solve_lbfgs(TwinProblem(G, PositiveGram(H, penalty), c), GAP, 300)
    )
    assert solution.gap <= GAP
    return naive, ours


def measure(name: str) -> dict[str, Any]:
    """Times on the training part of the first of five folds, and their ratios."""
    data = load_dataset(name)
    X, Y = sparse.csr_array(data.X), data.Y.toarray()
    train, _ = next(iter(MultilabelStratifiedKFold(5, random_state=0).split(X, Y)))
    X, Y = X[train], Y[train]
    scaled = FeatureScaler("text", row_norm=1.0).fit_transform(X)
    learned = np.flatnonzero((Y.sum(axis=0) > 0) & (Y.sum(axis=0) < len(Y)))
    reference = OneVsRestClassifier(LinearSVC())
    one_vs_rest, _ = seconds(lambda: reference.fit(scaled, Y[:, learned]))
    times, gaps = {}, {}
    for c, penalty in ((0.25, 1.0), (1.0, 1.0), (16.0, 2**-6)):
        setting = f"mltsvm c={c:g} lambda={penalty:g}"
        model = MLTSVM(c, norm_penalty=penalty)
        times[setting], _ = seconds(lambda model=model: model.fit(X, Y))  # type: ignore[misc]
        gaps[setting] = float(model.model_.duality_gaps.max())
    times["jfsc"], _ = seconds(lambda: JFSC().fit(X, Y))
    times["jfsc fisher=full"], _ = seconds(lambda: JFSC(fisher="full").fit(X, Y))
    naive, ours = subset_times(scaled, Y[:, learned[0]], 0.25, 1.0)
    return {
        "dataset": name,
        "n_samples": len(Y),
        "n_labels": len(learned),
        "one_vs_rest_seconds": one_vs_rest,
        "seconds": times,
        "times_one_vs_rest": {setting: value / one_vs_rest for setting, value in times.items()},
        "largest_gaps": gaps,
        "naive_sor_over_ours": naive / ours,
    }


def failures(result: dict[str, Any]) -> list[str]:
    """What is slower or less exact than it should be."""
    found = [
        f"{setting}: duality gap {gap:.1e}, expected at most {GAP:g}"
        for setting, gap in result["largest_gaps"].items()
        if gap > GAP
    ]
    for setting, ratio in result["times_one_vs_rest"].items():
        limit = LIMITS[setting.split()[0]]
        if ratio > limit:
            found.append(f"{setting}: {ratio:.1f} times one-vs-rest, expected at most {limit:g}")
    return found


def main() -> int:
    """Print the ratios; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="arts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    result = measure(arguments.dataset)
    if arguments.json:
        print(json.dumps(result))
    else:
        print(
            f"{result['dataset']}: {result['n_samples']} rows, {result['n_labels']} labels; "
            f"one-vs-rest LinearSVC {result['one_vs_rest_seconds']:.2f} s"
        )
        for setting, ratio in result["times_one_vs_rest"].items():
            print(f"  {setting:<28} {result['seconds'][setting]:6.2f} s {ratio:8.1f} times")
        print(
            f"  naive SOR over the default solver, one label, {SUBSET_ROWS} rows: "
            f"{result['naive_sor_over_ours']:.1f} times"
        )
    failed = failures(result)
    print("\n".join(failed), end="\n" if failed else "", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
