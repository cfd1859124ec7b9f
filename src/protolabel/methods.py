"""Every method by name: how to build it, where to search for its settings, what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from protolabel.baselines.binary_relevance import BinaryRelevanceMLP
from protolabel.baselines.camel import CAMEL
from protolabel.baselines.jfsc import JFSC
from protolabel.baselines.ml_knn import MLkNN
from protolabel.baselines.mltsvm import MLTSVM
from protolabel.baselines.parabel import Parabel
from protolabel.classifier import PNMLClassifier
from protolabel.peers import (
    BoomerPeer,
    ClassifierChainEnsemble,
    ExtraTreesPeer,
    LogisticRegressionPeer,
    MultilabelMLP,
    RandomForestPeer,
    XGBoostPeer,
)

Space = Mapping[str, Sequence[Any]]
# What GridScores yields: parameters, scores and predictions of one combination.
GridResult = tuple[dict[str, Any], Any, Any]
GridScores = Callable[[Any, Space, Any, Any, Any], Iterable[GridResult]]

# The paper prints {1e-7, 5e-6, 1e-6, 5e-6, ...}; the second entry can only be 5e-7.
LOSS_WEIGHTS = (1e-7, 5e-7, 1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
CONCENTRATIONS = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0)
NEIGHBOURS = tuple(range(3, 22, 2))
POWERS_OF_TWO = tuple(2.0**exponent for exponent in range(-6, 5))
POWERS_OF_FOUR = tuple(4.0**exponent for exponent in range(-5, 6))


@dataclass(frozen=True)
class Method:
    """A named method.

    Parameters
    ----------
    name : str
        What it is called in commands and records.
    title : str
        What it is called in tables.
    build : callable
        Makes the estimator from parameters.
    space : mapping of parameter to values, default={}
        The full search grid: the paper's, or that of the method's own authors.
    coarse_space : mapping of parameter to values, default={}
        The few points of it that matter, for searches on a small machine.
    published_title : str or None, default=None
        Row of the published table to compare with.
    grid_scores : callable or None, default=None
        A way through a whole grid that shares its expensive part: called with an estimator,
        a grid, rows, their labels and rows to score.
    shared_parameters : tuple of str, default=()
        The parameters that such a grid may be of.
    """

    name: str
    title: str
    build: Callable[..., Any]
    space: Space = field(default_factory=dict)
    coarse_space: Space = field(default_factory=dict)
    published_title: str | None = None
    grid_scores: GridScores | None = None
    shared_parameters: tuple[str, ...] = ()


def _paper(prototypes: str, **fixed: Any) -> Callable[..., Any]:
    def build(**params: Any) -> PNMLClassifier:
        return PNMLClassifier.paper(**({"prototypes": prototypes} | fixed | params))

    return build


def _with(estimator: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    def build(**params: Any) -> Any:
        return estimator(**(fixed | params))

    return build


def _neighbour_grid(estimator: Any, grid: Space, X: Any, Y: Any, X_new: Any) -> list[GridResult]:
    points = estimator.scores_for_grid(X, Y, X_new, grid["n_neighbors"])
    return [
        ({"n_neighbors": point.n_neighbors}, point.scores, point.predictions) for point in points
    ]


def _kernel_grid(estimator: Any, grid: Space, X: Any, Y: Any, X_new: Any) -> Iterable[GridResult]:
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    found = estimator.scores_for_grid(X, Y, X_new, points)
    for point, scores in zip(points, found, strict=True):
        yield point, scores, (scores > 0).astype(int)


_METRIC_PENALTY: dict[str, Sequence[Any]] = {"metric_penalty": LOSS_WEIGHTS}
_CORRELATION_PENALTY: dict[str, Sequence[Any]] = {"correlation_penalty": LOSS_WEIGHTS}
_CONCENTRATION: dict[str, Sequence[Any]] = {"concentration": CONCENTRATIONS}
# Ends and middle. The label-correlation regulariser is left out: in its grid it changes nothing.
_FEW_PENALTIES: dict[str, Sequence[Any]] = {"metric_penalty": (1e-7, 5e-5, 1e-2)}
_FEW_CONCENTRATIONS: dict[str, Sequence[Any]] = {"concentration": (1e-4, 0.1, 1.0)}

_PNML = (
    Method("pnml", "PNML (recommended)", PNMLClassifier),
    Method("pnml-fast", "PNML (fast)", _with(PNMLClassifier, effort="fast")),
    Method("pnml-compact", "PNML (compact)", _with(PNMLClassifier, compact=True)),
    Method("pnml-best", "PNML (best)", _with(PNMLClassifier, effort="best")),
    Method(
        "pnml-single",
        "PNML-single",
        _paper("single"),
        _METRIC_PENALTY | _CORRELATION_PENALTY,
        _FEW_PENALTIES,
        "PNML-single",
    ),
    Method(
        "pnml-multiple",
        "PNML-multiple",
        _paper("multiple"),
        _METRIC_PENALTY | _CONCENTRATION | _CORRELATION_PENALTY,
        _FEW_PENALTIES | _FEW_CONCENTRATIONS,
        "PNML-multiple",
    ),
    Method(
        "pnml-i",
        "PNML-I",
        _paper("multiple", shared_embedding=False, correlation_penalty=0.0),
        _METRIC_PENALTY | _CONCENTRATION,
        _FEW_PENALTIES | _FEW_CONCENTRATIONS,
        "PNML-I",
    ),
    Method(
        "pnml-d",
        "PNML-D",
        _paper("multiple", metric="euclidean", metric_penalty=0.0),
        _CONCENTRATION | _CORRELATION_PENALTY,
        _FEW_CONCENTRATIONS,
        "PNML-D",
    ),
)
_COMPARED_IN_THE_PAPER = (
    Method("br", "BR", BinaryRelevanceMLP, published_title="BR"),
    Method(
        "ml-knn",
        "ML-KNN",
        MLkNN,
        {"n_neighbors": NEIGHBOURS},
        {"n_neighbors": NEIGHBOURS},
        "ML-KNN",
        _neighbour_grid,
        ("n_neighbors",),
    ),
    Method(
        "mltsvm",
        "MLTSVM",
        MLTSVM,
        {"c": POWERS_OF_TWO, "norm_penalty": POWERS_OF_TWO},
        {"c": (2.0**-2, 1.0), "norm_penalty": (1.0, 16.0)},
        "MLTSVM",
    ),
    Method(
        "jfsc",
        "JFSC",
        # Its authors' code recommends a threshold that is tuned on the training rows.
        _with(JFSC, threshold="tune"),
        {
            "correlation_penalty": POWERS_OF_FOUR,
            "fisher_penalty": POWERS_OF_FOUR,
            "sparsity_penalty": POWERS_OF_FOUR,
            "start_ridge": (0.1, 1.0, 10.0),
        },
        {"fisher_penalty": (2.0**-4, 2.0**-2), "sparsity_penalty": (2.0**-6, 2.0**-2, 1.0)},
        "JFSC",
    ),
    Method(
        "camel",
        "CAMEL",
        CAMEL,
        {
            "collaboration": tuple(tenth / 10 for tenth in range(11)),
            "ridge": (0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 1.0),
        },
        {"collaboration": (0.0, 0.1, 0.5), "ridge": (0.01, 0.1, 1.0)},
        "CAMEL",
        _kernel_grid,
        ("collaboration", "fidelity", "ridge"),
    ),
    Method(
        "parabel",
        "Parabel",
        Parabel,
        {"loss_weight": (0.01, 0.1, 1.0)},
        {"loss_weight": (0.01, 0.1, 1.0)},
        "Parabel",
    ),
)
# They repeat artefacts of the published table, to show where its rows come from.
_AS_PUBLISHED = (
    Method(
        "br-as-published",
        "BR ranked by its decisions",
        _with(BinaryRelevanceMLP, published_hard_scores=True),
        published_title="BR",
    ),
    Method(
        "ml-knn-as-published",
        "ML-KNN with itself as neighbour, joint score",
        _with(MLkNN, published_self_neighbour=True, published_joint_score=True),
        {"n_neighbors": NEIGHBOURS},
        {"n_neighbors": NEIGHBOURS},
        "ML-KNN",
        _neighbour_grid,
        ("n_neighbors",),
    ),
)
_PEERS = (
    Method("random-forest", "Random forest", RandomForestPeer),
    Method("extra-trees", "Extra trees", ExtraTreesPeer),
    Method("classifier-chains", "Classifier chains", ClassifierChainEnsemble),
    Method("mlp", "MLP", MultilabelMLP),
    Method("logistic-regression", "Logistic regression", LogisticRegressionPeer),
    Method("xgboost", "XGBoost", XGBoostPeer),
    Method("boomer", "BOOMER", BoomerPeer),
)
METHODS: Mapping[str, Method] = {
    method.name: method for method in (*_PNML, *_COMPARED_IN_THE_PAPER, *_AS_PUBLISHED, *_PEERS)
}


def find_method(name: str) -> Method:
    """Look a method up by its name."""
    if name not in METHODS:
        raise ValueError(f"There is no method {name!r}; choose one of {', '.join(METHODS)}.")
    return METHODS[name]


def make_method(name: str, **params: Any) -> Any:
    """Build a method by its name.

    Parameters
    ----------
    name : str
        A key of :data:`METHODS`.
    **params
        Parameters of the estimator, in place of the method's own.

    Examples
    --------
    >>> make_method("pnml-d", random_state=0).metric
    'euclidean'
    """
    return find_method(name).build(**params)
