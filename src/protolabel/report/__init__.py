"""Reports as one HTML file each, without anything to load from elsewhere."""

from protolabel.report.run_report import run_report

__all__ = ["run_report"]
