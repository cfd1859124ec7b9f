"""Section of a model: its prototypes among the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from protolabel.inspection.prototype_map import MappedPrototype, PrototypeMap
from protolabel.report.page import Section
from protolabel.report.svg import drawing, element, shorten, text

_WIDTH, _HEIGHT, _MARGIN = 720, 560, 14
_LONGEST_NAME = 60


@dataclass(frozen=True)
class MapContent:
    """The drawing and the labels to choose from."""

    drawing: Markup
    labels: Sequence[tuple[int, str]]
    n_rows: int
    n_shown: int
    n_labels: int
    member: int


def map_section(found: PrototypeMap, Y: Any, names: Sequence[str]) -> Section:
    """Draw rows as dots, positive prototypes as triangles and negative ones as squares."""
    present = Y.tocsr()
    dots = [
        _dot(int(row), place, present.indices[present.indptr[row] : present.indptr[row + 1]], names)
        for row, place in zip(found.rows, found.places, strict=True)
    ]
    marks = [_mark(prototype, names) for prototype in found.prototypes]
    picture = drawing(
        _WIDTH,
        _HEIGHT,
        "Map of prototypes and rows",
        element("g", dots, class_="dots"),
        element("g", marks, class_="marks"),
        element("g", _names_at_means(found, names), class_="names"),
        id="prototype-map",
        role="group",
        class_="drawing map",
    )
    content = MapContent(
        picture,
        [(label, names[label]) for label in found.labels],
        n_rows=Y.shape[0],
        n_shown=len(found.rows),
        n_labels=Y.shape[1],
        member=found.member,
    )
    return Section("map", "Prototypes", "map.html", content)


def _dot(row: int, place: np.ndarray, labels: np.ndarray, names: Sequence[str]) -> Markup:
    own = ", ".join(shorten(names[label], _LONGEST_NAME) for label in labels[:12]) or "no label"
    x, y = _at(place[0], place[1])
    return element(
        "circle",
        cx=x,
        cy=y,
        r=3,
        data_tip=f"row {row}\n{own}",
        data_labels=" ".join(str(label) for label in labels),
    )


def _mark(prototype: MappedPrototype, names: Sequence[str]) -> Markup:
    x, y = _at(prototype.x, prototype.y)
    name = shorten(names[prototype.label], _LONGEST_NAME)
    has = "with" if prototype.side == "positive" else "without"
    rows = ", ".join(str(row) for row in prototype.nearest_rows)
    tip = (
        f"{name}\n{prototype.side} prototype {prototype.number + 1} of {prototype.n_prototypes}\n"
        f"nearest of its side to {prototype.n_members} of {prototype.n_component} rows {has} the "
        f"label\nnearest rows: {rows}"
    )
    given = {
        "class_": prototype.side,
        "tabindex": 0,
        "role": "img",
        "aria_label": tip.replace("\n", ", "),
        "data_tip": tip,
        "data_labels": str(prototype.label),
    }
    if prototype.side == "positive":
        points = f"{x:.1f},{y - 7:.1f} {x + 6.5:.1f},{y + 5:.1f} {x - 6.5:.1f},{y + 5:.1f}"
        return element("polygon", points=points, **given)
    return element("rect", x=x - 4.5, y=y - 4.5, width=9, height=9, **given)


def _names_at_means(found: PrototypeMap, names: Sequence[str]) -> list[Markup]:
    """Name of each label at the mean of the prototypes of each of its sides."""
    sides: dict[tuple[int, str], list[MappedPrototype]] = {}
    for prototype in found.prototypes:
        sides.setdefault((prototype.label, prototype.side), []).append(prototype)
    texts = []
    for (label, side), group in sides.items():
        x, y = _at(float(np.mean([p.x for p in group])), float(np.mean([p.y for p in group])))
        sign = "+" if side == "positive" else "−"
        name = f"{shorten(names[label], 12)} {sign}"
        texts.append(text(x, y + 4, name, text_anchor="middle", class_=f"{side}-name"))
    return texts


def _at(x: float, y: float) -> tuple[float, float]:
    return (
        float(_MARGIN + x * (_WIDTH - 2 * _MARGIN)),
        float(_MARGIN + y * (_HEIGHT - 2 * _MARGIN)),
    )
