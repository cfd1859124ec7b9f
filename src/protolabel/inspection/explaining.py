"""Why a PNML model says what it says of one row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from protolabel.classifier import PNMLClassifier
from protolabel.companions.forest import Forest
from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.inspection.attribution import feature_pulls, learner_weights, smooth_gradient
from protolabel.inspection.distances import member_views
from protolabel.inspection.explanation import (
    Contribution,
    Explanation,
    FeaturePull,
    Flip,
    LabelExplanation,
)
from protolabel.inspection.flips import ValueRange, find_flip, value_range
from protolabel.inspection.straight_path import StraightPath
from protolabel.pnml.rows import feature_rows

# Features that a search for a flip may change.
_N_CANDIDATES = 12


def explain(
    model: PNMLClassifier,
    X_row: Any,
    *,
    labels: Iterable[Any] | None = None,
    n_labels: int = 5,
    n_features: int | None = 5,
    flips: bool = True,
    max_changes: int = 5,
    X_train: Any = None,
    n_nearest: int = 3,
    feature_names: Sequence[str] | None = None,
    words: Sequence[Sequence[int]] = (),
) -> Explanation:
    """Explain the probabilities of the labels of one row.

    Parameters
    ----------
    model : PNMLClassifier
        Fitted to multi-label targets.
    X_row : array-like, sparse matrix or data frame
        One row of raw features, of shape (n_features,) or (1, n_features).
    labels : iterable or None, default=None
        Names of labels; None for the most probable ones.
    n_labels : int, default=5
        How many of them.
    n_features : int or None, default=5
        Features to name for each label; None for all.
    flips : bool, default=True
        Look for a small change that turns the decision.
    max_changes : int, default=5
        Largest number of features that it may change; the words of a column count as one.
    X_train : array-like or sparse matrix, default=None
        Training rows. With them an explanation names the rows nearest to the nearest
        prototypes, dense features have a centre to be compared with under any scaling, and
        changes stay within their values.
    n_nearest : int, default=3
        Training rows to name for a prototype.
    feature_names : sequence of str, default=None
        Names of the features; None takes those that the model was fitted with, or numbers.
    words : sequence of sequence of int, default=()
        Positions of features that stand for the words of one column, at most one of which is 1.
        In a flip one word takes the place of another.

    Returns
    -------
    Explanation
        Of each label the contributions of the learners, which add up to its log-odds; the
        distances to the prototypes, which give the score of the networks; the features with the
        strongest pull, which with that of the other labels add up to the difference from the
        baseline; and a flip.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> model = PNMLClassifier(effort="fast", random_state=0).fit(X, (X[:, :2] > 0).astype(int))
    >>> found = explain(model, X[0], labels=[1], feature_names=["a", "b", "c", "d"])
    >>> found.labels[0].pulls[0].name
    'b'
    """
    _check_model(model)
    if n_features is not None and n_features < 0:
        raise ValueError(f"n_features is {n_features}; expected a number of at least 0.")
    row = _one_row(model, X_row)
    chosen = _chosen_labels(model, row, labels, n_labels)
    names = _Names(model, feature_names)
    fitted = model.model_
    row = fitted.in_trained_form(row)
    training = None if X_train is None else fitted.in_trained_form(model._checked(X_train))
    scaled = fitted.scaler.transform(row)
    device = fitted.network.positions.device
    path = StraightPath(_baseline(fitted, training, row), _dense(scaled))
    scores = _learner_scores(fitted, scaled)  # (n_learners, n_labels)
    start_scores = _learner_scores(fitted, _like(scaled, path.start))
    by_sets, start_by_sets = _change_by_sets(fitted, scores), _change_by_sets(fitted, start_scores)
    weights = learner_weights(fitted, chosen)
    views = member_views(
        fitted.network,
        feature_rows(scaled, device),
        chosen,
        None if training is None else feature_rows(fitted.scaler.transform(training), device),
        n_nearest,
    )
    pulls = _by_feature(fitted, feature_pulls(fitted, path, chosen))
    raw = _dense(row)
    found_flips: list[Flip | None] = [None] * len(chosen)
    if flips:
        allowed = value_range(
            raw, fitted.scaler, is_sparse=sp.issparse(row), training_rows=training, words=words
        )
        found_flips = _flips(model, row, path, pulls, chosen, names, allowed, max_changes)
    predicted = _decisions(model, row)
    bars = model.decision_.bars(model._scores(row))[0]
    sets = None if fitted.fusion is None else fitted.fusion.set_prototypes
    learners = ["networks", *(_learner_name(companion) for companion in fitted.companions)]
    explained = []
    for place, label in enumerate(chosen):
        intercept = _intercept(fitted, int(label))
        contributions = tuple(
            Contribution(learner, float(score), float(weight))
            for learner, score, weight in zip(
                learners, scores[:, label], weights[:, place], strict=True
            )
        )
        if sets is not None:
            change = float(by_sets[label])
            contributions += (Contribution("label sets", change / sets.weight, sets.weight),)
        log_odds = intercept + sum(part.log_odds for part in contributions)
        strongest = np.argsort(-np.abs(pulls[place]), kind="stable")[:n_features]
        strongest = strongest[pulls[place, strongest] != 0]
        baseline = _raw_baseline(fitted, training, path)
        explained.append(
            LabelExplanation(
                label=str(model.label_names_[label]),
                log_odds=log_odds,
                probability=float(expit(log_odds)),
                threshold=float(bars[label]),
                is_predicted=bool(predicted[label]),
                intercept=intercept,
                contributions=contributions,
                members=views[place],
                pulls=tuple(
                    FeaturePull(
                        int(feature),
                        names(int(feature)),
                        float(raw[feature]),
                        float(baseline[feature]),
                        float(pulls[place, feature]),
                    )
                    for feature in strongest
                ),
                other_pulls=float(pulls[place].sum() - pulls[place, strongest].sum()),
                other_labels=float(by_sets[label] - start_by_sets[label]),
                baseline_log_odds=float(
                    intercept + weights[:, place] @ start_scores[:, label] + start_by_sets[label]
                ),
                flip=found_flips[place],
            )
        )
    return Explanation(
        tuple(explained),
        n_labels=len(model.label_names_),
        baseline=_baseline_text(fitted, training, row),
        looked_for_flips=flips,
    )


class _Names:
    """Names of features by their position."""

    def __init__(self, model: PNMLClassifier, given: Sequence[str] | None) -> None:
        if given is not None and len(given) != model.n_features_in_:
            raise ValueError(
                f"feature_names has {len(given)} names but the model was fitted with "
                f"{model.n_features_in_} features; pass one name a feature."
            )
        self.names = getattr(model, "feature_names_in_", None) if given is None else given

    def __call__(self, feature: int) -> str:
        return f"feature {feature}" if self.names is None else str(self.names[feature])


def _check_model(model: Any) -> None:
    if not isinstance(model, PNMLClassifier):
        raise TypeError(
            f"explain got a {type(model).__name__}; expected a PNMLClassifier, as it shows the "
            "parts of one."
        )
    check_is_fitted(model)
    if model._kind != "multilabel":
        raise ValueError(
            "explain is for multi-label models; this one was fitted to one class per row. Fit it "
            "to a 0/1 matrix with a column for each class."
        )


def _one_row(model: PNMLClassifier, X_row: Any) -> Any:
    if sp.issparse(X_row) and X_row.ndim == 1:
        X_row = X_row.reshape(1, -1).tocsr()
    elif not sp.issparse(X_row) and np.ndim(X_row) == 1:
        # A row of a pandas frame brings the names of its features.
        is_named = hasattr(X_row, "index") and hasattr(X_row, "to_frame")
        X_row = X_row.to_frame().T if is_named else np.asarray(X_row)[None]
    row = model._checked(X_row)
    if row.shape[0] != 1:
        raise ValueError(f"X_row has {row.shape[0]} rows; explain takes one at a time.")
    return row


def _chosen_labels(
    model: PNMLClassifier, row: Any, labels: Iterable[Any] | None, n_labels: int
) -> np.ndarray:
    """Positions of the labels to explain."""
    if labels is None:
        if n_labels < 1:
            raise ValueError(f"n_labels is {n_labels}; expected at least 1 label to explain.")
        return np.argsort(-model._scores(row)[0], kind="stable")[:n_labels]
    found = [_position(model, label) for label in labels]
    if not found:
        raise ValueError("labels is empty; name at least one label to explain, or leave it out.")
    return np.array(found, dtype=np.intp)


def _position(model: PNMLClassifier, label: Any) -> int:
    """Position of a label by its name, or by the text of its name where no other one has it."""
    names = model.label_names_.tolist()
    own = [position for position, name in enumerate(names) if name == label]
    found = own or [position for position, name in enumerate(names) if str(name) == str(label)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"{len(found)} labels of the model are written {label!r}; give the name itself, one of "
            f"{[names[position] for position in found]}."
        )
    known = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")
    raise ValueError(f"The model has no label {label!r}; its {len(names)} labels are {known}.")


def _flips(
    model: PNMLClassifier,
    row: Any,
    path: StraightPath,
    pulls: np.ndarray,
    chosen: np.ndarray,
    names: _Names,
    allowed: ValueRange,
    max_changes: int,
) -> list[Flip | None]:
    raw, is_sparse = _dense(row), sp.issparse(row)
    fitted = model.model_
    gradients = _by_feature(fitted, np.abs(smooth_gradient(fitted, path.end, chosen)))
    reach = np.nanmax(np.abs(allowed.values - raw), axis=0) / allowed.unit

    def scores_of(rows: np.ndarray) -> np.ndarray:
        return np.asarray(fitted.scores(sp.csr_array(rows) if is_sparse else rows))

    found = []
    for place, label in enumerate(chosen):
        features = np.union1d(
            np.argsort(-np.abs(pulls[place]), kind="stable")[:_N_CANDIDATES],
            np.argsort(-gradients[place] * reach, kind="stable")[:_N_CANDIDATES],
        )

        def score(rows: np.ndarray, label: int = int(label)) -> np.ndarray:
            return np.asarray(scores_of(rows)[:, label])

        def margin(rows: np.ndarray, label: int = int(label)) -> np.ndarray:
            scores = scores_of(rows)
            return np.asarray((scores - model.decision_.bars(scores))[:, label])

        flip = find_flip(score, margin, raw, allowed, features, names, max_changes)
        found.append(flip if flip is not None and _turns(model, row, flip, int(label)) else None)
    return found


def _turns(model: PNMLClassifier, row: Any, flip: Flip, label: int) -> bool:
    """Whether the model really decides otherwise, with all of its rules."""
    changed = _dense(row).copy()
    for change in flip.changes:
        changed[change.feature] = change.after
    given = sp.csr_array(changed[None]) if sp.issparse(row) else changed[None]
    return bool(_decisions(model, given)[label] != _decisions(model, row)[label])


def _decisions(model: PNMLClassifier, row: Any) -> np.ndarray:
    """What the model predicts of a row that was checked."""
    return np.asarray(model._decide(model._scores(row))[0])


def _learner_scores(fitted: Any, scaled: Any) -> np.ndarray:
    """Score of each learner for every label of one scaled row, (n_learners, n_labels)."""
    network = fitted.network
    rows = feature_rows(scaled, network.positions.device)
    own = network.average_members(network.member_logits(rows)).cpu().numpy()
    others = [companion.scores(scaled) for companion in fitted.companions]
    # Labels that were added after training are the last ones, and unknown to companions.
    missing = [((0, 0), (0, own.shape[1] - scores.shape[1])) for scores in others]
    padded = [np.pad(scores, width) for scores, width in zip(others, missing, strict=True)]
    return np.vstack([own.astype(np.float64), *padded])


def _change_by_sets(fitted: Any, scores: np.ndarray) -> np.ndarray:
    """What the sets of labels add to the log-odds of one row, (n_labels,)."""
    fusion = fitted.fusion
    change = np.zeros((1, scores.shape[1]))
    if fusion is not None:
        change += fusion.change_by_sets(fusion.one_by_one(list(scores[:, None])))
    return np.asarray(change[0])


def _intercept(fitted: Any, label: int) -> float:
    fusion = fitted.fusion
    if fusion is None or not fusion.learned[label]:
        return 0.0
    return float((fusion.intercept + np.broadcast_to(fusion.shifts, fusion.learned.shape))[label])


def _learner_name(companion: Any) -> str:
    if isinstance(companion, PrototypeForest):
        return "prototype forest"
    return "forest" if isinstance(companion, Forest) else "kernel regression"


def _baseline(fitted: Any, training: Any, row: Any) -> np.ndarray:
    """Scaled values that features are compared with."""
    if fitted.scaler.columns_ is not None:
        return np.asarray(fitted.scaler.transform(fitted.scaler.columns_.middle[None])[0])
    if training is not None and not sp.issparse(row):
        return np.asarray(fitted.scaler.transform(training).mean(axis=0), dtype=np.float64)
    # Standardised features have their mean at zero; of other ones, zero is absence.
    return np.zeros(fitted.scaler.n_columns)


def _raw_baseline(fitted: Any, training: Any, path: StraightPath) -> np.ndarray:
    """The same in raw units, where the scaling of a column can be undone."""
    if fitted.scaler.columns_ is not None:
        return np.asarray(fitted.scaler.columns_.middle)
    if fitted.scaler.scaling_ == "standard":
        return np.asarray(path.start / fitted.scaler.weight_ + fitted.scaler.offset_)
    if training is not None and not sp.issparse(training):
        return np.asarray(training.mean(axis=0), dtype=np.float64)
    return path.start


def _baseline_text(fitted: Any, training: Any, row: Any) -> str:
    if fitted.scaler.columns_ is not None:
        return "training median"
    is_centred = fitted.scaler.scaling_ == "standard" and not sp.issparse(row)
    if is_centred or (training is not None and not sp.issparse(row)):
        return "training mean"
    return "zero"


def _by_feature(fitted: Any, columns: np.ndarray) -> np.ndarray:
    """Sums over the scaled columns of each feature, (n_wanted, n_features)."""
    feature_of = fitted.scaler.feature_of_column
    return np.stack([np.bincount(feature_of, weights=row) for row in columns])


def _dense(row: Any) -> np.ndarray:
    """One row of a matrix as a vector."""
    values = row.toarray() if sp.issparse(row) else np.asarray(row)
    return np.asarray(values[0], dtype=np.float64)


def _like(scaled: Any, values: np.ndarray) -> Any:
    """A vector as a matrix of the kind of another."""
    return sp.csr_array(values[None]) if sp.issparse(scaled) else values[None]
