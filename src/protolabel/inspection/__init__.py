"""Look into a fitted model: why it says what it says."""

from protolabel.inspection.explaining import explain
from protolabel.inspection.explanation import Explanation, LabelExplanation
from protolabel.inspection.text import explanation_text

__all__ = ["Explanation", "LabelExplanation", "explain", "explanation_text"]
