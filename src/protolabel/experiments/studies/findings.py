"""What a study found, before it is written: tables of data, sections of text, drawings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from protolabel.experiments.figures.canvas import Draw

Cell = str | int | float | None


@dataclass(frozen=True)
class DataTable:
    """A table in full precision, written as CSV.

    Parameters
    ----------
    name : str
        Name of the file without ``.csv``.
    columns : tuple of str
        Header.
    rows : tuple of tuple
        Cells; None is left empty.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Drawing:
    """A figure: what draws it by matplotlib, or a finished SVG.

    Parameters
    ----------
    name : str
        Name of the files without suffix.
    caption : str
        What it shows.
    draw : callable or None, default=None
        Called with an empty matplotlib figure.
    svg : str or None, default=None
        The drawing itself, where there is no ``draw``.
    size : pair of float, default=(6, 4)
        Inches.
    """

    name: str
    caption: str
    draw: Draw | None = None
    svg: str | None = None
    size: tuple[float, float] = (6.0, 4.0)


@dataclass(frozen=True)
class Section:
    """A part of the Markdown page: text, then a table, then drawings."""

    title: str
    text: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    drawings: tuple[Drawing, ...] = ()


@dataclass(frozen=True)
class Findings:
    """All of a study.

    Parameters
    ----------
    sections : tuple of Section
        The page.
    tables : tuple of DataTable
        The data files.
    facts : tuple of (str, str), default=()
        Lines of the list at the top of the page, as what was tuned.
    summary : mapping, default={}
        The few numbers that matter, for programs.
    """

    sections: tuple[Section, ...]
    tables: tuple[DataTable, ...]
    facts: tuple[tuple[str, str], ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
