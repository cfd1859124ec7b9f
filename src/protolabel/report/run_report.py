"""The report of a benchmark run."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from protolabel.experiments.folder import RunFolder
from protolabel.report.costs import costs_section
from protolabel.report.names import arm_names
from protolabel.report.origins import origins_section
from protolabel.report.page import counted, render_page
from protolabel.report.rankings import rank_metrics, rankings_section
from protolabel.report.results import metric_table, metrics_of, results_section
from protolabel.report.summary import summary_section
from protolabel.report.tuning import tuning_section


def run_report(folder: str | PathLike[str]) -> str:
    """Describe a benchmark run in one HTML page.

    Parameters
    ----------
    folder : str or path
        Folder that ``protolabel benchmark run`` wrote; the run may still be going on.

    Returns
    -------
    str
        The page, with no part to be loaded from elsewhere.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> run_report(mkdtemp())
    Traceback (most recent call last):
        ...
    ValueError: ... holds no records; write some with `protolabel benchmark run`.
    """
    path = Path(folder)
    run = RunFolder(path)
    records = run.store.read()
    if not records:
        raise ValueError(f"{path} holds no records; write some with `protolabel benchmark run`.")
    names = arm_names(record.unit.arm for record in records)
    metrics = metrics_of(records)
    tables = [metric_table(records, names, metric) for metric in metrics]
    rankings = rank_metrics(records, names, metrics)
    sections = [
        summary_section(run, records, names, tables, rankings),
        results_section(tables, list(names.values())),
        rankings_section(rankings),
        costs_section(records, names),
        tuning_section(records, names),
        origins_section(records, names),
    ]
    n_datasets = len({record.unit.dataset for record in records})
    subtitle = (
        f"{counted(len(names), 'method')} on {counted(n_datasets, 'dataset')}, "
        f"{counted(len(records), 'record')}"
    )
    return render_page(f"Benchmark {path.resolve().name}", subtitle, sections)
