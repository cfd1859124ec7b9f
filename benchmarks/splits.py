"""Quality and speed of our folds against the ``iterative-stratification`` package, in one run.

Usage: ``python benchmarks/splits.py [dataset ...]``, with the data folder in ``PROTOLABEL_DATA``.
Each line is the median over the seeds; ratios are theirs over ours, so above 1 is better for us.
Exits with 1 if a dataset is split less evenly or more slowly than by the oracle.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np
from iterstrat.ml_stratifiers import (  # type: ignore[import-untyped]
    MultilabelStratifiedKFold as OracleKFold,
)
from scipy import sparse

from protolabel.datasets import load_dataset
from protolabel.preprocessing.fold_quality import measure_folds
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

DATASETS = ("corel5k", "bibtex", "delicious")
N_FOLDS = 5
SEEDS = (0, 1, 2)


def folds_of(make_splitter: Callable[[int], Any], Y: Any, seed: int) -> tuple[np.ndarray, float]:
    """Return the fold of each row and the CPU seconds it took to find them."""
    folds = np.empty(Y.shape[0], dtype=int)
    started = time.process_time()
    for number, (_, test) in enumerate(make_splitter(seed).split(np.empty((Y.shape[0], 0)), Y)):
        folds[test] = number
    return folds, time.process_time() - started


def ours(seed: int) -> MultilabelStratifiedKFold:
    return MultilabelStratifiedKFold(N_FOLDS, random_state=seed)


def oracle(seed: int) -> Any:
    return OracleKFold(n_splits=N_FOLDS, shuffle=True, random_state=seed)


def median_of(make_splitter: Callable[[int], Any], Y: Any) -> np.ndarray:
    """Return median LD, ED, folds missing a label, missing pairs and seconds over the seeds."""
    results = []
    for seed in SEEDS:
        folds, seconds = folds_of(make_splitter, Y, seed)
        results.append([*astuple(measure_folds(Y, folds)), seconds])
    medians: np.ndarray = np.median(results, axis=0)
    return medians


def main(names: list[str]) -> int:
    """Compare on each dataset; return the exit code."""
    header = (
        f"{'dataset':<10} {'rows':>6} {'labels':>6} {'':>7} {'LD':>9} {'ED':>6} {'FLZ':>5} {'s':>7}"
    )
    print(header)
    failed = []
    for name in names or DATASETS:
        Y = load_dataset(name).Y
        mine, theirs = median_of(ours, Y), median_of(oracle, Y.toarray())
        for who, (ld, ed, _, missing, seconds) in (("ours", mine), ("oracle", theirs)):
            print(
                f"{name:<10} {Y.shape[0]:>6} {Y.shape[1]:>6} {who:>7} {ld:>9.2e} {ed:>6.2f} "
                f"{missing:>5.0f} {seconds:>7.2f}"
            )
        print(
            f"{name:<10} LD ratio {theirs[0] / mine[0]:.2f}, time ratio {theirs[4] / mine[4]:.1f}"
        )
        if mine[0] > theirs[0] or mine[1] > theirs[1] or mine[4] > theirs[4]:
            failed.append(name)
    large = sparse.random_array(
        (100_000, 200), density=0.03, random_state=np.random.default_rng(0), format="csr"
    )
    large.data[:] = 1
    _, seconds = folds_of(ours, large, 0)
    print(f"100000 rows x 200 labels, {large.nnz} positive cells: {seconds:.2f} s")
    if failed:
        print(f"worse than the oracle on: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
