"""The report of one fitted model on labelled data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from protolabel.classifier import PNMLClassifier
from protolabel.estimator import MultilabelClassifier
from protolabel.inspection.dependency import label_correlation, prototype_similarity
from protolabel.inspection.prototype_map import map_prototypes
from protolabel.metrics import evaluate, expected_calibration_error
from protolabel.metrics.truth import align_labels
from protolabel.preprocessing.labels import encode_targets
from protolabel.report.curves import learning_section
from protolabel.report.dependency_section import dependency_section
from protolabel.report.label_table import labels_section
from protolabel.report.map_section import map_section
from protolabel.report.names import metric_title
from protolabel.report.page import Section, render_page

# Beyond, matrices of labels by labels would take more memory than the model.
_MAX_LABELS_TO_COMPARE = 2000


@dataclass(frozen=True)
class ModelSummary:
    """Key figures and parameters."""

    tiles: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, str]]


def model_report(
    model: MultilabelClassifier,
    X: Any,
    Y: Any,
    *,
    title: str = "Model",
    data_name: str = "",
    max_rows: int = 400,
    max_labels: int = 15,
    member: int = 0,
    random_state: int = 0,
) -> str:
    """Describe a fitted model on labelled data in one HTML page.

    Parameters
    ----------
    model : MultilabelClassifier
        Fitted to multi-label targets. Learning curves, prototypes and learned dependency are
        those of a ``PNMLClassifier``; other classifiers have a page without them.
    X : array-like or sparse of shape (n_samples, n_features)
        Raw features, best of rows that the model was not fitted to.
    Y : array-like or sparse of shape (n_samples, n_labels), data frame, or label sets
        Labels as 0 and 1 in the order of the model, or by name in any order.
    title : str, default="Model"
        Head of the page.
    data_name : str, default=""
        Name of the data.
    max_rows, max_labels : int, default=400 and 15
        Rows and labels in the map of prototypes.
    member : int, default=0
        Network in the map of prototypes.
    random_state : int, default=0
        Seed of the map.

    Returns
    -------
    str
        The page, with no part to be loaded from elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = PNMLClassifier("single", effort="fast", max_epochs=2, random_state=0).fit(X, Y)
    >>> page = model_report(model, X, Y)
    >>> page.count("<section")
    5
    """
    sections = model_sections(
        model,
        X,
        Y,
        max_rows=max_rows,
        max_labels=max_labels,
        member=member,
        random_state=random_state,
    )
    return render_page(title, model_subtitle(model, Y, data_name), sections)


def model_sections(
    model: MultilabelClassifier,
    X: Any,
    Y: Any,
    *,
    max_rows: int = 400,
    max_labels: int = 15,
    member: int = 0,
    random_state: int = 0,
) -> list[Section]:
    """The parts of a page on a model; the arguments are those of :func:`model_report`."""
    check_is_fitted(model)
    if model._kind != "multilabel":
        raise ValueError(
            "model_report is for multi-label models; this one was fitted to one class per row."
        )
    labels = _as_labels(Y, model, X)
    names = [str(name) for name in model.label_names_]
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    predicted = model.predict(X)
    thresholds = getattr(model, "thresholds_", None)
    sections = [
        _summary(model, labels, predicted, scores, probabilities),
        labels_section(labels, predicted, probabilities, names, thresholds),
    ]
    if isinstance(model, PNMLClassifier):
        network = model.model_.network
        sections.insert(1, learning_section(model.history_))
        if bool(network.active.any()):
            found = map_prototypes(
                model,
                X,
                labels,
                member=member,
                max_rows=max_rows,
                max_labels=max_labels,
                random_state=random_state,
            )
            sections.append(map_section(found, labels, names))
        if network.settings.shared_embedding and 1 < len(names) <= _MAX_LABELS_TO_COMPARE:
            counts = np.asarray(labels.sum(axis=0)).ravel()
            learned = prototype_similarity(network)
            sections.append(dependency_section(label_correlation(labels), learned, counts, names))
    return sections


def model_subtitle(model: MultilabelClassifier, Y: Any, data_name: str = "") -> str:
    """Class of a model and size of the data."""
    n_labels = len(model.label_names_)
    text = f"{type(model).__name__} on {_n_rows(Y)} rows with {n_labels} labels"
    return f"{text} of {data_name}" if data_name else text


def _as_labels(Y: Any, model: MultilabelClassifier, X: Any) -> sp.csr_array:
    labels = encode_targets(align_labels(Y, model.label_names_)).matrix.astype(np.int64)
    n_labels = len(model.label_names_)
    if labels.shape[1] != n_labels:
        raise ValueError(
            f"Y has {labels.shape[1]} columns but the model was fitted with {n_labels} labels; "
            "pass the same label set."
        )
    n_rows = _n_rows(X)
    if labels.shape[0] != n_rows:
        raise ValueError(f"X has {n_rows} rows and Y has {labels.shape[0]}; pass one for each.")
    return labels


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _summary(
    model: MultilabelClassifier,
    labels: sp.csr_array,
    predicted: np.ndarray,
    scores: np.ndarray,
    probabilities: np.ndarray,
) -> Section:
    values = evaluate(labels, predicted, scores)
    values["Calibration error"] = expected_calibration_error(labels, probabilities)
    tiles = [
        (metric_title(name), f"{value:.3f}" if math.isfinite(value) else "–")
        for name, value in values.items()
    ]
    facts = [("Class", type(model).__name__), ("Features", str(model.n_features_in_))]
    if isinstance(model, PNMLClassifier):
        facts += _pnml_facts(model)
    changed = ", ".join(f"{name}={value!r}" for name, value in _changed_parameters(model).items())
    facts.append(("Parameters", changed or "all at their defaults"))
    return Section("summary", "Summary", "model_summary.html", ModelSummary(tiles, facts))


def _pnml_facts(model: PNMLClassifier) -> list[tuple[str, str]]:
    fitted = model.model_
    counts = model.n_prototypes_
    facts = [
        ("Networks", str(fitted.network.n_members)),
        (
            "Prototypes of a component",
            f"{counts.min()} to {counts.max()}, mean {counts.mean():.1f}",
        ),
        ("Input scaling", str(fitted.scaler.scaling_)),
    ]
    if fitted.fusion is not None:
        learners = ["networks", *(type(companion).__name__ for companion in fitted.companions)]
        weights = zip(learners, fitted.fusion.slopes, strict=True)
        facts.append(("Weights of the learners", ", ".join(f"{n} {w:.3f}" for n, w in weights)))
        shifts = np.atleast_1d(fitted.fusion.shifts)
        taken = f"{shifts.min():+.2f} to {shifts.max():+.2f}"
        facts.append(("Labels moved after pooling, in log-odds", taken))
        sets = fitted.fusion.set_prototypes
        used = "not used" if sets is None else f"{len(sets.counts)}, weight {sets.weight:.3f}"
        facts.append(("Sets of labels", used))
    return facts


def _changed_parameters(model: MultilabelClassifier) -> dict[str, Any]:
    defaults = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    return {name: value for name, value in own.items() if repr(value) != repr(defaults[name])}
