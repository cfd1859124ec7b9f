"""Scores of rows by models that have not seen them, for the wrappers of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_consistent_length

from protolabel.decision._scores import keep_off_the_ends
from protolabel.metrics import label_scores
from protolabel.preprocessing.labels import Targets, encode_targets, is_constant_label
from protolabel.preprocessing.splits import MultilabelStratifiedKFold

Method = TypeVar("Method", bound=Callable[..., Any])
DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of held-out rows.

    Parameters
    ----------
    rows : ndarray of int, shape (n_scored,)
        Row of each score; a splitter that holds out a row twice scores it twice.
    scores : ndarray of shape (n_scored, n_labels)
        Decision function or logit.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


def fit_on_all_rows(wrapper: Any, X: Any, y: Any) -> tuple[Targets, Any]:
    """Fit the wrapped estimator and take over what it knows.

    Returns the encoded targets and the form of them that the estimator was given.
    """
    targets = encode_targets(y)
    check_consistent_length(X, targets.matrix)
    if _num_samples(X) < 2:
        raise ValueError("n_samples=1: a model and its decisions need at least 2 rows.")
    passed_on = _targets_for_estimator(wrapper.estimator, y, targets)
    wrapper.estimator_ = clone(wrapper.estimator).fit(X, passed_on)
    for name in ("n_features_in_", "feature_names_in_"):
        vars(wrapper).pop(name, None)
        if hasattr(wrapper.estimator_, name):
            setattr(wrapper, name, getattr(wrapper.estimator_, name))
    wrapper.classes_ = targets.classes
    wrapper.label_names_ = targets.names
    return targets, passed_on


def held_out_scores(
    wrapper: Any, X: Any, y: Any, targets: Targets, groups: ArrayLike | None
) -> HeldOutScores:
    """Fit a clone of the wrapped estimator per inner fold and score the rows of that fold."""
    n_samples, n_labels = targets.matrix.shape
    (X,) = indexable(X)
    splits = list(_splits(X, y, targets, wrapper.cv, wrapper.random_state, groups))
    parts: list[NDArray[np.float64]] = Parallel(n_jobs=wrapper.n_jobs)(
        delayed(_score_fold)(wrapper.estimator, X, y, train=train, test=test, n_labels=n_labels)
        for train, test in splits
    )
    rows = np.concatenate([test for _, test in splits])
    if rows.size == 0:
        raise ValueError(f"cv held out none of the {n_samples} rows; use a splitter that does.")
    return HeldOutScores(rows, np.concatenate(parts))


def score_rows(estimator: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return the decision function, or the logit of the probabilities where there is none."""
    scores = np.asarray(label_scores(estimator, X, n_labels=n_labels), dtype=np.float64)
    if hasattr(estimator, "decision_function"):
        return scores
    logits: NDArray[np.float64] = logit(keep_off_the_ends(scores))
    return logits


def tags_of_wrapper(tags: Tags, estimator: Any) -> Tags:
    """Accept the input and the targets that the wrapped estimator accepts."""
    inner = get_tags(estimator)
    tags.input_tags = inner.input_tags
    if inner.classifier_tags is not None:
        tags.classifier_tags.multi_label = inner.classifier_tags.multi_label
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
    return tags


def offered_if_wrapped(method: str) -> Callable[[Method], Method]:
    """Offer a method only if the wrapped estimator has it."""

    def has_method(self: Any) -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return cast("Callable[[Method], Method]", available_if(has_method))


def _targets_for_estimator(estimator: Any, y: Any, targets: Targets) -> Any:
    """Return the labels in the form that scikit-learn's own classifiers understand."""
    if targets.kind != "multilabel":
        return np.asarray(y).ravel()
    # Most take a single label as a one-dimensional target, and some nothing but columns.
    if targets.matrix.shape[1] == 1 and get_tags(estimator).target_tags.single_output:
        return targets.matrix.toarray().ravel().astype(np.int64)
    if sparse.issparse(y):
        return sparse.csr_matrix(targets.matrix)
    return targets.matrix.toarray().astype(np.int64)


def _splits(
    X: Any, y: Any, targets: Targets, cv: Any, random_state: Any, groups: ArrayLike | None
) -> Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the inner splits; a number of folds means stratified ones."""
    cv = DEFAULT_FOLDS if cv is None else cv
    if not isinstance(cv, Integral):
        if targets.kind == "multilabel" and np.ndim(y) == 1 and not sparse.issparse(y):
            y = targets.matrix.toarray()  # A column, as splitters for several labels expect.
        splits = check_cv(cv).split(X, y, groups)
        return [(np.asarray(train), np.asarray(test)) for train, test in splits]
    n_splits = int(cv)
    if targets.kind != "multilabel":
        per_class = np.asarray(targets.matrix.sum(axis=0)).ravel()
        if targets.kind == "binary":
            per_class = np.append(per_class, targets.matrix.shape[0] - per_class)
        n_splits = min(n_splits, int(per_class.min()))
        if n_splits < 2:
            raise ValueError(
                "a class has fewer than 2 rows, so no model can be tried on rows it has not seen; "
                "add rows of that class or leave it out."
            )
    splitter = MultilabelStratifiedKFold(n_splits, random_state=check_random_state(random_state))
    return splitter.split(np.empty((targets.matrix.shape[0], 0)), targets.matrix, groups)


def _score_fold(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    n_labels: int,
) -> NDArray[np.float64]:
    """Fit on one part, score the other."""
    model = clone(estimator)
    part = _safe_indexing(y, train)
    try:
        model.fit(_safe_indexing(X, train), part)
    except ValueError as error:
        constant = _constant_labels(part)
        if not constant:
            raise
        raise ValueError(
            f"{type(estimator).__name__} cannot be fitted on an inner fold in which label(s) "
            f"{constant} have one class only; wrap it in OneVsRestClassifier, which can, or leave "
            "out labels with fewer than two positive rows."
        ) from error
    return score_rows(model, _safe_indexing(X, test), n_labels)


def _constant_labels(y: Any) -> list[int]:
    """Return the columns of a label matrix that are all 0 or all 1."""
    if not sparse.issparse(y) and np.ndim(y) == 1:
        return [0] if np.unique(y).size == 1 else []
    constant: list[int] = np.flatnonzero(is_constant_label(y)).tolist()
    return constant
