"""Rows predicted per second beside scikit-learn's MLPClassifier, and the time of a single row.

    OMP_NUM_THREADS=1 python benchmarks/prediction.py

Both have 128 hidden units and are fitted on the same rows; how well they are trained does not
change how fast they predict, so they are trained for two epochs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import scipy.sparse as sp
import torch
from sklearn.neural_network import MLPClassifier

from measure import Ratio, n_threads, ratio_of, run_suite, seconds_of, take_turns
from protolabel import PNMLClassifier
from protolabel.datasets import MultiLabelDataset, load_dataset, make_multilabel_like
from protolabel.exceptions import DatasetError

# A fit of the default on all rows would take most of the time of the benchmark.
_ROWS_OF_DEFAULT = 2500


def measure(quick: bool) -> Iterator[Ratio]:
    torch.set_num_threads(n_threads())
    for name in ("yeast",) if quick else ("yeast", "bibtex"):
        data = table(name)
        kind = f"{name}, {'sparse' if sp.issparse(data.X) else 'dense'}"
        if data.provenance.is_synthetic:
            kind += ", drawn"
        mlp = MLPClassifier((128,), max_iter=2, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mlp.fit(data.X, data.Y.toarray())
        for label, model in models().items():
            n_train = _ROWS_OF_DEFAULT if label == "default" else data.X.shape[0]
            model.fit(data.X[:n_train], data.Y[:n_train])
            times = take_turns(
                {
                    "mlp": partial(mlp.predict_proba, data.X),
                    "ours": partial(model.predict_proba, data.X),
                },
                repeats=3 if quick else 7,
            )
            n_rows = data.X.shape[0]
            figures = {
                "rows/s": n_rows / median(times["ours"]),
                "MLP rows/s": n_rows / median(times["mlp"]),
            }
            target = 0.5 if label != "default" else None
            yield ratio_of(
                f"{kind}: {label}, rate over MLP's",
                times["mlp"],
                times["ours"],
                at_least=target,
                figures=figures,
            )
            yield latency(
                f"{kind}: {label}, ms of a row", model.predict_proba, data.X, 40 if quick else 200
            )


def models() -> dict[str, PNMLClassifier]:
    """Configurations to predict with."""
    return {
        "paper, single": PNMLClassifier.paper("single", max_epochs=2, random_state=0),
        "fast": PNMLClassifier(effort="fast", max_epochs=2, random_state=0),
        "fast, squared": PNMLClassifier(
            effort="fast", squared_distance=True, max_epochs=2, random_state=0
        ),
        "two networks, squared": PNMLClassifier(
            effort="fast", squared_distance=True, n_members=2, max_epochs=2, random_state=0
        ),
        "compact": PNMLClassifier(
            compact=True, max_epochs=2, n_trees=10, n_landmarks=50, random_state=0
        ),
        "default": PNMLClassifier(max_epochs=2, random_state=0),
    }


def latency(name: str, predict: Callable[[Any], object], X: Any, n_rows: int) -> Ratio:
    """Milliseconds of single rows, one call each."""
    rows = [X[i : i + 1] for i in range(n_rows)]
    for row in rows[:5]:
        predict(row)
    taken = tuple(1000 * seconds_of(partial(predict, row)) for row in rows)
    return Ratio(name, median(taken), taken, at_most=2)


def table(name: str) -> MultiLabelDataset:
    """The dataset where it is at hand, else one of its shape."""
    try:
        return load_dataset(name)
    except DatasetError:
        return make_multilabel_like(name)


if __name__ == "__main__":
    run_suite(__doc__, measure)
