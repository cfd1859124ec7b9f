"""From scores to decisions: thresholds and calibrated probabilities."""
