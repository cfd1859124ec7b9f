"""Training of the paper configuration: share of the machine's peak, and multiple over single.

The sampling rates are those of the paper's run-time table. An epoch is compared with the least
time that its matrix products and its passes over parameters can take, see ``needed_work``.
Multiple prototypes are measured at every step, as in the paper, and held for four steps, with
clusters held for four epochs; of these the mean of four epochs counts.

    python benchmarks/training.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

from measure import Ratio, ratio_of, run_suite, seconds_of
from protolabel.pnml.allocator import freed_memory_kept
from protolabel.pnml.trainer import Trainer
from roofline import find_peaks
from training_setup import first_fold, needed_work, paper_trainer, rates_of

_HELD_STEPS = 4


def measure(quick: bool) -> Iterator[Ratio]:
    with freed_memory_kept():  # As in Trainer.fit.
        yield from _measure_epochs(quick)


def _measure_epochs(quick: bool) -> Iterator[Ratio]:
    for name in ("bibtex",) if quick else ("bibtex", "corel5k"):
        X, Y = first_fold(name)
        single = paper_trainer(X, Y, "single", **rates_of(name))
        multiple = paper_trainer(X, Y, "multiple", **rates_of(name))
        flops, n_bytes = needed_work(single)
        held = paper_trainer(X, Y, "multiple", prototype_interval=_HELD_STEPS, **rates_of(name))
        for trainer in (single, multiple, held):
            trainer.run_epoch(0)
        least, times, slow, slow_held = [], [], [], []
        for epoch in range(1, 4 if quick else 6):
            before = find_peaks()
            times.append(seconds_of(partial(single.run_epoch, epoch)))
            after = find_peaks()
            slow.append(seconds_of(partial(multiple.run_epoch, epoch)))
            slow_held.append(seconds_of(partial(_run_interval, held, epoch)) / _HELD_STEPS)
            bounds = [peaks.seconds(flops, n_bytes) for peaks in (before, after)]
            least.append(sum(bounds) / 2)
        yield ratio_of(
            f"{name}, single: share of the peak",
            least,
            times,
            at_least=0.5,
            figures={"epoch s": median(times), "least s": median(least), "GF": flops / 1e9},
        )
        for what, seconds in (("", slow), (f", held for {_HELD_STEPS} steps", slow_held)):
            yield ratio_of(
                f"{name}: multiple{what} / single",
                seconds,
                times,
                at_most=1.5,
                figures={"multiple s": median(seconds), "single s": median(times)},
            )


def _run_interval(trainer: Trainer, number: int) -> None:
    first = number * _HELD_STEPS
    for epoch in range(first, first + _HELD_STEPS):
        trainer.run_epoch(epoch)


if __name__ == "__main__":
    run_suite(__doc__, measure)
