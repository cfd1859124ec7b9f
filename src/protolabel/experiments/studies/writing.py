"""Write findings as CSV, Markdown and figures; each file appears only once it is whole."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from protolabel.datasets.writers.atomic import replace_when_done
from protolabel.experiments.figures.canvas import save_figure
from protolabel.experiments.studies.findings import Cell, DataTable, Drawing, Findings, Section

_ESCAPED = str.maketrans({"|": r"\|", "<": "&lt;", ">": "&gt;", "&": "&amp;", "`": r"\`"})


def write_findings(
    findings: Findings, folder: Path, *, name: str, title: str, figures: bool = True
) -> list[Path]:
    """Write all files of a study.

    Parameters
    ----------
    findings : Findings
        What was found.
    folder : Path
        Where to write; it has to exist.
    name : str
        Name of the page without ``.md``.
    title : str
        Title of the page.
    figures : bool, default=True
        Whether to draw.

    Returns
    -------
    list of Path
        The files.
    """
    written = [_write_text(folder / f"{t.name}.csv", csv_text(t)) for t in findings.tables]
    if figures:
        for section in findings.sections:
            for drawing in section.drawings:
                written += _write_drawing(folder, drawing)
    page = "\n\n".join(_page(findings, title, figures)) + "\n"
    return [*written, _write_text(folder / f"{name}.md", page)]


def csv_text(table: DataTable) -> str:
    r"""A table as CSV with Unix line ends.

    Examples
    --------
    >>> csv_text(DataTable("t", ("a", "b"), ((1, None), (0.25, "x,y"))))
    'a,b\n1,\n0.25,"x,y"\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([[_csv_cell(cell) for cell in row] for row in table.rows])
    return buffer.getvalue()


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A table as Markdown; what would end a cell or start markup is escaped.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [["x|y", "1"]]))
    | a | b |
    |---|---|
    | x\|y | 1 |
    """
    lines = [columns, ["---"] * len(columns), *rows]
    texts = ["| " + " | ".join(escape_cell(cell) for cell in line) + " |" for line in lines]
    texts[1] = "|" + "---|" * len(columns)
    return "\n".join(texts)


def escape_cell(text: str) -> str:
    """Make a text safe inside a cell of a Markdown table."""
    return " ".join(text.split()).translate(_ESCAPED)


def _csv_cell(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    text = str(cell)
    # A spreadsheet would run such a name as a formula.
    return f"'{text}" if isinstance(cell, str) and text.startswith(("=", "+", "@")) else text


def _page(findings: Findings, title: str, figures: bool) -> Iterator[str]:
    yield f"# {title}"
    if findings.facts:
        yield "\n".join(f"- {heading}: {text}" for heading, text in findings.facts)
    for section in findings.sections:
        yield from _section(section, figures)
    if findings.tables:
        names = ", ".join(f"`{table.name}.csv`" for table in findings.tables)
        yield f"In full precision: {names}."


def _section(section: Section, figures: bool) -> Iterator[str]:
    yield f"## {section.title}"
    if section.text:
        yield section.text
    if section.rows:
        yield markdown_table(section.columns, section.rows)
    for drawing in section.drawings if figures else ():
        suffix = "svg" if drawing.svg is not None else "png"
        yield f"![{escape_cell(drawing.caption)}]({drawing.name}.{suffix})"


def _write_drawing(folder: Path, drawing: Drawing) -> list[Path]:
    if drawing.svg is not None:
        return [_write_text(folder / f"{drawing.name}.svg", drawing.svg + "\n")]
    assert drawing.draw is not None
    return save_figure(drawing.draw, folder / drawing.name, drawing.size)


def _write_text(path: Path, text: str) -> Path:
    with replace_when_done(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")
    return path
