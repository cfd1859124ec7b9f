"""Simple learners trained beside the prototype network, whose scores are pooled with its own.

Each gives scores of all labels and honest scores of its own training rows, so that learners can
be weighed, and thresholds chosen, without rows held out for it.
"""

# Rows that a companion, or one of its trees, learns from at the most.
MAX_ROWS = 10_000
