"""A unit and a record to take apart, and processes that start without loading torch again."""

import multiprocessing

import pytest

from experiments.small_run import make_unit
from protolabel.experiments.record import Record, Times


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


@pytest.fixture(scope="session")
def start_process():
    """Start a function of an importable module in a process of its own."""
    context = multiprocessing.get_context("forkserver")
    # The second one is what torch loads at its first optimiser step.
    context.set_forkserver_preload(["protolabel.experiments.runner", "torch._dynamo"])

    def start(target, *args):
        process = context.Process(target=target, args=args)
        process.start()
        return process

    return start
