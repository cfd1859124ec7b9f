"""How good a trained model is on rows with labels: the five metrics, and every label on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from protolabel.exceptions import DatasetError
from protolabel.metrics import LabelReport, StreamingEvaluation, label_report
from protolabel.workflows.file_options import FileOptions
from protolabel.workflows.labelled_data import unknown_label
from protolabel.workflows.model_calls import in_parts, unnamed_rows
from protolabel.workflows.model_folder import TrainedModel
from protolabel.workflows.new_rows import read_rows


@dataclass(frozen=True)
class Evaluation:
    """What a model is worth on some rows.

    Parameters
    ----------
    n_rows : int
    metrics : dict of str to float
        The five metrics; NaN where one is not defined.
    labels : tuple of LabelReport
        Every label on its own.
    notes : tuple of str
        What a person should know about the rows.
    """

    n_rows: int
    metrics: dict[str, float]
    labels: tuple[LabelReport, ...]
    notes: tuple[str, ...]


def evaluate_model(
    trained: TrainedModel,
    source: str | Path,
    options: FileOptions,
    labels: Sequence[str] | None = None,
) -> Evaluation:
    """Measure a model on a file with labels.

    Parameters
    ----------
    trained : TrainedModel
    source : str or Path
        A file of any known format, or the name of a dataset of the catalogue.
    options : FileOptions
    labels : sequence of str or None, default=None
        Labels of the model to measure; None for all.
    """
    names = trained.label_names
    wanted = tuple(names if labels is None else labels)
    place = {name: position for position, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            raise unknown_label("the model", name, names)
    rows = read_rows(source, trained.inputs, names, options, wanted_labels=wanted)
    if not rows.X.shape[0]:
        raise DatasetError(f"{source} has no rows; give rows with labels to measure with")
    columns = [place[name] for name in wanted]
    evaluation = StreamingEvaluation()
    decisions, scores = [], []
    for part in in_parts(rows.X.shape[0], len(names)):
        with unnamed_rows():
            scores.append(trained.model.decision_function(rows.X[part])[:, columns])
            decisions.append(trained.model.predict(rows.X[part])[:, columns])
        evaluation.update(rows.Y[part], decisions[-1], scores[-1])
    report = label_report(
        rows.Y, np.concatenate(decisions), np.concatenate(scores), label_names=wanted
    )
    return Evaluation(rows.X.shape[0], evaluation.result(), report, rows.notes)
