"""Small requests, and records made up from published values, for the tests of studies."""

from protolabel.experiments.published import load_published
from protolabel.experiments.record import Record, Times
from protolabel.experiments.studies import Request, find_study, freeze_method_settings, run_study
from protolabel.experiments.unit import Arm, Unit
from protolabel.methods import METHODS

SMALL = "synthetic-emotions:90"
NAMES = {method.published_title: name for name, method in reversed(METHODS.items())}
PAPER_METRICS = ("accuracy", "micro_f1", "macro_f1", "average_precision", "ranking_loss")


def quick_request(*methods, **changes):
    settings = freeze_method_settings({method: {"embedding_dim": 4} for method in methods})
    return Request(**({"datasets": (SMALL,), "epochs": 1, "settings": settings} | changes))


def quick_folds(*methods, **changes):
    return quick_request(*methods, **({"n_folds": 2} | changes))


def run_quick(name, output, request, **options):
    return run_study(find_study(name), output, request, **options)


def make_record(dataset, method, metrics, *, fold=0, n_folds=1, arm=None, times=None):
    arm = arm or Arm(method)
    return Record(
        unit=Unit.of(dataset, arm, fold=fold, n_folds=n_folds, seed=0),
        status="ok",
        metrics=metrics,
        edge_cases=None,
        n_train=8,
        n_test=2,
        params={},
        search=None,
        configuration={"class": "Some", "params": {}},
        configuration_hash="ab",
        times=times or Times(),
        peak_memory_mb=1.0,
        versions={"python": "3"},
    )


def published_records(table="main"):
    """One record for each method and dataset of a table, with the printed values."""
    values = {}
    for entry in load_published():
        if entry.table == table:
            key = (entry.dataset, NAMES[entry.method])
            values.setdefault(key, {})[entry.metric] = entry.value
    blank = dict.fromkeys(PAPER_METRICS, 0.0)  # of Parabel, which is never looked at
    return [
        make_record(dataset, method, blank | metrics)
        for (dataset, method), metrics in values.items()
    ]
