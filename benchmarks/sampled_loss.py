"""What a loss over some of the labels costs in accuracy, where all of them can still be computed.

    OMP_NUM_THREADS=1 python benchmarks/sampled_loss.py

Beyond 2,048 labels a training step computes the labels of its batch and 512 of the others. Here
the same is done with fewer, on datasets small enough to train with all labels as well. One fold
of five, and batches of 32 rows so that most labels are absent from a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import torch

from measure import Ratio, n_threads, ratio_of, run_suite, seconds_of
from protolabel import PNMLClassifier
from protolabel.datasets import load_dataset
from protolabel.metrics import evaluate
from protolabel.pnml import trainer
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

_N_ABSENT = (64, 16)
_SHOWN = ("average_precision", "micro_f1", "macro_f1", "ranking_loss")


def measure(quick: bool) -> Iterator[Ratio]:
    torch.set_num_threads(n_threads())
    for name in ("corel5k",) if quick else ("corel5k", "bibtex"):
        of_all, metrics_of_all = fit_first_fold(name)
        for n_absent in _N_ABSENT:
            with (
                patch.object(trainer, "MAX_LABELS_OF_A_STEP", 0),
                patch.object(trainer, "N_ABSENT_LABELS", n_absent),
            ):
                of_some, metrics = fit_first_fold(name)
            yield ratio_of(
                f"{name}: {n_absent} absent labels over all, time of a fit",
                [of_some],
                [of_all],
                figures=metrics | {f"all: {key}": value for key, value in metrics_of_all.items()},
            )


def fit_first_fold(name: str) -> tuple[float, dict[str, float]]:
    """Seconds of a fit, and what it reaches on the rows held out."""
    data = load_dataset(name)
    splitter = MultilabelStratifiedKFold(5, shuffle=True, random_state=1)
    train, test = next(iter(splitter.split(data.X, data.Y)))
    model = PNMLClassifier(effort="fast", batch_size=32, max_epochs=6, random_state=0)
    seconds = seconds_of(lambda: model.fit(data.X[train], data.Y[train]))
    X = data.X[test]
    found = evaluate(data.Y[test], model.predict(X), model.decision_function(X))
    return seconds, {metric: float(found[metric]) for metric in _SHOWN}


if __name__ == "__main__":
    run_suite(__doc__, measure)
