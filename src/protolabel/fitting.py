"""From validated data to a fitted PNML model: scaling, inner folds, training, thresholds."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from protolabel.companions.fusion import fit_fusion
from protolabel.companions.tasks import Fitted, companion_tasks
from protolabel.datasets.matrix_digest import matrix_digest
from protolabel.decision.decision_rule import DecisionRule
from protolabel.decision.tuning import Objective, RuleName, check_rule, tune_thresholds
from protolabel.distillation import student_settings, train_student
from protolabel.fitted_model import FittedModel
from protolabel.pnml.callbacks import Callback, EpochRecord
from protolabel.pnml.checkpoint import Checkpoints
from protolabel.pnml.network import PrototypeNetwork
from protolabel.pnml.rows import FeatureRows, feature_rows
from protolabel.pnml.scoring import NetworkScorer
from protolabel.pnml.settings import PNMLSettings
from protolabel.pnml.trainer import Trainer, TrainingData
from protolabel.preprocessing.features import FeatureScaler, Scaling
from protolabel.preprocessing.labels import is_constant_label
from protolabel.preprocessing.splits import iterative_stratification
from protolabel.row_groups import Groups, groups_at, n_groups
from protolabel.threads import (
    are_worth_threads,
    one_thread_of_blas,
    side_by_side,
    threads_worth_rows,
    usable_threads,
)
from protolabel.torch_state import gradients_on
from protolabel.training_table import (
    MIN_JUDGED_ROWS,
    TrainingTable,
    label_rows,
    label_tensor,
    open_table,
    rows_at,
)
from protolabel.version import __version__

Matrix = Any  # ndarray or CSR of shape (n_samples, n_features)

# With fewer out-of-fold rows it was not tried whether tuned thresholds pay; log-odds of zero are
# kept then.
MIN_ROWS_TO_TUNE_THRESHOLDS = 10
# Companions, their calibration and thresholds use a sample of the rows beyond this many cells,
# of labels or trees.
_MAX_JUDGED_CELLS = 2**24


@dataclass(frozen=True)
class FitOptions:
    """What surrounds the network; :class:`protolabel.PNMLClassifier` documents each one."""

    n_members: int
    cross_fit: bool
    compact: bool
    n_landmarks: int
    n_trees: int
    thresholds: RuleName
    threshold_objective: Objective
    feature_scaling: Scaling
    early_stopping: bool
    validation_fraction: float
    device: str
    seed: int

    def __post_init__(self) -> None:
        for name, smallest in (("n_members", 1), ("n_landmarks", 0), ("n_trees", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < smallest:
                raise ValueError(
                    f"{name}={value!r} cannot be used; expected a whole number from {smallest} on, "
                    "or 'auto'."
                )
        for name in ("cross_fit", "compact", "early_stopping"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} cannot be used; expected True or False."
                )
        check_rule(self.thresholds, self.threshold_objective, parameter="thresholds")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} cannot be used; "
                "expected a share between 0 and 1."
            )


@gradients_on()
def fit_model(
    X: Matrix,
    Y: sp.csr_array,
    settings: PNMLSettings,
    options: FitOptions,
    callbacks: Sequence[Callback] = (),
    checkpoint_dir: Path | None = None,
    groups: Groups = None,
) -> FittedModel:
    """Train an ensemble on scaled features and choose its thresholds on out-of-fold scores.

    Parameters
    ----------
    X : ndarray, CSR or CheckedRows of shape (n_samples, n_features)
    Y : CSR of 0 and 1, shape (n_samples, n_labels)
    settings : PNMLSettings
    options : FitOptions
    callbacks : sequence of Callback, default=()
    checkpoint_dir : Path or None, default=None
        Folder that keeps the state of training after every epoch, and to continue from.
    groups : ndarray of int, shape (n_samples,), or None, default=None
        Rows that are left out together wherever some are.
    """
    device = resolve_device(options.device)
    checkpoints = None
    if checkpoint_dir is not None:
        checkpoints = Checkpoints(
            checkpoint_dir, _fingerprint(X, Y, settings, options, device, groups)
        )
    rng = np.random.default_rng(options.seed)
    held_out = _held_out_rows(Y, options, rng, groups)
    table = open_table(X, ~held_out, settings, options.feature_scaling, device)
    scaler, Y_train = table.scaler, Y[~held_out]
    groups = groups_at(groups, ~held_out)
    folds = _member_folds(Y_train, options, rng, groups)
    data = TrainingData(
        rows=table.rows,
        labels=label_rows(Y_train, settings, device),
        row_weights=_row_weights(folds, options.n_members, device),
        validation_rows=_validation_rows(X, held_out, scaler, device),
        validation_labels=label_tensor(Y[held_out], device) if held_out.any() else None,
    )
    plain = DecisionRule.of(np.zeros(Y.shape[1]))
    student = partial(_compact_model, X, held_out, data, table, settings, options, callbacks)
    has_unseen = bool((folds >= 0).all())
    if options.compact and not has_unseen:
        return student(plain)
    # Start weights are drawn on the CPU, so that they do not depend on the device.
    network = PrototypeNetwork(
        n_features=scaler.n_columns,
        n_labels=Y.shape[1],
        settings=settings,
        n_members=options.n_members,
        generator=torch.Generator().manual_seed(options.seed),
    ).to(device)
    training_generator = torch.Generator(device).manual_seed(options.seed + 1)
    new_trainer = partial(Trainer, network, data, training_generator, callbacks, checkpoints)
    if not has_unseen:
        return FittedModel(network, scaler, plain, new_trainer().fit())
    judged = _judged_rows(Y_train, rng, table.max_judged, options.n_trees)
    Y_judged, groups = Y_train[judged], groups_at(groups, judged)
    # What training and companions alone need is gone when they are done.
    history, fitted = _train_beside(
        new_trainer(), _companions(table, judged, Y_judged, options, rng, groups)
    )
    with threads_worth_rows(Y_train.shape[0]):
        scores = _out_of_fold_scores(network, table.rows, folds, judged)
        fusion = None
        shifts_of_prior: np.ndarray | float = 0.0
        shifts_of_order: np.ndarray | float = 0.0
        if fitted:
            learners = [scores, *(unseen for _, unseen in fitted)]
            with one_thread_of_blas():
                fusion = fit_fusion(learners, Y_judged, rng, groups)
            scores, shifts_of_prior = fusion.combine(learners), fusion.shifts
            if not options.compact:  # A student learns from labels, too, which are not moved.
                fusion, scores = fusion.refined(scores, Y_judged, rng, groups)
                shifts_of_order = fusion.shifts - shifts_of_prior
        decision = _tuned_decision(scores, shifts_of_prior, shifts_of_order, Y_judged, options, rng)
    if options.compact:
        return student(decision, scores, judged)
    companions = tuple(companion for companion, _ in fitted)
    return FittedModel(network, scaler, decision, history, companions, fusion)


def _companions(
    table: TrainingTable,
    judged: np.ndarray | slice,
    Y: sp.csr_array,
    options: FitOptions,
    rng: np.random.Generator,
    groups: Groups,
) -> list[Callable[[int], Fitted]]:
    if not options.n_landmarks and not options.n_trees:
        return []
    sizes = {"n_landmarks": options.n_landmarks, "n_trees": options.n_trees}
    return companion_tasks(table.scaled(judged), Y, rng, groups=groups, **sizes)


def _train_beside(
    trainer: Trainer, tasks: list[Callable[[int], Fitted]]
) -> tuple[tuple[EpochRecord, ...], Fitted]:
    """Train networks, and fit companions: beside them where steps leave threads to others."""
    n_threads = usable_threads()
    if are_worth_threads(trainer.flops_of_step):
        history = trainer.fit()
        found = side_by_side(tasks, n_threads)
    else:
        history, *found = side_by_side([lambda _: trainer.fit(), *tasks], n_threads)
    return history, [one for companions in found for one in companions]


def _compact_model(
    X: Matrix,
    held_out: np.ndarray,
    data: TrainingData,
    table: TrainingTable,
    settings: PNMLSettings,
    options: FitOptions,
    callbacks: Sequence[Callback],
    decision: DecisionRule,
    scores: np.ndarray | None = None,
    judged: np.ndarray | slice = slice(None),
) -> FittedModel:
    """One network in place of the whole, whose scores of unseen rows it learns from, if any."""
    student = student_settings(settings, data.rows.n_rows)
    if options.feature_scaling == "none":
        # Squared distances of columns of any size would be too large to learn from.
        device = data.row_weights.device
        table = open_table(X, ~held_out, student, "auto", device)
        unseen = _validation_rows(X, held_out, table.scaler, device)
        data = replace(data, rows=table.rows, validation_rows=unseen)
    network, history = train_student(data, student, options.seed + 2, callbacks, scores, judged)
    return FittedModel(network, table.scaler, decision, history)


def _validation_rows(
    X: Matrix, held_out: np.ndarray, scaler: FeatureScaler, device: torch.device
) -> FeatureRows | None:
    if not held_out.any():
        return None
    return feature_rows(scaler.transform(rows_at(X, held_out)), device)


def resolve_device(device: str) -> torch.device:
    """Turn "auto" into the GPU if there is one, and refuse a device that is not there."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r} is unknown; use 'auto', 'cpu' or 'cuda'.")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device='cuda' was asked for but no GPU is available; use device='auto'.")
    return torch.device(device)


def _fingerprint(
    X: Matrix,
    Y: sp.csr_array,
    settings: PNMLSettings,
    options: FitOptions,
    device: torch.device,
    groups: Groups,
) -> dict[str, str]:
    """All that the trained network depends on."""
    of_groups = {} if groups is None else {"groups": hashlib.sha256(groups.data).hexdigest()}
    return of_groups | {
        "features": matrix_digest(X),
        "labels": matrix_digest(Y),
        "seed": str(options.seed),
        "settings": hashlib.sha256(repr(asdict(settings)).encode()).hexdigest(),
        "options": hashlib.sha256(repr(asdict(options)).encode()).hexdigest(),
        "device": device.type,
        "protolabel": __version__,
        "torch": torch.__version__,
    }


def _held_out_rows(
    Y: sp.csr_array, options: FitOptions, rng: np.random.Generator, groups: Groups
) -> np.ndarray:
    """Rows that early stopping watches, False everywhere without it."""
    if not options.early_stopping:
        return np.zeros(Y.shape[0], dtype=bool)
    n_apart = n_groups(groups, Y.shape[0])
    if n_apart < 10:
        raise ValueError(
            f"early_stopping=True needs at least 10 {'rows' if groups is None else 'groups'} to "
            f"hold some out, got {n_apart}; use early_stopping=False."
        )
    share = options.validation_fraction
    folds = iterative_stratification(Y, [1 - share, share], rng, groups=groups)
    return np.asarray(folds == 1)


def _member_folds(
    Y: sp.csr_array, options: FitOptions, rng: np.random.Generator, groups: Groups
) -> np.ndarray:
    """Member that must not see each row, -1 where all members see all rows."""
    n_members, everything = options.n_members, np.full(Y.shape[0], -1)
    if not options.cross_fit or n_members < 2 or Y.shape[0] < 2 * n_members:
        return everything
    if n_groups(groups, Y.shape[0]) < 2 * n_members:
        warnings.warn(
            f"{n_groups(groups, Y.shape[0])} groups of rows that belong together, given or copies "
            f"of each other, are too few to leave some of them out of each of the {n_members} "
            f"members, which takes {2 * n_members}: the model has no tuned thresholds, no trees "
            "and no kernels. Give finer groups, or fewer members.",
            UserWarning,
            stacklevel=6,
        )
        return everything
    return iterative_stratification(Y, [1 / n_members] * n_members, rng, groups=groups)


def _row_weights(folds: np.ndarray, n_members: int, device: torch.device) -> torch.Tensor:
    seen = folds[None, :] != np.arange(n_members)[:, None]
    return torch.from_numpy(seen.astype(np.float32)).to(device)


def _judged_rows(
    Y: sp.csr_array, rng: np.random.Generator, max_judged: int, n_trees: int
) -> np.ndarray | slice:
    """Rows that companions, calibration and thresholds see: all, or a sample in their order."""
    n_samples, n_labels = Y.shape
    # Every row has a score of each label, and a leaf in each tree.
    n_judged = min(max(_MAX_JUDGED_CELLS // max(n_labels, n_trees), MIN_JUDGED_ROWS), max_judged)
    if n_samples <= n_judged:
        return slice(None)
    return np.sort(rng.permutation(n_samples)[:n_judged])


def _out_of_fold_scores(
    network: PrototypeNetwork, rows: FeatureRows, folds: np.ndarray, judged: np.ndarray | slice
) -> np.ndarray:
    """The score of each judged row by the member that never saw it."""
    positions, folds = np.arange(len(folds))[judged], folds[judged]
    scores = np.empty((len(folds), network.n_labels))
    for member in range(network.n_members):
        own = np.flatnonzero(folds == member)
        index = torch.from_numpy(positions[own]).to(network.positions.device)
        scorer = NetworkScorer(network, [member])
        scores[own] = scorer.scores(rows.take(index)).cpu().numpy()
    return scores


def _tuned_decision(
    scores: np.ndarray,
    shifts_of_prior: np.ndarray | float,
    shifts_of_order: np.ndarray | float,
    Y: sp.csr_array,
    options: FitOptions,
    rng: np.random.Generator,
) -> DecisionRule:
    """The rule for scores in order, chosen on scores by models that did not see the rows."""
    n_samples, n_labels = Y.shape
    if options.thresholds == "fixed" or n_samples < MIN_ROWS_TO_TUNE_THRESHOLDS:
        return DecisionRule.of(np.zeros(n_labels))
    # Row-wise thresholds tilt along prior odds that are whole, and do not mind the order.
    rowwise = options.thresholds == "rowwise"
    moved = -shifts_of_prior if rowwise else shifts_of_order
    rule = tune_thresholds(
        options.thresholds, scores + moved, Y, objective=options.threshold_objective, rng=rng
    )
    # A label that was never or always there keeps its constant decision.
    decision = rule.decision.shifted(shifts_of_order - moved)
    return decision.with_plain_labels(is_constant_label(Y))
