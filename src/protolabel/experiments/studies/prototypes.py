"""A map of the learned prototypes, numbered as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE

from protolabel.experiments.figures.scatter import draw_map
from protolabel.experiments.resources import one_thread
from protolabel.experiments.studies.findings import Cell, DataTable, Drawing, Findings, Section
from protolabel.experiments.studies.fitted import FittedPrototypes
from protolabel.experiments.studies.fitted_study import FittedStudy, fit_facts
from protolabel.experiments.tables import arm_title

_PERPLEXITY = 30.0


@dataclass(frozen=True)
class PrototypeMap:
    """Places in the plane.

    Parameters
    ----------
    points : ndarray of shape (n_prototypes, 2)
        Of the prototypes.
    means : dict of int to ndarray of shape (2,)
        Of the mean of each component, by the paper's number.
    """

    points: NDArray[np.float64]
    means: dict[int, NDArray[np.float64]]


class Prototypes(FittedStudy):
    """The figure of prototypes in the supplement."""

    name = "prototypes"
    title = "Map of the learned prototypes"

    def describe(self, fits: Sequence[FittedPrototypes]) -> Findings:
        """One map for each fit."""
        sections, rows, numbers = [], [], {}
        for fit in fits:
            placed = place_prototypes(fit)
            measures = measure_components(fit)
            sections.append(_section(fit, placed, measures))
            rows += _rows(fit, placed)
            numbers[f"{fit.dataset} {fit.arm.label}"] = measures
        columns = ("dataset", "method", "number", "label", "label_name", "component", "kind")
        return Findings(
            tuple(sections),
            (DataTable("prototypes", (*columns, "x", "y"), tuple(rows)),),
            (
                *fit_facts(fits),
                (
                    "paper",
                    "a figure without numbers, PNML-multiple on *arts*: negative prototypes stay "
                    "together, positive ones are pushed away from them. A map by t-SNE has no "
                    "scale and no orientation, so only such statements can be compared",
                ),
            ),
            numbers,
        )


def place_prototypes(fit: FittedPrototypes) -> PrototypeMap:
    """Place prototypes and component means in the plane by t-SNE.

    Parameters
    ----------
    fit : FittedPrototypes
        At least four prototypes.

    Returns
    -------
    PrototypeMap
        A component with a single prototype has its mean there.
    """
    several = [group for group in np.unique(fit.groups) if (fit.groups == group).sum() > 1]
    means = [fit.positions[fit.groups == group].mean(axis=0) for group in several]
    stacked = np.vstack([fit.positions, *means])
    if len(stacked) < 4:
        raise ValueError(f"{fit.dataset} has {len(stacked)} prototypes; a map needs at least 4.")
    perplexity = min(_PERPLEXITY, (len(stacked) - 1) / 3)
    tsne = TSNE(perplexity=perplexity, init="pca", learning_rate="auto", random_state=fit.seed)
    with one_thread():
        placed = tsne.fit_transform(stacked).astype(np.float64)
    points = placed[: len(fit.positions)]
    places = {
        int(group): points[fit.groups == group].mean(axis=0) for group in np.unique(fit.groups)
    }
    places |= {
        int(group): place
        for group, place in zip(several, placed[len(fit.positions) :], strict=True)
    }
    return PrototypeMap(points, places)


def measure_components(fit: FittedPrototypes) -> dict[str, float]:
    """Measure in the embedding itself what the map is said to show.

    Parameters
    ----------
    fit : FittedPrototypes
        The prototypes.

    Returns
    -------
    dict of str to float
        Counts of prototypes, and mean distances between component means.
    """
    positive, negative = fit.means(positive=True), fit.means(positive=False)
    own = np.linalg.norm(positive - negative, axis=1)
    is_positive = fit.groups % 2 == 0
    return {
        "n_positive_prototypes": float(is_positive.sum()),
        "n_negative_prototypes": float((~is_positive).sum()),
        "distance_between_positives": _mean_distance(positive),
        "distance_between_negatives": _mean_distance(negative),
        "distance_to_own_negative": float(np.nanmean(own)) if np.isfinite(own).any() else np.nan,
    }


def _mean_distance(points: NDArray[np.float64]) -> float:
    known = points[np.isfinite(points).all(axis=1)]
    if len(known) < 2:
        return float("nan")
    gaps = np.linalg.norm(known[:, None] - known, axis=2)
    return float(gaps[np.triu_indices(len(known), 1)].mean())


def _rows(fit: FittedPrototypes, placed: PrototypeMap) -> list[tuple[Cell, ...]]:
    kinds = [
        (int(group), "prototype", place)
        for group, place in zip(fit.groups, placed.points, strict=True)
    ]
    kinds += [(group, "mean", place) for group, place in placed.means.items()]
    return [
        (
            fit.dataset,
            fit.arm.label,
            group,
            group // 2,
            fit.label_names[group // 2],
            "negative" if group % 2 else "positive",
            kind,
            float(place[0]),
            float(place[1]),
        )
        for group, kind, place in kinds
    ]


def _section(fit: FittedPrototypes, placed: PrototypeMap, measures: dict[str, float]) -> Section:
    name = f"prototypes-{fit.dataset}-{fit.arm.method}".replace(":", "-")
    title = f"{arm_title(fit.arm)} on {fit.dataset}"
    numbers = {group: (float(x), float(y)) for group, (x, y) in placed.means.items()}
    between = measures["distance_between_positives"]
    rows = [
        ("positive prototypes", f"{measures['n_positive_prototypes']:.0f}", ""),
        ("negative prototypes", f"{measures['n_negative_prototypes']:.0f}", ""),
    ]
    for key in (
        "distance_between_positives",
        "distance_between_negatives",
        "distance_to_own_negative",
    ):
        text = {
            "distance_between_positives": "mean distance between positive means",
            "distance_between_negatives": "mean distance between negative means",
            "distance_to_own_negative": "mean distance of a positive mean to its negative mean",
        }[key]
        rows.append((text, f"{measures[key]:.4g}", f"{measures[key] / between:.2f}"))
    return Section(
        title,
        "Each point is a prototype, each colour a label. The number 2k stands at the mean of the "
        "positive prototypes of label k, 2k + 1 at that of its negative ones; means were placed "
        "together with the prototypes. The table has the distances in the embedding itself; the "
        "share is of the distance between positive means.",
        ("measure", "value", "share"),
        tuple(rows),
        (
            Drawing(
                name,
                f"t-SNE of the prototypes of {title}",
                draw_map(placed.points, fit.groups, numbers, title),
                size=(7.5, 6.5),
            ),
        ),
    )
