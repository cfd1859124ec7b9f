"""Compute one unit: tune on the training part, fit, score on the test part."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protolabel.experiments.configuration import (
    build_estimator,
    describe_estimator,
    plain_json,
    with_thresholds,
)
from protolabel.experiments.data import dataset_of, folds_of
from protolabel.experiments.record import Record, Search, Times, installed_versions
from protolabel.experiments.resources import (
    Stopwatch,
    one_thread,
    peak_memory_mb,
    reset_peak_memory,
    warm_up,
)
from protolabel.experiments.tuning import tune_settings
from protolabel.experiments.unit import Unit, digest
from protolabel.metrics import (
    METRICS,
    EdgeCases,
    count_edge_cases,
    evaluate,
    evaluate_by_name,
    label_scores,
)

PAPER_METRICS = tuple(METRICS)[:5]
# Where a package was installed says nothing about the failure, and differs between machines.
_INSTALLED_AT = re.compile(r'File "[^"]*?/(?=(?:[^"/]+/)*?(?:protolabel|site-packages)/)')


@dataclass
class _Progress:
    """What is known of a unit so far, so that a failed one keeps it."""

    times: dict[str, float] = field(default_factory=dict)
    n_train: int = 0
    n_test: int = 0
    params: dict[str, Any] = field(default_factory=dict)
    search: Search | None = None
    configuration: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    edge_cases: EdgeCases | None = None


def compute_unit(
    unit: Unit, *, metrics: Sequence[str] = PAPER_METRICS, studies: Path | None = None
) -> Record:
    """Compute a unit on one thread; a failure becomes a record of it.

    Parameters
    ----------
    unit : Unit
        What to compute.
    metrics : sequence of str, default=the five of the paper
        Names from :data:`protolabel.metrics.METRICS`.
    studies : Path, default=None
        Folder that tuning keeps what it knows in, to go on with it after a restart.

    Returns
    -------
    Record
        The result, or the traceback.

    Examples
    --------
    >>> from protolabel.experiments.unit import freeze_settings
    >>> settings = freeze_settings({"max_epochs": 1, "n_members": 1})
    >>> unit = Unit("synthetic-emotions:60", "pnml", "none", 0, 2, 0, settings=settings)
    >>> compute_unit(unit).status
    'ok'
    """
    progress = _Progress()
    error = None
    warm_up()
    reset_peak_memory()
    with one_thread():
        try:
            _compute(unit, progress, metrics, studies)
        except Exception:
            error = short_traceback()
    return Record(
        unit=unit,
        status="ok" if error is None else "failed",
        metrics=progress.metrics if error is None else {},
        edge_cases=progress.edge_cases if error is None else None,
        n_train=progress.n_train,
        n_test=progress.n_test,
        params=plain_json(progress.params),
        search=progress.search,
        configuration=progress.configuration,
        configuration_hash=digest(progress.configuration) if progress.configuration else "",
        times=Times(**progress.times),
        peak_memory_mb=peak_memory_mb(),
        versions=installed_versions(),
        error=error,
    )


def failed_record(unit: Unit, error: str) -> Record:
    """The record of a unit whose process could not report itself."""
    return Record(
        unit=unit,
        status="failed",
        metrics={},
        edge_cases=None,
        n_train=0,
        n_test=0,
        params={},
        search=None,
        configuration={},
        configuration_hash="",
        times=Times(),
        peak_memory_mb=0.0,
        versions=installed_versions(),
        error=error,
    )


def short_traceback() -> str:
    """The present traceback, with files named from their package on."""
    return _INSTALLED_AT.sub('File "', traceback.format_exc())


def _compute(unit: Unit, progress: _Progress, metrics: Sequence[str], studies: Path | None) -> None:
    dataset = dataset_of(unit.dataset)
    train, test = folds_of(unit.dataset, unit.n_folds, unit.seed)[unit.fold]
    progress.n_train, progress.n_test = len(train), len(test)
    X_train, Y_train = dataset.X[train], dataset.Y[train]
    X_test, Y_test = dataset.X[test], dataset.Y[test]
    watch = Stopwatch()

    def stop(stage: str) -> None:
        progress.times[stage], progress.times[f"{stage}_cpu"] = watch.lap()

    estimator = build_estimator(unit.arm, unit.seed)
    if unit.tuning != "none":
        progress.params, progress.search = tune_settings(
            unit, estimator, X_train, Y_train, studies=studies
        )
        estimator.set_params(**progress.params)
    if unit.thresholds == "tuned":
        estimator = with_thresholds(estimator, unit.seed)
    progress.configuration = describe_estimator(estimator)
    stop("tuning")
    estimator.fit(X_train, Y_train)
    stop("fit")
    scores = label_scores(estimator, X_test, n_labels=Y_test.shape[1])
    predicted = estimator.predict(X_test)
    stop("predict")
    further = [name for name in metrics if name not in PAPER_METRICS]
    progress.metrics = evaluate(Y_test, predicted, scores) | evaluate_by_name(
        Y_test, predicted, scores, names=further
    )
    progress.edge_cases = count_edge_cases(Y_test, predicted)
