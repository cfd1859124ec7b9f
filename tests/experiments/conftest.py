"""Two methods that train in a moment, a small dataset and a record to take apart."""

from dataclasses import replace

import pytest

from protolabel.experiments.record import Record, Times
from protolabel.experiments.unit import Unit, freeze_settings

SMALL = "synthetic-emotions:90"
QUICK = {"max_epochs": 1, "n_members": 1, "embedding_dim": 4}


def make_unit(fold=0, **changes):
    unit = Unit(SMALL, "pnml-single", "none", fold, 3, 0, settings=freeze_settings(QUICK))
    return replace(unit, **changes)


@pytest.fixture
def unit():
    return make_unit()


@pytest.fixture
def record():
    return Record(
        unit=make_unit(),
        status="ok",
        metrics={
            "accuracy": 0.5,
            "micro_f1": 0.6,
            "macro_f1": 0.4,
            "average_precision": 0.7,
            "ranking_loss": 0.2,
        },
        edge_cases=None,
        n_train=8,
        n_test=2,
        params={},
        search=None,
        configuration={"class": "Some", "params": {}},
        configuration_hash="ab",
        times=Times(0.0, 1.0, 0.1),
        peak_memory_mb=100.0,
        versions={"python": "3"},
    )
