"""Section of a model: dependency of labels in the data beside that between prototypes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from protolabel.inspection.dependency import rank_correlation
from protolabel.report.page import Section, signed
from protolabel.report.svg import drawing, element, line, shorten, text

_SIZE, _NAMES, _GRAPH = 420, 120, 460
_MAX_LABELS = 30
_N_PAIRS = 15


@dataclass(frozen=True)
class Pair:
    """Two labels with their dependency in the data and between their prototypes."""

    first: str
    second: str
    in_data: float
    learned: float


@dataclass(frozen=True)
class Dependency:
    """Drawings of both matrices, and how well they agree."""

    heat_maps: Sequence[tuple[str, Markup]]
    graphs: Sequence[tuple[str, Markup]]
    pairs: Sequence[Pair]
    rank_correlation: float
    n_compared: int
    n_shown: int


def dependency_section(
    in_data: np.ndarray, learned: np.ndarray, counts: np.ndarray, names: Sequence[str]
) -> Section:
    """Compare two matrices over pairs of labels.

    Parameters
    ----------
    in_data, learned : ndarray of shape (n_labels, n_labels)
        Correlation of labels and similarity of prototypes; NaN where unknown.
    counts : ndarray of shape (n_labels,)
        Positives; the most frequent labels are drawn.
    names : sequence of str
    """
    known = np.flatnonzero(~np.isnan(np.diag(in_data)) & ~np.isnan(np.diag(learned)))
    shown = known[np.argsort(-counts[known], kind="stable")][:_MAX_LABELS]
    shown = shown[_similar_together(in_data[np.ix_(shown, shown)])]
    short = [shorten(names[label], 40) for label in shown]
    heat_maps, graphs = [], []
    for title, matrix in (("In the data", in_data), ("Between prototypes", learned)):
        part = matrix[np.ix_(shown, shown)]
        # Colours span what occurs: cosines of prototypes are often much larger than correlations.
        off = np.abs(part[~np.eye(len(part), dtype=bool)])
        largest = float(off.max()) if len(off) else 1.0
        heat_maps.append((title, _heat_map(part, short, largest or 1.0, title)))
        graphs.append((title, _graph(part, short, largest or 1.0, title)))
    content = Dependency(
        heat_maps,
        graphs,
        _strongest_pairs(in_data, learned, known, names),
        rank_correlation(in_data, learned),
        n_compared=len(known),
        n_shown=len(shown),
    )
    return Section("dependency", "Label dependency", "dependency.html", content)


def _similar_together(matrix: np.ndarray) -> np.ndarray:
    """An order in which correlated labels are neighbours."""
    if len(matrix) < 3:
        return np.arange(len(matrix))
    distances = 1 - matrix
    np.fill_diagonal(distances, 0)
    return np.asarray(leaves_list(linkage(squareform(distances, checks=False), "average")))


def _heat_map(matrix: np.ndarray, names: Sequence[str], largest: float, title: str) -> Markup:
    cell = (_SIZE - _NAMES) / max(len(names), 1)
    parts = []
    for i, name in enumerate(names):
        y = cell * i
        parts.append(text(_NAMES - 6, y + cell / 2 + 4, shorten(name, 16), text_anchor="end"))
        for j in range(i):
            value = float(matrix[i, j])
            parts.append(
                element(
                    "rect",
                    x=_NAMES + cell * j,
                    y=y,
                    width=cell - 1,
                    height=cell - 1,
                    class_="positive" if value >= 0 else "negative",
                    fill_opacity=f"{min(abs(value) / largest, 1):.2f}",
                    data_tip=f"{name}\n{names[j]}\n{signed(value)}",
                )
            )
    return drawing(_SIZE, _SIZE - _NAMES, f"{title}: heat map", *parts)


def _graph(matrix: np.ndarray, names: Sequence[str], largest: float, title: str) -> Markup:
    n_labels = len(names)
    centre, radius = _GRAPH / 2, _GRAPH / 2 - 78
    angles = [2 * math.pi * number / max(n_labels, 1) - math.pi / 2 for number in range(n_labels)]
    places = [(centre + radius * math.cos(a), centre + radius * math.sin(a)) for a in angles]
    rows, columns = np.triu_indices(n_labels, k=1)
    order = np.argsort(-np.abs(matrix[rows, columns]), kind="stable")[: round(1.5 * n_labels)]
    edges = [
        line(
            *places[rows[edge]],
            *places[columns[edge]],
            class_="edge " + ("up" if matrix[rows[edge], columns[edge]] >= 0 else "down"),
            stroke_width=0.5 + 4 * abs(float(matrix[rows[edge], columns[edge]])) / largest,
            data_tip=f"{names[rows[edge]]}\n{names[columns[edge]]}\n"
            f"{signed(float(matrix[rows[edge], columns[edge]]))}",
        )
        for edge in order
    ]
    nodes = [_node(number, matrix, names, places, angles[number]) for number in range(n_labels)]
    return drawing(_GRAPH, _GRAPH, f"{title}: graph", *edges, *nodes, role="group")


def _node(
    number: int,
    matrix: np.ndarray,
    names: Sequence[str],
    places: Sequence[tuple[float, float]],
    angle: float,
) -> Markup:
    x, y = places[number]
    others = [other for other in np.argsort(-np.abs(matrix[number])) if other != number][:3]
    nearest = "\n".join(f"{signed(float(matrix[number, o]))}  {names[o]}" for o in others)
    side = math.cos(angle)
    anchor = "middle" if abs(side) < 0.25 else ("start" if side > 0 else "end")
    return element(
        "g",
        element("circle", cx=x, cy=y, r=5),
        text(
            x + 10 * side,
            y + 12 * math.sin(angle) + 4,
            shorten(names[number], 11),
            text_anchor=anchor,
        ),
        class_="node",
        tabindex=0,
        role="img",
        data_tip=f"{names[number]}\n{nearest}",
        aria_label=f"{names[number]}: {nearest}".replace("\n", ", "),
    )


def _strongest_pairs(
    in_data: np.ndarray, learned: np.ndarray, known: np.ndarray, names: Sequence[str]
) -> list[Pair]:
    rows, columns = np.triu_indices(len(known), k=1)
    first, second = known[rows], known[columns]
    order = np.argsort(-np.abs(in_data[first, second]), kind="stable")[:_N_PAIRS]
    return [
        Pair(names[i], names[j], float(in_data[i, j]), float(learned[i, j]))
        for i, j in zip(first[order], second[order], strict=True)
    ]
