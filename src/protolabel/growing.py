"""Learning that goes on after the first fit: labels that come later, rows that never end."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from protolabel.all_or_nothing import all_or_nothing
from protolabel.chunk_targets import encode_chunk
from protolabel.distillation import student_settings
from protolabel.estimator import MultilabelClassifier
from protolabel.fitted_model import FittedModel
from protolabel.fitting import FitOptions
from protolabel.missing_labels import check_name_of_label
from protolabel.pnml.settings import PNMLSettings
from protolabel.preprocessing.features import compressed_texts
from protolabel.preprocessing.labels import Targets
from protolabel.streams import Stream, stream_settings


class GrowingClassifier(MultilabelClassifier):
    """Adds ``add_label`` and ``partial_fit`` to a classifier whose ``model_`` is a network."""

    model_: FittedModel
    compact: bool
    feature_scaling: Any
    prototypes: Any
    random_state: Any
    _stream: Stream | None

    @abstractmethod
    def _settings(self, X: Any, n_labels: int) -> PNMLSettings:
        """Hyper-parameters with every "auto" resolved for this input."""

    @abstractmethod
    def _options(self, X: Any, targets: Targets, seed: int) -> FitOptions:
        """What surrounds the network."""

    def add_label(self, X_positive: Any, *, name: Any = None, X_negative: Any = None) -> Self:
        """Give a fitted multi-label model one more label, from a handful of rows.

        Nothing is trained again: the scores of all other labels stay exactly as they are. The
        positive prototype is the mean of the embedded rows, the negative one that of the
        training rows or of ``X_negative``; the metric follows from the spread of all training
        rows. How sure the label is, its prior and its threshold are those of a usual label of
        the model. Companions take no part in it.

        Parameters
        ----------
        X_positive : array-like, sparse matrix or data frame of shape (n_positives, n_features)
            Raw features of rows that have the label; one row is enough.
        name : str, number or None, default=None
            Name of the label; by default the number of its column.
        X_negative : the same of shape (n_negatives, n_features), or None, default=None
            Rows without the label.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 4))
        >>> from protolabel import PNMLClassifier
        >>> model = PNMLClassifier(random_state=0).fit(X, (X[:, :2] > 0).astype(int))
        >>> model.add_label(X[X[:, 2] > 1], name="large").label_names_.tolist()
        [0, 1, 'large']
        """
        rows = self._checked(X_positive)
        others = None if X_negative is None else self._checked(X_negative)
        if self._kind != "multilabel":
            raise ValueError(
                "add_label is for multi-label models; this one was fitted to one class per row. "
                "Fit it to a label matrix or to label sets."
            )
        names = _with_name(self.label_names_, name)
        self.model_ = self.model_.with_label(rows, others)
        self.label_names_ = names
        self.classes_ = np.arange(len(names))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from the next rows of a stream: one pass over them.

        The first call decides the labels, the scaling of the features and the networks, the
        others go on from there, and so do calls after ``fit``, ``add_label`` or loading a model,
        with a new start of the optimiser; no row is kept. Prototypes are single, running means
        in which older rows fade. The learning rate is constant; ``schedule``, ``max_epochs``,
        ``early_stopping``, ``callbacks``, companions and tuned thresholds play no part; with
        ``compact`` the one small network learns from the labels alone; multiple
        prototypes, ``correlation_penalty`` and ``leave_one_out`` are given up with a warning.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Raw features.
        y : array-like, sparse matrix or data frame of shape (n_samples, n_labels), or list
            A 0/1 label matrix, a list or series of label sets, or one class per row.
        classes : int, array-like or None, default=None
            All labels that the stream may bring: their number or names, or the classes of a
            one-dimensional target. Needed in the first call unless ``y`` is a matrix.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> from protolabel import PNMLClassifier
        >>> model = PNMLClassifier(random_state=0)
        >>> for start in range(0, 300, 100):
        ...     chunk = X[start : start + 100]
        ...     model = model.partial_fit(chunk, (chunk[:, :2] > 0).astype(int))
        >>> model.predict(X[:3]).shape
        (3, 2)
        """
        with all_or_nothing(self):
            stream: Stream | None = getattr(self, "_stream", None)
            is_first = not hasattr(self, "model_")
            X = compressed_texts(self._checked(X, reset=is_first), self.feature_scaling)
            targets = encode_chunk(y, None if is_first else self._known_targets(), classes)
            check_consistent_length(X, targets.matrix)
            if is_first or stream is None or self.model_.network.n_added:
                stream = self._new_stream(X, targets, is_first)
            self.model_ = stream.learn(X, targets.matrix)
            self._stream = stream
            self._kind = targets.kind
            self.classes_ = targets.classes
            self.label_names_ = targets.names
        return self

    def _known_targets(self) -> Targets:
        empty = sp.csr_array((0, len(self.label_names_)), dtype=np.int8)
        return Targets(empty, self.label_names_, self.classes_, self._kind)

    def _new_stream(self, X: Any, targets: Targets, is_first: bool) -> Stream:
        """Begin a stream, from the start or from the model that there is."""
        seed = check_random_state(self.random_state).randint(2**31 - 2)
        n_labels = targets.matrix.shape[1]
        settings = self._settings(X, n_labels) if is_first else self.model_.network.settings
        given_up = {
            "multiple prototypes": settings.prototypes == "multiple"
            and not (is_first and self.prototypes == "auto"),
            "the correlation penalty": settings.correlation_penalty > 0,
            "the leave-one-out correction": settings.leave_one_out,
            "companions": not is_first and bool(self.model_.companions),
        }
        if any(given_up.values()):
            names = ", ".join(name for name, applies in given_up.items() if applies)
            warnings.warn(
                f"partial_fit keeps no rows and goes on without {names}. Use prototypes='single', "
                "correlation_penalty=0, leave_one_out=False and effort='fast' to have none.",
                stacklevel=3,
            )
        if is_first:
            options = self._options(X, targets, seed)
            if self.compact:
                scaling = "auto" if options.feature_scaling == "none" else options.feature_scaling
                settings = student_settings(settings, X.shape[0])
                options = replace(options, n_members=1, feature_scaling=scaling)
            return Stream.start(X, targets, stream_settings(settings), options)
        return Stream.resume(self.model_, targets, seed)


def _with_name(names: np.ndarray, name: Any) -> np.ndarray:
    """Names of the labels and of one more, which has to be new."""
    if name is None:
        name = len(names)
    check_name_of_label(name)
    if name in names.tolist():
        raise ValueError(f"The model has a label {name!r} already; choose another name.")
    if isinstance(name, Integral) and not isinstance(name, bool):
        name = int(name)
    same = names.dtype.kind in "iu" and type(name) is int
    grown = np.empty(len(names) + 1, dtype=names.dtype if same else object)
    grown[:-1] = names.tolist()
    grown[-1] = name
    return grown
