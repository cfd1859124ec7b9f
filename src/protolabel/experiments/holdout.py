"""Score a named method on a stratified held-out part of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protolabel.datasets import MultiLabelDataset
from protolabel.methods import make_method
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit


def hold_out_scores(
    dataset: MultiLabelDataset,
    method: str,
    *,
    test_size: float = 0.2,
    seed: int = 0,
    callbacks: Sequence[Any] | None = None,
) -> dict[str, float]:
    """Train on one part and return the five metrics on the other.

    Parameters
    ----------
    dataset : MultiLabelDataset
    method : str
        Name of a method, see :data:`protolabel.methods.METHODS`.
    test_size : float, default=0.2
    seed : int, default=0
        Seed of the split and of the method.
    callbacks : sequence of Callback or None, default=None
    """
    splitter = MultilabelStratifiedShuffleSplit(test_size=test_size, random_state=seed)
    train, test = next(splitter.split(dataset.X, dataset.Y))
    model = make_method(method, random_state=seed, callbacks=callbacks)
    model.fit(dataset.X[train], dataset.Y[train])
    X_test = dataset.X[test]
    return evaluate(dataset.Y[test], model.predict(X_test), model.decision_function(X_test))
