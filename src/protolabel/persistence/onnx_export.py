"""PNML as one ONNX file: from raw features to probabilities."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from protolabel.classifier import PNMLClassifier
from protolabel.companions.forest import Forest
from protolabel.companions.prototype_forest import PrototypeForest
from protolabel.persistence.onnx_companions import forest_scores, fused_scores, kernel_scores
from protolabel.persistence.onnx_graph import IR_VERSION, OPSET, TREE_OPSET, GraphBuilder
from protolabel.persistence.onnx_network import network_scores
from protolabel.persistence.onnx_prototype_trees import prototype_forest_scores
from protolabel.preprocessing.features import FeatureScaler
from protolabel.preprocessing.table_columns import REACH, TableColumns
from protolabel.safefiles.folder import publish_file
from protolabel.version import __version__


def export_onnx(model: PNMLClassifier, path: str | PathLike[str], *, force: bool = False) -> None:
    """Write a fitted PNML model as an ONNX file.

    The file takes ``features``, raw and dense in single precision with any number of rows, and
    gives ``probabilities``, which are those of ``predict_proba``, and ``log_odds``. Scaling,
    all networks and their companions are included. What log-odds have to exceed is in the
    metadata as JSON, with label names and classes: ``thresholds``, ``handicaps`` and ``slope``
    of :class:`~protolabel.decision.decision_rule.DecisionRule`.

    Parameters
    ----------
    model : PNMLClassifier
        Fitted.
    path : str or path
        File to create.
    force : bool, default=False
        Replace an existing file.

    Raises
    ------
    ImportError
        The optional package ``onnx`` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from protolabel import PNMLClassifier
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> model = PNMLClassifier(random_state=0).fit(X, [{"low"}] * 20 + [{"high"}] * 20)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     export_onnx(model, home + "/tags.onnx")
    """
    if not isinstance(model, PNMLClassifier):
        raise TypeError(
            f"A {type(model).__name__} cannot be exported to ONNX; expected a PNMLClassifier."
        )
    check_is_fitted(model)
    onnx = _import_onnx()
    graph = GraphBuilder(onnx)
    n_rows = graph.apply("Shape", "features", start=0, end=1)
    scores = _scores(graph, _at_least_one_row(graph, "features", n_rows), model)
    scores = graph.first_rows(scores, n_rows)
    graph.name(graph.cast(scores, np.float32), "log_odds")
    graph.name(graph.cast(_probabilities(graph, scores, model), np.float32), "probabilities")
    proto = _model_proto(onnx, graph, model)
    onnx.checker.check_model(proto, full_check=True)
    publish_file(Path(path), proto.SerializeToString(), force=force)


def _import_onnx() -> Any:
    try:
        import onnx  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "Export to ONNX needs the package onnx, which is not installed; install "
            "protolabel with the extra 'onnx': pip install 'protolabel[onnx]'."
        ) from error
    return onnx


def _at_least_one_row(graph: GraphBuilder, features: str, n_rows: str) -> str:
    """A row of zeros where there is none: onnxruntime leaves the axes of empty sums as they are."""
    zero, one = (graph.constant(np.array([size], dtype=np.int64)) for size in (0, 1))
    n_more = graph.apply("Max", graph.apply("Sub", one, n_rows), zero)
    return graph.apply("Pad", features, graph.apply("Concat", zero, zero, n_more, zero, axis=0))


def _scores(graph: GraphBuilder, features: str, model: PNMLClassifier) -> str:
    fitted = model.model_
    scaled = _scaled(graph, graph.cast(features, np.float64), fitted.scaler)
    # The network and the trees see single precision in the library, too.
    rows = graph.cast(scaled, np.float32)
    scores = [network_scores(graph, rows, fitted.network)]
    for companion in fitted.companions:
        if isinstance(companion, Forest):
            scores.append(forest_scores(graph, rows, companion))
        elif isinstance(companion, PrototypeForest):
            scores.append(prototype_forest_scores(graph, scaled, companion))
        else:
            scores.append(kernel_scores(graph, scaled, companion))
    if fitted.fusion is None:
        return scores[0]
    return fused_scores(graph, scores, fitted.fusion, fitted.network.n_added)


def _scaled(graph: GraphBuilder, features: str, scaler: FeatureScaler) -> str:
    if scaler.scaling_ == "none":
        return features
    columns = features if scaler.columns_ is None else _even(graph, features, scaler.columns_)
    centred = graph.apply("Sub", columns, graph.constant(scaler.offset_))
    scaled = graph.apply("Mul", centred, graph.constant(scaler.weight_))
    if scaler.is_by_column:
        return scaled
    squares = graph.reduce("ReduceSum", graph.apply("Mul", scaled, scaled), 1)
    norms = graph.apply("Sqrt", squares)
    positive = graph.apply("Greater", norms, graph.constant(np.float64(0)))
    divisors = graph.apply("Where", positive, norms, graph.constant(np.float64(1)))
    factors = graph.apply("Div", graph.constant(np.float64(scaler.row_norm)), divisors)
    return graph.apply("Mul", scaled, factors)


def _even(graph: GraphBuilder, features: str, columns: TableColumns) -> str:
    distance = graph.apply("Sub", features, graph.constant(columns.middle))
    spreads = graph.apply("Div", distance, graph.constant(columns.spread))
    shares = graph.apply("Div", spreads, graph.constant(np.float64(REACH)))
    squares = graph.apply("Mul", shares, shares)
    lengths = graph.apply("Sqrt", graph.apply("Add", squares, graph.constant(np.float64(1))))
    even = graph.apply("Div", spreads, lengths)
    if not len(columns.code):
        return even
    coded = graph.apply("Gather", features, graph.constant(columns.code_feature), axis=1)
    # The file takes single precision, in which a code is the number nearest to it.
    codes = columns.code.astype(np.float32).astype(np.float64)
    indicators = graph.apply("Equal", coded, graph.constant(codes))
    return graph.apply("Concat", even, graph.cast(indicators, np.float64), axis=1)


def _probabilities(graph: GraphBuilder, scores: str, model: PNMLClassifier) -> str:
    if model._kind == "multiclass":
        return graph.apply("Softmax", scores, axis=1)
    positive = graph.apply("Sigmoid", scores)
    if model._kind == "multilabel":
        return positive
    one = graph.constant(np.float64(1))
    negative = graph.apply("Sub", one, positive)
    if len(model.classes_) == 1:
        return graph.apply("Add", negative, positive)
    return graph.apply("Concat", negative, positive, axis=1)


def _model_proto(onnx: Any, graph: GraphBuilder, model: PNMLClassifier) -> Any:
    helper, single = onnx.helper, onnx.TensorProto.FLOAT
    n_labels = len(model.label_names_)
    n_columns = n_labels if model._kind == "multilabel" else len(model.classes_)
    outputs = [
        helper.make_tensor_value_info("probabilities", single, ["batch", n_columns]),
        helper.make_tensor_value_info("log_odds", single, ["batch", n_labels]),
    ]
    features = helper.make_tensor_value_info("features", single, ["batch", model.n_features_in_])
    proto = helper.make_model(
        helper.make_graph(graph.nodes, "protolabel", [features], outputs, graph.constants),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", TREE_OPSET),
        ],
        ir_version=IR_VERSION,
        producer_name="protolabel",
        producer_version=__version__,
    )
    helper.set_model_props(proto, _metadata(model))
    return proto


def _metadata(model: PNMLClassifier) -> dict[str, str]:
    names = getattr(model, "feature_names_in_", None)
    entries = {
        "target_kind": model._kind,
        "label_names": model.label_names_.tolist(),
        "classes": model.classes_.tolist(),
        "thresholds": model.decision_.thresholds.tolist(),
        "handicaps": model.decision_.handicaps.tolist(),
        "slope": model.decision_.slope,
        "at_least_one": bool(model.at_least_one),
        "feature_names": None if names is None else names.tolist(),
    }
    return {name: json.dumps(value, default=str) for name, value in entries.items()}
