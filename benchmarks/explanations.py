"""Whether the features that an explanation names are those that the model listens to.

Usage: ``python benchmarks/explanations.py [dataset ...]``. A model in its recommended
configuration is fitted to a part of each dataset; of 200 other rows the three most probable
labels are explained. Setting the five features named for a label to their training median has to
move its probability clearly more than setting five random ones. Datasets that are not bundled
come from the folder in ``PROTOLABEL_DATA`` and are left out without it. Exits with 1 if a ratio
is below 1.5.
"""

from __future__ import annotations

import sys

import numpy as np

from protolabel.classifier import PNMLClassifier
from protolabel.datasets import load_dataset
from protolabel.exceptions import DatasetError
from protolabel.inspection import explain
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

DATASETS = ("yeast", "emotions", "image")
N_ROWS, N_LABELS, N_FEATURES, N_DRAWS = 200, 3, 5, 5
LEAST_RATIO = 1.5


def mean_changes(name: str) -> tuple[float, float, float]:
    """Mean change of the probability by named and by random features, and the part unexplained."""
    dataset = load_dataset(name)
    folds = MultilabelStratifiedKFold(3, shuffle=True, random_state=0)
    train, test = next(iter(folds.split(dataset.X, dataset.Y)))
    model = PNMLClassifier(random_state=0).fit(dataset.X[train], dataset.Y[train])
    positions = {str(label): position for position, label in enumerate(model.label_names_)}
    median = np.median(dataset.X[train], axis=0)
    rng = np.random.default_rng(0)
    named, by_chance, unexplained = [], [], []
    for row in dataset.X[rng.permutation(test)[:N_ROWS]]:
        found = explain(model, row, n_labels=N_LABELS, n_features=N_FEATURES, flips=False)
        for label in found.labels:
            column = positions[label.label]
            chosen = [[pull.feature for pull in label.pulls]]
            drawn = [rng.choice(len(row), N_FEATURES, replace=False) for _ in range(N_DRAWS)]
            rows = np.repeat(row[None], 1 + N_DRAWS, axis=0)
            for copy, features in zip(rows, [*chosen, *drawn], strict=True):
                copy[features] = median[features]
            moved = np.abs(model.predict_proba(rows)[:, column] - label.probability)
            named.append(moved[0])
            by_chance.append(moved[1:].mean())
            unexplained.append(abs(label.unexplained))
    return float(np.mean(named)), float(np.mean(by_chance)), float(np.mean(unexplained))


def main() -> int:
    ratios = []
    print(f"{'dataset':<12}{'named':>9}{'random':>9}{'ratio':>8}{'unexplained':>13}")
    for name in sys.argv[1:] or DATASETS:
        try:
            named, by_chance, unexplained = mean_changes(name)
        except DatasetError as error:
            print(f"{name:<12} left out: {error}")
            continue
        ratios.append(named / by_chance)
        print(
            f"{name:<12}{named:9.4f}{by_chance:9.4f}{ratios[-1]:8.2f}{unexplained:13.5f}",
            flush=True,
        )
    return int(min(ratios, default=0.0) < LEAST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
