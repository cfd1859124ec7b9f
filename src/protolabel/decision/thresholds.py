"""Decision thresholds as pure functions on score matrices; one import for all rules."""

from protolabel.decision.decision_rule import DecisionRule, apply_thresholds
from protolabel.decision.per_label import tune_per_label
from protolabel.decision.rowwise import HANDICAPS, ROW_DELTAS, ROW_GAMMAS, RowwiseRule, tune_rowwise
from protolabel.decision.rules import ThresholdRule, match_cardinality, tune_global
from protolabel.decision.tilted import DELTAS, GAMMAS, TiltedRule, log_prior_odds, tune_prior_tilted

__all__ = [
    "DELTAS",
    "GAMMAS",
    "HANDICAPS",
    "ROW_DELTAS",
    "ROW_GAMMAS",
    "DecisionRule",
    "RowwiseRule",
    "ThresholdRule",
    "TiltedRule",
    "apply_thresholds",
    "log_prior_odds",
    "match_cardinality",
    "tune_global",
    "tune_per_label",
    "tune_prior_tilted",
    "tune_rowwise",
]
