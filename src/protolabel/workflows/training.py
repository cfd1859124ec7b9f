"""Train a method on labelled data, and measure it on rows that it did not see."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from protolabel.exceptions import DatasetError
from protolabel.metrics import evaluate
from protolabel.preprocessing.splits import MultilabelStratifiedShuffleSplit
from protolabel.preprocessing.table import Numbers, Words
from protolabel.row_groups import Groups, groups_of_copies
from protolabel.workflows.inputs import StoredInputs, fit_inputs
from protolabel.workflows.labelled_data import LabelledData
from protolabel.workflows.model_calls import unnamed_rows
from protolabel.workflows.model_folder import name_outputs

DEFAULT_TEST_SIZE = 0.2
# Where rows are compared, a missing number is a value like others.
_MISSING_NUMBER = -1e300


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A trained model, what it makes of a file, and what it was measured to be worth.

    Parameters
    ----------
    model : estimator
        Fitted.
    inputs : TableInputs, SparseInputs or TextInputs
        What became of the columns.
    metrics : dict of str to float
        What the held-out rows say; empty where none were held out.
    n_train : int
        Rows that the model was fitted to.
    X_test, Y_test : array or sparse
        The held-out rows, encoded, and their labels.
    seconds : float
        Time of the fit.
    """

    model: Any
    inputs: StoredInputs
    metrics: dict[str, float]
    n_train: int
    X_test: Any
    Y_test: Any
    seconds: float

    @property
    def n_test(self) -> int:
        """Number of rows that were held out."""
        return int(self.Y_test.shape[0])


def train_model(
    model: Any,
    data: LabelledData,
    *,
    test_size: float | None = None,
    hold_out: bool = True,
    seed: int = 0,
    checkpoint: Path | None = None,
    observe: Callable[[Any], None] | None = None,
) -> TrainingResult:
    """Fit a model to labelled data and measure it on a held-out part.

    Parameters
    ----------
    model : estimator
        Not fitted; it is fitted in place.
    data : LabelledData
    test_size : float or None, default=None
        Share of the rows to hold out; None takes the split of the source, else a fifth.
    hold_out : bool, default=True
        False trains on all rows and measures nothing.
    seed : int, default=0
        Seed of the split.
    checkpoint : Path or None, default=None
        Folder that keeps the state of training, to continue from.
    observe : callable or None, default=None
        Called with the model before it is fitted.

    Returns
    -------
    TrainingResult

    Examples
    --------
    >>> from protolabel.workflows.file_options import FileOptions
    >>> from protolabel.workflows.labelled_data import read_labelled
    >>> from protolabel.workflows.method_settings import build_method
    >>> yeast = read_labelled("yeast", FileOptions())
    >>> result = train_model(build_method("ml-knn", {}), yeast)
    >>> result.n_train, result.n_test
    (1500, 917)
    """
    train, test = split_rows(data, test_size=test_size, hold_out=hold_out, seed=seed)
    inputs = fit_inputs(data.content, train, tag_separator=data.tag_separator)
    X = inputs.encode(data.content)
    if X.shape[1] == 0:
        raise DatasetError(f"{data.name}: the training rows have no value in any column")
    Y = sp.csr_array(data.Y)
    if observe is not None:
        observe(model)
    started = time.perf_counter()
    options: dict[str, Any] = {} if checkpoint is None else {"checkpoint_dir": checkpoint}
    if data.groups is not None and has_fit_parameter(model, "groups"):
        options["groups"] = data.groups[train]
    model.fit(X[train], Y[train], **options)
    seconds = time.perf_counter() - started
    X_test, Y_test = X[test], Y[test]
    metrics = measured(model, X_test, Y_test) if len(test) else {}
    name_outputs(model, data.label_names, inputs)
    return TrainingResult(model, inputs, metrics, len(train), X_test, Y_test, seconds)


def split_rows(
    data: LabelledData, *, test_size: float | None, hold_out: bool, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and rows to measure with; the arguments are those of ``train_model``."""
    n_samples = data.Y.shape[0]
    if not hold_out:
        return np.arange(n_samples), np.arange(0)
    if test_size is None and data.split is not None:
        parts = (data.split.train, data.split.validation)
        train = np.concatenate([part for part in parts if part is not None])
        return np.sort(train), data.split.test
    splitter = MultilabelStratifiedShuffleSplit(
        test_size=DEFAULT_TEST_SIZE if test_size is None else test_size, random_state=seed
    )
    groups = data.groups if data.groups is not None else copied_rows(data)
    n_apart = n_samples if groups is None else len(np.unique(groups))
    if n_apart < 2:
        kind = "row" if groups is None else "group of rows"
        raise DatasetError(
            f"{data.name} has {n_apart} {kind}, and nothing to hold out to measure the model; "
            "train on all rows with --no-holdout"
        )
    try:
        train, test = next(splitter.split(np.zeros((n_samples, 1)), data.Y, groups))
    except ValueError as error:
        raise DatasetError(f"{data.name}: {error}") from error
    return np.sort(train), np.sort(test)


def copied_rows(data: LabelledData) -> Groups:
    """Groups of equal rows of a table, where there are so many that they matter.

    Rows whose copies a model was trained on say nothing of its worth.
    """
    if not isinstance(data.content, tuple) or not data.content:
        return None
    columns = [
        column.values if isinstance(column, Numbers) else column.codes.astype(np.float64)
        for column in data.content
        if isinstance(column, Numbers | Words)
    ]
    if not columns:
        return None
    return groups_of_copies(np.nan_to_num(np.column_stack(columns), nan=_MISSING_NUMBER))


def measured(model: Any, X: Any, Y: Any) -> dict[str, float]:
    """The five metrics that are defined on these rows."""
    with unnamed_rows():
        scores = evaluate(Y, model.predict(X), model.decision_function(X))
    return {name: value for name, value in scores.items() if math.isfinite(value)}
