"""Pictures of what the parts of the method are worth, measured on the bundled yeast data."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from plot import Panel, picture

from protolabel import PNMLClassifier, evaluate, load_dataset
from protolabel.decision.thresholds import apply_thresholds
from protolabel.inspection.dependency import label_correlation, prototype_similarity
from protolabel.metrics import average_precision

_SEEDS = (0, 1, 2)
_FROM_ZERO_TO_ONE = [(0, "0"), (0.5, "0.5"), (1, "1")]
_RATES = (0.02, 0.05, 0.1, 0.3, 1.0)
_CONFIGURATIONS = {
    "paper, single": PNMLClassifier.paper("single", random_state=0),
    "paper, multiple": PNMLClassifier.paper("multiple", random_state=0),
    "five networks": PNMLClassifier(n_landmarks=0, n_trees=0, random_state=0),
    "and kernel": PNMLClassifier(n_trees=0, random_state=0),
    "and forest": PNMLClassifier(random_state=0),
}


@cache
def _yeast() -> tuple[Any, Any, Any, Any]:
    """Training rows and labels, test rows and labels, by the split of the dataset."""
    yeast = load_dataset("yeast")
    assert yeast.split is not None
    train, test = yeast.split.train, yeast.split.test
    return yeast.X[train], yeast.Y[train], yeast.X[test], yeast.Y[test]


@cache
def _recommended() -> PNMLClassifier:
    X, Y, _, _ = _yeast()
    return PNMLClassifier(random_state=0).fit(X, Y)


def correlation() -> str:
    """Correlation of labels beside the similarity of their prototypes."""
    X, Y, _, _ = _yeast()
    n_labels = Y.shape[1]
    matrices = {"Labels in the data": label_correlation(Y)}
    for weight, title in ((0.0, "Prototypes, λ₂ = 0"), (1e-2, "Prototypes, λ₂ = 0.01")):
        model = PNMLClassifier.paper(
            "single", correlation_penalty=weight, correlation="cosine", max_epochs=15,
            random_state=0,
        ).fit(X, Y)  # fmt: skip
        matrices[title] = prototype_similarity(model.model_.network)
    ticks = [(1, "1"), (n_labels, str(n_labels))]
    panels = []
    for title, values in matrices.items():
        heights = [(n_labels + 1 - number, name) for number, name in ticks]
        panel = Panel(
            title, (0.5, n_labels + 0.5), (0.5, n_labels + 0.5), "label", "", ticks, heights
        )
        panel.cells(np.nan_to_num(values))
        panels.append(panel)
    return picture("Correlation of labels and similarity of their prototypes", *panels)


def sampling() -> str:
    """What a step averages, and what average precision is left with fewer rows."""
    X, Y, X_test, Y_test = _yeast()
    means, spreads = [], []
    for rate in _RATES:
        found = [
            average_precision(
                Y_test,
                PNMLClassifier.paper(
                    "single", positive_rate=rate, negative_rate=rate, max_epochs=10,
                    random_state=seed,
                ).fit(X, Y).decision_function(X_test),
            )
            for seed in _SEEDS
        ]  # fmt: skip
        means.append(float(np.mean(found)))
        spreads.append(float(np.std(found)))
    places = list(range(len(_RATES)))
    low, high = min(means) - 0.02, max(means) + 0.02
    panel = Panel(
        "Average precision by sampling rate", (-0.3, len(_RATES) - 0.7), (low, high),
        "share of each component that a step averages", "",
        [(place, f"{rate:g}") for place, rate in zip(places, _RATES, strict=True)],
        [(value, f"{value:.2f}") for value in np.arange(np.ceil(low * 50) / 50, high, 0.02)],
    )  # fmt: skip
    for place, mean, spread in zip(places, means, spreads, strict=True):
        panel.curve([(place, mean - spread), (place, mean + spread)], "muted")
    panel.curve(zip(places, means, strict=True), "a")
    panel.dots(list(zip(places, means, strict=True)), "a", radius=4, opacity=1)
    return picture("Average precision by the share of rows that prototypes are made of", panel)


def thresholds() -> str:
    """Three metrics by one common threshold, and the tuned thresholds of all labels."""
    _, Y, X_test, Y_test = _yeast()
    model = _recommended()
    scores = model.decision_function(X_test)
    levels = np.linspace(-3, 2, 51)
    values = [evaluate(Y_test, apply_thresholds(scores, t), scores) for t in levels]
    panel = Panel(
        "One threshold for all labels", (-3, 2), (0.1, 0.75), "log-odds", "",
        [(t, f"{t:g}") for t in (-3, -2, -1, 0, 1, 2)],
        [(v, f"{v:g}") for v in (0.2, 0.4, 0.6)],
    )  # fmt: skip
    names = {"micro_f1": "a", "accuracy": "b", "macro_f1": "c"}
    for name, colour in names.items():
        heights = [value[name] for value in values]
        panel.curve(zip(levels.tolist(), heights, strict=True), colour)
        best = int(np.argmax(heights))
        panel.dots([(levels[best], heights[best])], colour, radius=4.5, opacity=1)
    for number, (name, colour) in enumerate(names.items()):
        panel.note(1.95, 0.70 - 0.045 * number, name.replace("_", "-"), colour, "end")
    share = np.asarray(Y.mean(axis=0)).ravel()
    tuned = Panel(
        "Thresholds of the default rule", (0, 0.8), (-3.5, 0.5), "share of rows with the label",
        "", [(0, "0"), (0.4, "0.4"), (0.8, "0.8")], [(-3, "−3"), (-2, "−2"), (-1, "−1"), (0, "0")],
    )  # fmt: skip
    tuned.curve([(0, 0), (0.8, 0)], "rule")
    tuned.dots(np.column_stack([share, model.thresholds_]), "a", radius=4.5, opacity=0.9)
    return picture("Decision thresholds of the recommended model on yeast", panel, tuned)


def recommended() -> str:
    """From the paper's configuration to the recommended one, step by step."""
    X, Y, X_test, Y_test = _yeast()
    found = {}
    for name, model in _CONFIGURATIONS.items():
        fitted = _recommended() if name == "and forest" else model.fit(X, Y)
        found[name] = evaluate(Y_test, fitted.predict(X_test), fitted.decision_function(X_test))
    panels = []
    for metric, title in (
        ("average_precision", "Average precision"),
        ("macro_f1", "Macro-F1"),
        ("accuracy", "Accuracy"),
    ):
        values = [found[name][metric] for name in found]
        panel = Panel(title, (0.4, len(values) + 0.6), (0, 1), y_ticks=_FROM_ZERO_TO_ONE)
        for place, (name, value) in enumerate(zip(found, values, strict=True), start=1):
            panel.bar(place, value, 0.72, "b" if name.startswith("paper") else "a", f"{value:.3f}")
            first, _, second = name.partition(" ")
            panel.name_below(place, first, second)
        panels.append(panel)
    return picture("Steps from the paper to the recommended configuration on yeast", *panels)
