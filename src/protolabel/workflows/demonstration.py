"""Several methods on one held-out part of a dataset, and a page about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from protolabel.datasets import MultiLabelDataset
from protolabel.methods import find_method, make_method
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit
from protolabel.report.comparison_section import comparison_section
from protolabel.report.model_report import model_sections, model_subtitle
from protolabel.report.page import render_page


@dataclass(frozen=True, eq=False)
class Demonstration:
    """What came out.

    Parameters
    ----------
    results : dict of str to dict
        Title of each method with its five metrics.
    model : estimator
        The last method, fitted.
    X_test, Y_test : array or sparse
        The rows that were measured with.
    """

    results: dict[str, dict[str, float]]
    model: Any
    X_test: Any
    Y_test: Any

    def page(self, title: str, data_name: str) -> str:
        """Describe the methods, and the last one in depth, in one HTML page."""
        sections = model_sections(self.model, self.X_test, self.Y_test)
        sections.insert(1, comparison_section(self.results))
        return render_page(title, model_subtitle(self.model, self.Y_test, data_name), sections)


def demonstrate(
    dataset: MultiLabelDataset,
    methods: Sequence[str],
    *,
    test_size: float = 0.2,
    seed: int = 0,
    callbacks: Callable[[str], Sequence[Any] | None] = lambda _title: None,
) -> Demonstration:
    """Train methods on one part of a dataset and measure them on the other.

    Parameters
    ----------
    dataset : MultiLabelDataset
    methods : sequence of str
        Names of PNML methods, see :data:`protolabel.methods.METHODS`.
    test_size : float, default=0.2
        Share of the rows to measure with.
    seed : int, default=0
        Seed of the split and of the methods.
    callbacks : callable, default=lambda _title: None
        Gives for the title of a method, before it is trained, what watches its training.

    Returns
    -------
    Demonstration
    """
    splitter = MultilabelStratifiedShuffleSplit(test_size=test_size, random_state=seed)
    train, test = next(splitter.split(dataset.X, dataset.Y))
    X_test, Y_test = dataset.X[test], dataset.Y[test]
    results, model = {}, None
    for name in methods:
        title = find_method(name).title
        model = make_method(name, random_state=seed, callbacks=callbacks(title))
        model.fit(dataset.X[train], dataset.Y[train])
        results[title] = evaluate(Y_test, model.predict(X_test), model.decision_function(X_test))
    return Demonstration(results, model, X_test, Y_test)
