"""How good a prediction is: label sets, rankings, the top of rankings, probabilities."""

from protolabel.metrics.auc import macro_auc, micro_auc
from protolabel.metrics.bipartition import (
    EdgeCases,
    accuracy,
    count_edge_cases,
    example_f1,
    hamming_loss,
    macro_f1,
    micro_f1,
    subset_accuracy,
)
from protolabel.metrics.calibration import (
    ReliabilityCurve,
    expected_calibration_error,
    reliability_curve,
)
from protolabel.metrics.evaluation import StreamingEvaluation, evaluate
from protolabel.metrics.labels import LabelReport, label_report
from protolabel.metrics.ranking import average_precision, coverage, one_error, ranking_loss
from protolabel.metrics.registry import METRICS, Metric, evaluate_by_name, get_metric
from protolabel.metrics.scorers import MultilabelScorer, label_scores, make_scorer
from protolabel.metrics.top import (
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
)

__all__ = [
    "METRICS",
    "EdgeCases",
    "LabelReport",
    "Metric",
    "MultilabelScorer",
    "ReliabilityCurve",
    "StreamingEvaluation",
    "accuracy",
    "average_precision",
    "count_edge_cases",
    "coverage",
    "evaluate",
    "evaluate_by_name",
    "example_f1",
    "expected_calibration_error",
    "get_metric",
    "hamming_loss",
    "label_propensities",
    "label_report",
    "label_scores",
    "macro_auc",
    "macro_f1",
    "make_scorer",
    "micro_auc",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "ranking_loss",
    "reliability_curve",
    "subset_accuracy",
]
