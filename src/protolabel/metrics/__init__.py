"""How good a prediction is: label sets, rankings, the top of rankings, probabilities."""

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
from protolabel.metrics.evaluation import StreamingEvaluation, evaluate
from protolabel.metrics.ranking import average_precision, coverage, one_error, ranking_loss

__all__ = [
    "EdgeCases",
    "StreamingEvaluation",
    "accuracy",
    "average_precision",
    "count_edge_cases",
    "coverage",
    "evaluate",
    "example_f1",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "one_error",
    "ranking_loss",
    "subset_accuracy",
]
