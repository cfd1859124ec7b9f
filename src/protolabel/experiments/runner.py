"""Cross-validation of named methods: one unit after the other, each result stored at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from protolabel.datasets import MultiLabelDataset, load_dataset
from protolabel.experiments.record import Record, Unit, installed_versions
from protolabel.experiments.store import RecordStore
from protolabel.experiments.tuning import tuned_params
from protolabel.methods import find_method
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

Tuning = Literal["none", "grid"]
TUNINGS: tuple[Tuning, ...] = ("none", "grid")


def plan_units(
    datasets: Iterable[str],
    methods: Sequence[str],
    *,
    tuning: Tuning = "none",
    n_folds: int = 5,
    seed: int = 0,
) -> list[Unit]:
    """All units of a cross-validation; a method without a search space is never tuned."""
    if tuning not in TUNINGS:
        raise ValueError(f"tuning={tuning!r} is unknown; use one of {', '.join(TUNINGS)}.")
    return [
        Unit(dataset, method, tuning if find_method(method).space else "none", fold, n_folds, seed)
        for dataset in datasets
        for method in methods
        for fold in range(n_folds)
    ]


def run_missing(
    units: Sequence[Unit], store: RecordStore, on_done: Callable[[Record], None] | None = None
) -> None:
    """Compute the units that the store has no record of."""
    finished = {record.unit for record in store.read()}
    loaded: MultiLabelDataset | None = None
    for unit in units:
        if unit in finished:
            continue
        if loaded is None or loaded.name != unit.dataset:
            loaded = load_dataset(unit.dataset)
        record = run_unit(unit, loaded)
        store.append(record)
        if on_done is not None:
            on_done(record)


def run_unit(unit: Unit, dataset: MultiLabelDataset) -> Record:
    """Tune on the training part, fit, and score on the test part of one fold.

    The folds depend on the dataset, their number and the seed alone, so all methods share them.
    """
    splitter = MultilabelStratifiedKFold(unit.n_folds, shuffle=True, random_state=unit.seed)
    X, Y = dataset.X, dataset.Y
    train, test = list(splitter.split(X, Y))[unit.fold]
    method = find_method(unit.method)
    estimator = method.build(random_state=unit.seed)

    started = time.perf_counter()
    params: dict[str, Any] = {}
    if unit.tuning == "grid":
        params = tuned_params(method, estimator, X[train], Y[train], unit.seed)
        estimator.set_params(**params)
    tuned = time.perf_counter()
    estimator.fit(X[train], Y[train])
    fitted = time.perf_counter()
    scores = estimator.decision_function(X[test])
    metrics = evaluate(Y[test], estimator.predict(X[test]), scores)
    return Record(
        unit=unit,
        params=params,
        metrics=metrics,
        n_train=len(train),
        n_test=len(test),
        tuning_seconds=tuned - started,
        fit_seconds=fitted - tuned,
        predict_seconds=time.perf_counter() - fitted,
        versions=installed_versions(),
    )
