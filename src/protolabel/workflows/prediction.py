"""Predictions of a trained model as cells of a table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np
from numpy.typing import NDArray

from protolabel.workflows.model_calls import in_parts, unnamed_rows

if TYPE_CHECKING:
    from protolabel.workflows.model_folder import TrainedModel

Form = Literal["decisions", "probabilities", "tags"]
TAGS_COLUMN = "labels"


@dataclass(frozen=True)
class PredictionForm:
    """What is said about each row.

    Parameters
    ----------
    form : {"decisions", "probabilities", "tags"}, default="decisions"
        A column of 0 and 1 a label, a column of probabilities a label, or one cell with the
        names of the labels, likeliest first.
    top_k : int or None, default=None
        Tags: at most that many, whatever the thresholds of the model.
    threshold : float or None, default=None
        Probability from which on a label is given, in place of the model's own thresholds.
    separator : str, default="|"
        What stands between tags.
    """

    form: Form = "decisions"
    top_k: int | None = None
    threshold: float | None = None
    separator: str = "|"

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.top_k is not None and self.form != "tags":
            raise ValueError("The k likeliest labels are tags; they have no other form.")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(
                f"The {self.top_k} likeliest labels were asked for; expected 1 or more."
            )
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"The threshold is {self.threshold}; expected one from 0 to 1.")
        if self.threshold is not None and self.form == "probabilities":
            raise ValueError("A threshold turns probabilities into decisions; ask for one of them.")
        if self.form == "tags" and not self.separator:
            raise ValueError(
                "The separator of tags is empty, and they could not be told apart; choose one, "
                "such as '|'."
            )


def predicted_rows(trained: TrainedModel, X: Any, form: PredictionForm) -> Iterator[list[Any]]:
    """Yield, for each row, what is said about it: numbers, or the names of its labels.

    Parameters
    ----------
    trained : TrainedModel
    X : ndarray or CSR array
        Rows as the model takes them.
    form : PredictionForm
    """
    names = trained.label_names
    for part in in_parts(X.shape[0], len(names)):
        with unnamed_rows():
            rows = list(_predicted(trained.model, X[part], form, names))
        yield from rows


def write_predictions(
    file: TextIO,
    label_names: Sequence[str],
    rows: Iterator[list[Any]],
    form: PredictionForm,
    kept: Mapping[str, Sequence[str]],
) -> int:
    r"""Write predictions as CSV, and return the number of rows.

    Parameters
    ----------
    file : text file
    label_names : sequence of str
    rows : iterator of list
        From :func:`predicted_rows`.
    form : PredictionForm
    kept : mapping of str to sequence of str
        Columns to write before the predictions.

    Examples
    --------
    >>> import sys
    >>> form, rows = PredictionForm("tags"), iter([["sky", "sea"], []])
    >>> write_predictions(sys.stdout, ["sea", "sky"], rows, form, {"id": "ab"})
    id,labels
    a,sky|sea
    b,
    2
    """
    check_separator(label_names, form)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*kept, *([TAGS_COLUMN] if form.form == "tags" else label_names)])
    n_rows = 0
    for cells in rows:
        said: list[Any] = cells
        if form.form == "tags":
            said = [form.separator.join(cells)]
        elif form.form == "probabilities":
            said = [f"{value:.6g}" for value in cells]
        before = [column[n_rows] for column in kept.values()]
        # A single empty cell would be an empty line, which is no row to many readers.
        writer.writerow([*before, *said])
        n_rows += 1
    return n_rows


def check_separator(label_names: Sequence[str], form: PredictionForm) -> None:
    """Refuse tags that could not be told apart."""
    if form.form != "tags":
        return
    odd = [name for name in label_names if form.separator in name]
    if odd:
        raise ValueError(
            f"Tags cannot be separated by {form.separator!r}: the label {odd[0]!r} contains it; "
            "choose another separator."
        )


def check_kept(kept: Sequence[str], label_names: Sequence[str], form: PredictionForm) -> None:
    """Refuse to repeat columns that are called as the answer is.

    Parameters
    ----------
    kept : sequence of str
        Columns to write before the predictions.
    label_names : sequence of str
    form : PredictionForm
    """
    said = {TAGS_COLUMN} if form.form == "tags" else set(label_names)
    both = [name for name in kept if name in said]
    if both:
        raise ValueError(
            f"The column {both[0]!r} cannot be kept: what is predicted has a column of that name. "
            "Leave it out, or rename it in the file."
        )


def _predicted(
    model: Any, X: Any, form: PredictionForm, names: Sequence[str]
) -> Iterator[list[Any]]:
    """Predictions of some rows, scored as rarely as the form allows."""
    if form.form == "probabilities":
        yield from model.predict_proba(X).tolist()
    elif form.form == "decisions":
        yield from _decisions(model, X, form).astype(int).tolist()
    else:
        # Probabilities of sure labels are all 1: only scores tell the surest one.
        order = np.argsort(-model.decision_function(X), axis=1, kind="stable")
        by_rank = form.top_k is not None and form.threshold is None
        is_given = np.ones(order.shape, bool) if by_rank else _decisions(model, X, form)
        for places, given in zip(order, is_given, strict=True):
            yield [names[place] for place in places[given[places]][: form.top_k]]


def _decisions(model: Any, X: Any, form: PredictionForm) -> NDArray[np.bool_]:
    if form.threshold is not None:
        return np.asarray(model.predict_proba(X) >= form.threshold)
    return np.asarray(model.predict(X) != 0)
