"""What ten times as many rows, labels, features or prototypes cost.

    OMP_NUM_THREADS=1 python benchmarks/scaling.py

Linear work costs ten times as much; eleven is the limit. Epochs are fixed, so that the rule
that trains large tables for fewer of them does not flatter the figures.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from measure import Ratio, n_threads, ratio_of, run_suite, seconds_of, take_turns
from protolabel import PNMLClassifier
from synthetic_rows import tagged_rows


def measure(quick: bool) -> Iterator[Ratio]:
    torch.set_num_threads(n_threads())
    repeats = 1 if quick else 3
    fit_once(500, 200, 20)  # what a process does once is not counted
    n = 1000 if quick else 3000
    yield curve(
        "rows x 10, effort fast", repeats, partial(fit, n, 1000, 50), partial(fit, 10 * n, 1000, 50)
    )
    if not quick:
        yield curve(
            "rows x 10, default",
            1,
            partial(fit, n, 1000, 50, effort="balanced"),
            partial(fit, 10 * n, 1000, 50, effort="balanced"),
        )
    few, more, most = (partial(fit, 1000, 1000, k) for k in (100, 1000, 10_000))
    yield curve("labels x 10, 100 to 1,000", repeats, few, more)
    yield curve("labels x 10, 1,000 to 10,000", repeats, more, most)
    yield curve(
        "features x 10, 1,000 to 10,000 sparse",
        repeats,
        partial(fit, 2000, 1000, 50),
        partial(fit, 2000, 10_000, 50),
    )
    yield curve(
        "features x 10, 50 to 500 dense",
        repeats,
        partial(fit, 2000, 50, 20, is_sparse=False),
        partial(fit, 2000, 500, 20, is_sparse=False),
    )
    yield curve(
        "prototypes x 10, 2 to 20",
        repeats,
        partial(fit, 1000, 50, 20, is_sparse=False, max_prototypes=2),
        partial(fit, 1000, 50, 20, is_sparse=False, max_prototypes=20),
    )
    yield from predictions(repeats)


def curve(name: str, repeats: int, small: Any, large: Any) -> Ratio:
    """Time of a fit to the large table over that to the small one; making them is not timed."""
    times: dict[str, list[float]] = {"small": [], "large": []}
    for _ in range(repeats):
        times["small"].append(small())
        times["large"].append(large())
    return ratio_of(name, times["large"], times["small"], at_most=11)


def fit(n_rows: int, n_features: int, n_labels: int, **options: Any) -> float:
    """Seconds of a fit."""
    return fit_once(n_rows, n_features, n_labels, **options)[0]


def fit_once(
    n_rows: int,
    n_features: int,
    n_labels: int,
    *,
    is_sparse: bool = True,
    effort: str = "fast",
    max_prototypes: int | None = None,
) -> tuple[float, PNMLClassifier]:
    """Seconds of a fit, and the model."""
    X, Y = tagged_rows(n_rows, n_features, n_labels, is_sparse=is_sparse)
    options: dict[str, Any] = {}
    if max_prototypes is not None:
        # A threshold of zero: every component takes as many prototypes as it may.
        options = {
            "prototypes": "multiple",
            "max_prototypes": max_prototypes,
            "concentration": 1e9,
        }
    model = PNMLClassifier(effort=effort, max_epochs=3, random_state=0, **options)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return seconds_of(lambda: model.fit(X, Y)), model


def predictions(repeats: int) -> Iterator[Ratio]:
    """Time of the best five labels of a row among ten times as many labels."""
    rows, _ = tagged_rows(500, 1000, 10)
    models = {k: fit_once(1000, 1000, k)[1] for k in (1000, 10_000)}
    times = take_turns(
        {str(k): partial(model.predict_top_k, rows, 5) for k, model in models.items()},
        repeats=max(repeats, 3),
    )
    yield ratio_of(
        "predict_top_k, labels x 10, 1,000 to 10,000", times["10000"], times["1000"], at_most=11
    )
    dense = np.random.default_rng(0).normal(size=(20_000, 100))
    model = fit_once(1000, 100, 20, is_sparse=False)[1]
    times = take_turns(
        {
            "small": partial(model.predict_proba, dense[:2000]),
            "large": partial(model.predict_proba, dense),
        },
        repeats=max(repeats, 3),
    )
    yield ratio_of("predict_proba, rows x 10", times["large"], times["small"], at_most=11)


if __name__ == "__main__":
    run_suite(__doc__, measure)
