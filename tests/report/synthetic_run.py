"""Records of a run that never took place: any size, any names."""

import numpy as np

from protolabel.experiments.published import published_table
from protolabel.experiments.record import Record, Search, Times
from protolabel.experiments.store import RecordStore
from protolabel.experiments.unit import Unit

METRICS = ("accuracy", "micro_f1", "macro_f1", "average_precision", "ranking_loss")
DATASETS = published_table("accuracy").datasets
METHODS = (
    "pnml",
    "pnml-single",
    "pnml-multiple",
    "br",
    "ml-knn",
    "mltsvm",
    "jfsc",
    "camel",
    "parabel",
    "random-forest",
)


def make_records(datasets=DATASETS, methods=METHODS, *, n_folds=5, tuned=("br", "camel"), seed=0):
    """Records with numbers that look like results."""
    rng = np.random.default_rng(seed)
    return [
        _record(rng, Unit(dataset, method, "grid" if method in tuned else "none", fold, n_folds, 0))
        for dataset in datasets
        for method in methods
        for fold in range(n_folds)
    ]


def failed(
    record, error='Traceback (most recent call last):\n  File "a.py"\nValueError: <no> & "x"'
):
    """The same unit, failed."""
    return Record(
        **{
            **vars(record),
            "status": "failed",
            "metrics": {},
            "error": error,
            "configuration": {},
            "configuration_hash": "",
        }
    )


def write_records(folder, records):
    """Put records into a folder as a run would."""
    store = RecordStore(folder)
    for record in records:
        store.append(record)
    return folder


def _record(rng, unit):
    level = 0.4 + 0.3 * rng.random()
    is_tuned = unit.tuning != "none"
    return Record(
        unit=unit,
        status="ok",
        metrics={name: float(np.clip(level + 0.05 * rng.normal(), 0, 1)) for name in METRICS},
        edge_cases=None,
        n_train=400,
        n_test=100,
        params={"penalty": float(rng.choice([0.01, 0.1, 1.0]))} if is_tuned else {},
        search=Search({"penalty": [0.01, 0.1, 1.0]}, 3, 1, 1.2) if is_tuned else None,
        configuration={
            "class": "package.Classifier",
            "params": {f"parameter_{number}": number for number in range(50)},
        },
        configuration_hash=f"{unit.method}{unit.fold if is_tuned else 0}",
        times=Times(
            float(10 * rng.random() * is_tuned), float(5 * rng.random()), 0.01 * float(rng.random())
        ),
        peak_memory_mb=float(300 + 100 * rng.random()),
        versions={"python": "3.11.7", "protolabel": "0.1.0", "torch": "2.13.0"},
    )
