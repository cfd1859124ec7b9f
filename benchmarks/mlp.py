"""What the recommended configuration costs beside scikit-learn's MLPClassifier, and what it gives.

    OMP_NUM_THREADS=1 python benchmarks/mlp.py

One fold of bibtex, the same number of epochs, 128 hidden units; median of three turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import torch
from sklearn.neural_network import MLPClassifier

from measure import Ratio, n_threads, ratio_of, run_suite, take_turns
from prediction import table
from protolabel import PNMLClassifier
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

_TARGETS = {"fast": 2.0, "balanced": 10.0}
_SHOWN = ("average_precision", "micro_f1", "macro_f1")


def measure(quick: bool) -> Iterator[Ratio]:
    torch.set_num_threads(n_threads())
    data = table("bibtex")
    splitter = MultilabelStratifiedKFold(5, shuffle=True, random_state=0)
    train, test = next(iter(splitter.split(data.X, data.Y)))
    X, Y = data.X[train], data.Y[train]
    PNMLClassifier(effort="fast", max_epochs=1, random_state=0).fit(X[:200], Y[:200])
    for effort, target in _TARGETS.items():
        if quick and effort == "balanced":
            continue
        model = PNMLClassifier(effort=effort, random_state=0)  # type: ignore[arg-type]
        epochs = model._settings(X, Y.shape[1]).max_epochs
        mlp = MLPClassifier((128,), max_iter=epochs, n_iter_no_change=epochs, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The perceptron has not converged by then.
            times = take_turns(
                {"ours": partial(model.fit, X, Y), "mlp": partial(mlp.fit, X, Y.toarray())},
                repeats=1 if quick else 3,
                warm_up=False,
            )
        figures = {
            "s": median(times["ours"]),
            "MLP s": median(times["mlp"]),
            "epochs": float(epochs),
        }
        scores = model.decision_function(data.X[test])
        figures |= shown(data.Y[test], model.predict(data.X[test]), scores, "")
        probabilities = mlp.predict_proba(data.X[test])
        figures |= shown(data.Y[test], mlp.predict(data.X[test]), probabilities, "MLP ")
        yield ratio_of(
            f"bibtex: fit with effort {effort} over MLP's",
            times["ours"],
            times["mlp"],
            at_most=target,
            figures=figures,
        )


def shown(truth: Any, said: np.ndarray, scores: np.ndarray, owner: str) -> dict[str, float]:
    """The metrics to print."""
    found = evaluate(truth, said, scores)
    return {f"{owner}{name}": float(found[name]) for name in _SHOWN}


if __name__ == "__main__":
    run_suite(__doc__, measure)
