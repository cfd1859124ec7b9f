"""The page on a model that was just trained, from the rows that it did not see."""

from __future__ import annotations

from protolabel.report.model_report import model_report
from protolabel.workflows.model_calls import unnamed_rows
from protolabel.workflows.training import TrainingResult


def training_report(result: TrainingResult, *, title: str, data: str) -> str:
    """Describe a trained model on its held-out rows in one HTML page.

    Parameters
    ----------
    result : TrainingResult
        With held-out rows.
    title : str
        Head of the page.
    data : str
        Name of the data.

    Returns
    -------
    str
        The page.
    """
    with unnamed_rows():
        return model_report(
            result.model,
            result.X_test,
            result.Y_test,
            title=title,
            data_name=f"{data} that were held out",
        )
