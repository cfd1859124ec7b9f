"""Decision thresholds as pure functions on score matrices; one import for all rules."""

from protolabel.decision.tilted import DELTAS, GAMMAS, TiltedRule, log_prior_odds, tune_prior_tilted

__all__ = ["DELTAS", "GAMMAS", "TiltedRule", "log_prior_odds", "tune_prior_tilted"]
