"""Reports as one HTML file each, without anything to load from elsewhere."""

from protolabel.report.explanation_report import explanation_report
from protolabel.report.model_report import model_report
from protolabel.report.run_report import run_report

__all__ = ["explanation_report", "model_report", "run_report"]
