"""PNML as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from protolabel.automatic import TableShape, automatic_learning_rate, automatic_parameters
from protolabel.datasets.row_source import CheckedRows
from protolabel.decision.decision_rule import DecisionRule
from protolabel.decision.tuning import Objective, RuleName
from protolabel.fitting import FitOptions, fit_model
from protolabel.growing import GrowingClassifier
from protolabel.pnml.callbacks import Callback, EpochLogger, EpochRecord
from protolabel.pnml.checkpoint import stored_seed
from protolabel.pnml.label_prototypes import LabelPrototypes, label_prototypes, prototype_counts
from protolabel.pnml.settings import PNMLSettings
from protolabel.preprocessing.features import Scaling, compressed_texts
from protolabel.preprocessing.labels import Targets
from protolabel.presets import PAPER
from protolabel.row_groups import Groups, groups_of_copies, numbered_groups


class PNMLClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GrowingClassifier):
    """Prototypical network for multi-label learning.

    One non-linear embedding is shared by all labels. Each label has a positive and a negative
    component, described by prototypes, and a metric of its own; the probability of the label
    follows from the distances of a row to the two components.

    The default values are the recommended configuration; :meth:`paper` gives the one of the
    paper. Both take raw features.

    Parameters
    ----------
    prototypes : {"auto", "single", "multiple"}, default="auto"
        One mean per component, or as many as an adaptive clustering finds. ``"auto"`` takes
        multiple prototypes for dense and single ones for sparse input at balanced effort, and
        single ones where rows times labels are more than 16 million or rows stay on disk.
    effort : {"fast", "balanced", "best"}, default="balanced"
        What ``"auto"`` means for ``prototypes``, ``n_members``, ``n_landmarks``, ``n_trees`` and
        ``batch_size``:
        3 networks with single prototypes and no companions; 5 networks and 200 trees; or
        10 networks with multiple prototypes and 600 trees. All rows that companions learn from,
        10 000 at the most, are landmarks; where these have more than 33 million values, of
        sparse input 240 million, or are more than 6000 rows on disk, 2000 or 5000 of them.
        ``"best"`` has smaller batches of many rows.
    embedding_dim : int or "auto", default="auto"
        Dimension M of the embedding; ``"auto"`` is 72 up to 200 features, else 128 (Eq. 14).
    hidden_dim : int or None, default=None
        Width of an extra hidden layer before the embedding layer.
    negative_slope : float, default=0.2
        Slope beta of LeakyReLU.
    weight_init : {"uniform", "glorot"}, default="uniform"
        Start of the embedding: uniform within 1 / sqrt(n_features), or Glorot's rule with zero
        biases, the default of the library that the paper used.
    shared_embedding : bool, default=True
        False gives every label an embedding of its own (PNML-I).
    metric : {"mahalanobis", "euclidean"}, default="mahalanobis"
        Learned metric per label (Eq. 10), or the plain distance (PNML-D).
    metric_rank : int, "auto" or None, default="auto"
        Rows of each metric U_k; None for a full square matrix. ``"auto"`` is 1024 / n_labels
        between 6 and 16, and at most the dimension of the embedding.
    squared_distance : bool, default=False
        Leave out the square root of Eq. 10.
    class_prior : {"learned", "empirical", "uniform"}, default="learned"
        Prior log-odds of each label: learned from their empirical start, fixed there, or zero
        as in the paper.
    mixing : {"uniform", "empirical"}, default="uniform"
        Weights of the prototypes of a component: equal (Eq. 8) or by their share of rows.
    concentration : float, default=0.1
        Concentration alpha of Eq. 7; larger values give more prototypes.
    cluster_variance : {"effective", "within", "trainable"} or float, default="effective"
        Cluster variance sigma of Eq. 7: from the dimensions that the embedding really
        occupies, from all of its dimensions, a trained parameter, or a fixed value.
    assignment_temperature : float or None, default=None
        Divisor of the squared distances in the soft assignment; None for twice the variance.
    max_prototypes : int, default=20
        Largest number of prototypes of a component.
    max_negative_prototypes : int or None, default=None
        The same for negative components, the rows without a label; None for
        ``max_prototypes``. Fewer of them take less time in training.
    n_clustering : int, default=1
        Rounds of growth and re-estimation (``ite_clustering``).
    prototype_update : {"step", "epoch", "stale"}, default="stale"
        ``"step"`` clusters anew at every step; ``"epoch"`` clusters once per epoch and follows
        the embeddings in between; ``"stale"`` computes the prototypes once per epoch and
        leaves the gradient to the query rows. Single prototypes are recomputed at every step
        in the first two.
    prototype_interval : int, default=1
        Training steps from one computation of the prototypes to the next, and epochs from one
        assignment of rows to clusters to the next; those between use prototypes, the gradient
        that goes back through them, and clusters as they are. For ``prototype_update``
        ``"epoch"`` or ``"step"``, where more than 1 takes less time.
    positive_rate, negative_rate : float, default=1.0
        Share of a component's rows that a step averages; at least one row is always drawn.
        Without effect on ``"stale"`` prototypes.
    support_size : int or None, default=None
        Rows, the batch among them, that a step computes its prototypes from; None for all.
    leave_one_out : bool, default=False
        Take a training row out of the mean it is compared with (single prototypes).
    metric_penalty : float, default=0.0
        Weight lambda_1 of the squared norm of the metrics (Eq. 11), divided by the number of
        labels where the cross-entropy is.
    correlation_penalty : float, default=0.0
        Weight lambda_2 of the label-correlation regulariser (Eq. 12).
    correlation : {"inner", "cosine"}, default="inner"
        The regulariser as printed, or its bounded form.
    loss_reduction : {"rows", "cells"}, default="rows"
        Cross-entropy summed over labels and averaged over rows, or averaged over both.
    input_dropout, embedding_dropout : float, default=0.2 and 0.5
        Share of features and of embedding coordinates dropped during training.
    learning_rate : float or "auto", default="auto"
        Learning rate of Adam, the peak of the one-cycle schedule; ``"auto"`` is 3e-3, and with
        that schedule up to twice as much, in proportion, for batches of more than 256 rows.
    schedule : {"one_cycle", "constant"}, default="one_cycle"
        Course of the learning rate.
    batch_size : int or "auto", default="auto"
        Query rows of a training step; ``"auto"`` is 128, or 256 where ``"auto"`` means single
        prototypes and there are at least 1000 rows, or 512 of at least 5000 rows, but
        with effort ``"best"``.
    max_epochs : int or "auto", default="auto"
        Passes over the training rows; ``"auto"`` is 64000 / n_samples between 10 and 40.
    n_members : int or "auto", default="auto"
        Networks trained side by side, whose log-odds are averaged; see ``effort``.
    cross_fit : bool, default=True
        Train each member without its own part of the rows, which gives honest scores of all
        training rows to choose thresholds with. Needs two members and twice as many rows.
    compact : bool, default=False
        Keep one small network in place of all networks and companions. It learns from the
        labels and from what these say of rows they have not seen, predicts at the rate of a
        perceptron of 128 hidden units, and keeps no training rows. What gives networks their
        form, batches and learning rate is for those of the whole; it has its own, up to four
        times the epochs, and scaled features also with ``feature_scaling="none"``. Without
        ``cross_fit``, or two members, or twice as many rows, it learns from labels alone.
    n_landmarks : int or "auto", default="auto"
        Landmarks of a kernel regression whose calibrated log-odds are pooled with those of
        the networks, see :mod:`protolabel.companions`; 0 for none. ``"auto"`` follows
        ``effort`` up to 1000 labels, beyond is 0. Only with ``cross_fit``.
    n_trees : int or "auto", default="auto"
        Trees of a random forest, used in the same way. Sparse input has that many prototype
        trees and half as many of the random forest, and ``"auto"`` is a fourth.
    thresholds : {"rowwise", "prior_tilted", "global", "per_label", "cardinality", "fixed"}, \
            default="rowwise"
        Decision thresholds of a multi-label target, tuned on the out-of-fold scores of
        ``cross_fit`` when there are at least 10 rows: along the priors and the F1 of the
        labels with a handicap behind the best label of a row, along the priors alone, one for
        all, one per label, or such that the mean number of labels is kept. ``"fixed"``, and
        what holds without those scores, are log-odds of zero.
    threshold_objective : {"balanced", "accuracy", "micro_f1", "macro_f1"}, default="balanced"
        What tuned thresholds maximise; ``"balanced"`` is the sum of the three others.
    at_least_one : bool, default=False
        Give a row that would get no label the one closest to its threshold.
    feature_scaling : {"tabular", "auto", "standard", "text", "unit", "none"}, default="tabular"
        Input scaling, see :class:`protolabel.preprocessing.features.FeatureScaler`. Dense rows
        in memory that the first two take for texts are treated as the same rows in a sparse
        matrix.
    early_stopping : bool, default=False
        Hold out ``validation_fraction`` of the rows and stop when their log-loss has not
        fallen for ``n_iter_no_change`` epochs; the best epoch is kept.
    validation_fraction : float, default=0.1
        Share of rows held out by ``early_stopping``.
    n_iter_no_change : int, default=5
        Patience of ``early_stopping``.
    callbacks : sequence of Callback or None, default=None
        Objects with hooks that see each epoch, see :class:`protolabel.pnml.callbacks.Callback`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; ``"auto"`` takes a GPU if there is one.
    random_state : int, RandomState instance or None, default=None
        Seed of weights, batches, samples and folds.
    verbose : bool, default=False
        Log every epoch to the logger ``protolabel``.

    Attributes
    ----------
    classes_ : ndarray
        Label numbers, or the classes of a one-dimensional target.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels, from a frame or label sets where such were given.
    n_prototypes_ : ndarray of shape (n_members, n_labels, 2)
        Number of prototypes of the negative and the positive component of each label.
    thresholds_ : ndarray of shape (n_labels,)
        Log-odds that a label has to exceed.
    decision_ : DecisionRule
        The thresholds, and the handicap of labels behind the best one of their row.
    history_ : tuple of EpochRecord
        Losses of every epoch.
    model_ : FittedModel
        Network, input scaling and thresholds.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.

    References
    ----------
    Z. Yang, Y. Han, G. Yu, Q. Yang, X. Zhang: Prototypical Networks for Multi-Label Learning.
    AAAI 2021.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = (X[:, :2] > 0).astype(int)
    >>> model = PNMLClassifier(random_state=0).fit(X, Y)
    >>> model.predict(X[:3]).shape
    (3, 2)
    """

    _reads_sources: ClassVar[bool] = True

    def __init__(
        self,
        prototypes: Literal["auto", "single", "multiple"] = "auto",
        *,
        effort: Literal["fast", "balanced", "best"] = "balanced",
        embedding_dim: int | Literal["auto"] = "auto",
        hidden_dim: int | None = None,
        negative_slope: float = 0.2,
        weight_init: Literal["uniform", "glorot"] = "uniform",
        shared_embedding: bool = True,
        metric: Literal["mahalanobis", "euclidean"] = "mahalanobis",
        metric_rank: int | Literal["auto"] | None = "auto",
        squared_distance: bool = False,
        class_prior: Literal["learned", "empirical", "uniform"] = "learned",
        mixing: Literal["uniform", "empirical"] = "uniform",
        concentration: float = 0.1,
        cluster_variance: Literal["effective", "within", "trainable"] | float = "effective",
        assignment_temperature: float | None = None,
        max_prototypes: int = 20,
        max_negative_prototypes: int | None = None,
        n_clustering: int = 1,
        prototype_update: Literal["step", "epoch", "stale"] = "stale",
        prototype_interval: int = 1,
        positive_rate: float = 1.0,
        negative_rate: float = 1.0,
        support_size: int | None = None,
        leave_one_out: bool = False,
        metric_penalty: float = 0.0,
        correlation_penalty: float = 0.0,
        correlation: Literal["inner", "cosine"] = "inner",
        loss_reduction: Literal["rows", "cells"] = "rows",
        input_dropout: float = 0.2,
        embedding_dropout: float = 0.5,
        learning_rate: float | Literal["auto"] = "auto",
        schedule: Literal["one_cycle", "constant"] = "one_cycle",
        batch_size: int | Literal["auto"] = "auto",
        max_epochs: int | Literal["auto"] = "auto",
        n_members: int | Literal["auto"] = "auto",
        cross_fit: bool = True,
        compact: bool = False,
        n_landmarks: int | Literal["auto"] = "auto",
        n_trees: int | Literal["auto"] = "auto",
        thresholds: RuleName = "rowwise",
        threshold_objective: Objective = "balanced",
        at_least_one: bool = False,
        feature_scaling: Scaling = "tabular",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        callbacks: Sequence[Callback] | None = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.prototypes = prototypes
        self.effort = effort
        self.embedding_dim = embedding_dim
        self.hidden_dim = hidden_dim
        self.negative_slope = negative_slope
        self.weight_init = weight_init
        self.shared_embedding = shared_embedding
        self.metric = metric
        self.metric_rank = metric_rank
        self.squared_distance = squared_distance
        self.class_prior = class_prior
        self.mixing = mixing
        self.concentration = concentration
        self.cluster_variance = cluster_variance
        self.assignment_temperature = assignment_temperature
        self.max_prototypes = max_prototypes
        self.max_negative_prototypes = max_negative_prototypes
        self.n_clustering = n_clustering
        self.prototype_update = prototype_update
        self.prototype_interval = prototype_interval
        self.positive_rate = positive_rate
        self.negative_rate = negative_rate
        self.support_size = support_size
        self.leave_one_out = leave_one_out
        self.metric_penalty = metric_penalty
        self.correlation_penalty = correlation_penalty
        self.correlation = correlation
        self.loss_reduction = loss_reduction
        self.input_dropout = input_dropout
        self.embedding_dropout = embedding_dropout
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.n_members = n_members
        self.cross_fit = cross_fit
        self.compact = compact
        self.n_landmarks = n_landmarks
        self.n_trees = n_trees
        self.thresholds = thresholds
        self.threshold_objective = threshold_objective
        self.at_least_one = at_least_one
        self.feature_scaling = feature_scaling
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.callbacks = callbacks
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(
        cls, prototypes: Literal["single", "multiple"] = "multiple", **overrides: Any
    ) -> PNMLClassifier:
        """Return the configuration of the paper, PNML-single or PNML-multiple.

        The paper searches ``metric_penalty``, ``correlation_penalty`` and ``concentration`` on
        each dataset; the values here are one point of its grids.

        Parameters
        ----------
        prototypes : {"single", "multiple"}, default="multiple"
        **overrides
            Any parameter of the classifier, in place of the paper's value.

        Examples
        --------
        >>> PNMLClassifier.paper(prototypes="single", random_state=0).class_prior
        'uniform'
        """
        return cls(prototypes, **({**PAPER, **overrides}))

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: ArrayLike | None = None,
        checkpoint_dir: str | PathLike[str] | None = None,
    ) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or RowSource of shape (n_samples, n_features)
            Raw features. What :func:`protolabel.datasets.open_rows` opens stays on disk, and so
            do memory-mapped arrays of more than 256 MB.
        y : array-like, sparse matrix or data frame of shape (n_samples, n_labels), or list
            A 0/1 label matrix, a list or series of label sets, or one class per row.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as copies of a row or several measures of a person.
            Thresholds and all else that is chosen on unseen rows come from models that saw no
            row of the same group. With None, equal rows of a dense table in memory are groups
            where at least 5 % have a copy and two columns each tell most of the others apart.
        checkpoint_dir : str, path or None, default=None
            Folder that keeps the state of training after every epoch; after every
            ``prototype_interval``-th and the last one where clusters are held for so many. When
            the process is killed, the same call continues behind the last one kept and ends with
            the same model as an undisturbed fit; only the one network of ``compact`` is trained
            anew. Callbacks only see the epochs that are run. The folder is kept; a fit to other
            data or with other parameters refuses it. With ``random_state=None`` the seed of the
            folder is used.
        """
        folder = None if checkpoint_dir is None else Path(checkpoint_dir)
        return self._fit_checked(X, y, groups=groups, checkpoint_dir=folder)

    def _fit(
        self,
        X: Any,
        targets: Targets,
        groups: ArrayLike | None = None,
        checkpoint_dir: Path | None = None,
    ) -> None:
        seed = None
        if checkpoint_dir is not None and self.random_state is None:
            seed = stored_seed(checkpoint_dir)
        if seed is None:
            seed = check_random_state(self.random_state).randint(2**31 - 2)
        self._stream = None
        X = compressed_texts(X, self.feature_scaling)
        callbacks = list(self.callbacks or ())
        if self.verbose:
            callbacks.append(EpochLogger())
        self.model_ = fit_model(
            X,
            targets.matrix,
            self._settings(X, targets.matrix.shape[1]),
            self._options(X, targets, seed),
            callbacks,
            checkpoint_dir,
            _row_groups(X, groups),
        )

    def _scores(self, X: Any) -> np.ndarray:
        return self.model_.scores(X)

    def _decide(self, scores: np.ndarray) -> np.ndarray:
        return self.decision_.decide(scores, at_least_one=self.at_least_one)

    def transform(self, X: Any) -> np.ndarray:
        """Embeddings of rows, those of all members side by side."""
        rows = self._checked(X, may_stay_on_disk=True)
        if isinstance(rows, CheckedRows):
            return np.concatenate([self.model_.embeddings(part) for part in rows.parts()])
        return self.model_.embeddings(rows)

    @property
    def thresholds_(self) -> np.ndarray:
        """Log-odds that each label has to exceed."""
        return self.decision_.thresholds

    @property
    def decision_(self) -> DecisionRule:
        """Thresholds, and the handicap of labels behind the best one of their row."""
        check_is_fitted(self)
        return self.model_.decision

    @property
    def history_(self) -> tuple[EpochRecord, ...]:
        """Losses of every epoch."""
        check_is_fitted(self)
        return self.model_.history

    @property
    def n_prototypes_(self) -> np.ndarray:
        """Number of prototypes of the negative and the positive component of each label."""
        check_is_fitted(self)
        return prototype_counts(self.model_.network)

    @property
    def prototypes_(self) -> list[LabelPrototypes]:
        """Prototypes of every label in every member, in the space of ``transform``."""
        check_is_fitted(self)
        return label_prototypes(self.model_.network, list(self.label_names_))

    @property
    def _n_features_out(self) -> int:
        network = self.model_.network
        return int(network.n_slices * network.settings.embedding_dim)

    def _settings(self, X: Any, n_labels: int) -> PNMLSettings:
        """Hyper-parameters of the network with every "auto" resolved for this input."""
        values = self._resolved([f.name for f in fields(PNMLSettings)], X, n_labels)
        # Some rules follow other parameters, which have to be checked first.
        followers: dict[str, Any] = {}
        rank = values["metric_rank"]
        if self.metric_rank == "auto":
            values["metric_rank"] = None
        settings = PNMLSettings(**values)
        if self.metric_rank == "auto":
            followers["metric_rank"] = min(rank, settings.embedding_dim)
        if self.learning_rate == "auto" and settings.schedule == "one_cycle":
            followers["learning_rate"] = automatic_learning_rate(settings.batch_size)
        return replace(settings, **followers)

    def _options(self, X: Any, targets: Targets, seed: int) -> FitOptions:
        """What surrounds the network, likewise."""
        if not isinstance(self.at_least_one, (bool, np.bool_)):
            raise ValueError(
                f"at_least_one={self.at_least_one!r} cannot be used; expected True or False."
            )
        names = [f.name for f in fields(FitOptions) if f.name != "seed"]
        values = self._resolved(names, X, targets.matrix.shape[1])
        if targets.kind != "multilabel":
            # A one-dimensional target is decided by its largest probability.
            values["thresholds"] = "fixed"
        return FitOptions(**values, seed=seed)

    def _resolved(self, names: Sequence[str], X: Any, n_labels: int) -> dict[str, Any]:
        automatic = automatic_parameters(self.effort, TableShape.of(X, n_labels))
        given = {name: getattr(self, name) for name in names}
        return {
            name: automatic[name] if value == "auto" and name in automatic else value
            for name, value in given.items()
        }


def _row_groups(X: Any, groups: ArrayLike | None) -> Groups:
    """The groups that were given, or those of copies of rows."""
    if groups is not None:
        return numbered_groups(groups, X.shape[0])
    return groups_of_copies(X) if isinstance(X, np.ndarray) else None
