"""Training of the paper configuration: share of the machine's peak, and multiple over single.

The sampling rates are those of the paper's run-time table. An epoch is compared with the least
time that its matrix products and its passes over parameters can take, see ``needed_work``.
Multiple prototypes are measured at every step, as in the paper, and held for four steps, with
clusters held for four epochs. A turn is four epochs of each; the turns are the 40 epochs of the
paper, in which clusters come and go.

    python benchmarks/training.py
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from measure import Ratio, ratio_of, run_suite, seconds_of
from protolabel.pnml.allocator import freed_memory_kept
from protolabel.pnml.trainer import Trainer
from roofline import find_peaks
from training_setup import first_fold, needed_work, paper_trainer, rates_of

_HELD = 4
_TURNS = 10


def measure(quick: bool) -> Iterator[Ratio]:
    with freed_memory_kept():  # As in Trainer.fit.
        for name in ("bibtex",) if quick else ("bibtex", "corel5k"):
            yield from _measure_training(name, 2 if quick else _TURNS)


def _measure_training(name: str, n_turns: int) -> Iterator[Ratio]:
    X, Y = first_fold(name)
    single = paper_trainer(X, Y, "single", **rates_of(name))
    multiple, held = (
        paper_trainer(X, Y, "multiple", prototype_interval=interval, **rates_of(name))
        for interval in (1, _HELD)
    )
    flops, n_bytes = needed_work(single)
    times: dict[Trainer, list[float]] = {single: [], multiple: [], held: []}
    least = []
    for turn in range(n_turns):
        before = find_peaks()
        for trainer, taken in times.items():
            taken.append(seconds_of(partial(_run_turn, trainer, turn)) / _HELD)
            if trainer is single:
                bounds = [peaks.seconds(flops, n_bytes) for peaks in (before, find_peaks())]
                least.append(sum(bounds) / 2)
    yield ratio_of(
        f"{name}, single: share of the peak",
        least,
        times[single],
        at_least=0.5,
        figures={"GF": flops / 1e9} | _totals({"least": least, "single": times[single]}),
    )
    for what, trainer in (("", multiple), (f", held for {_HELD} steps", held)):
        yield ratio_of(
            f"{name}: multiple{what} / single",
            times[trainer],
            times[single],
            at_most=1.5,
            figures=_totals({"multiple": times[trainer], "single": times[single]}),
        )


def _run_turn(trainer: Trainer, turn: int) -> None:
    for epoch in range(turn * _HELD, (turn + 1) * _HELD):
        trainer.run_epoch(epoch)


def _totals(epochs: dict[str, list[float]]) -> dict[str, float]:
    """Seconds of all epochs, from means of turns."""
    return {f"{what}, all epochs s": sum(seconds) * _HELD for what, seconds in epochs.items()}


if __name__ == "__main__":
    run_suite(__doc__, measure)
